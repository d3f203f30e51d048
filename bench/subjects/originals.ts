// The seeds' packages. Their source is not ours to ship: the user names a path to the original, else a stand-in built
// from the published description takes the seat, and every table says so.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Missing } from '../subject.ts';

/** The URL of the original, or of what sits in its seat. */
export function originalUrl(path: string | undefined, standIn: string): string {
  return path ? pathToFileURL(resolve(path)).href : new URL(`./stand-ins/${standIn}.js`, import.meta.url).href;
}

export async function loadOriginal<T>(path: string | undefined, standIn: string): Promise<T> {
  return (await import(originalUrl(path, standIn))) as T;
}

export function missingOriginal(path: string | undefined, standIn: string, option: string): Missing | undefined {
  if (path) return existsSync(resolve(path)) ? undefined : { reason: `there is no file ${path}` };
  if (existsSync(fileURLToPath(new URL(`./stand-ins/${standIn}.js`, import.meta.url)))) return undefined;
  return {
    reason: 'neither the original nor a stand-in is here',
    remedy: `millrace bench ${option} PATH/TO/ITS/MAIN/FILE`,
  };
}
