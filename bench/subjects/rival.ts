// Finding the contenders' packages: in a clone bench/node_modules; beside our own package otherwise, or where the user stands.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installCommand, rivalFolders } from '../home.ts';
import type { Missing } from '../subject.ts';

/** Versions of the packages that were loaded, for the results file. */
export const versions: Record<string, string> = {};

/** The URL of `file` in package `name`, or undefined. */
export function rivalUrl(name: string, file: string): string | undefined {
  for (const folder of rivalFolders()) {
    const home = join(folder, name);
    if (!existsSync(join(home, file))) continue;
    versions[name] = (JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string }).version;
    return pathToFileURL(join(home, file)).href;
  }
  return undefined;
}

export async function loadRival<T>(name: string, file: string): Promise<T> {
  const url = rivalUrl(name, file);
  if (!url) throw new Error(`${name} is not installed`);
  return (await import(url)) as T;
}

export function missingRival(name: string, file: string): Missing | undefined {
  if (rivalUrl(name, file)) return undefined;
  return { reason: `the package ${name} is not installed`, remedy: installCommand(name) };
}
