// Copies of this library as a program with several installations has them: the same files in folders of their own.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface Copy {
  readonly name: string;
  readonly door: typeof import('../../src/index.ts');
  readonly ring: typeof import('../../src/ring/index.ts');
  readonly sab: typeof import('../../src/compat/sab-message-port.ts');
  readonly shared: typeof import('../../src/compat/nxtedition-shared.ts');
}
export type Copies = readonly Copy[];

interface Made {
  /** Of one version. */
  readonly first: Copy;
  readonly second: Copy;
  /** Of a version whose layout has the next number. */
  readonly other: Copy;
  /** The front doors, in this order. */
  readonly urls: readonly string[];
  /** The doors `compat/sab-message-port`. */
  readonly sabUrls: readonly string[];
  remove(): void;
}

const built = fileURLToPath(new URL('../../lib/', import.meta.url));
const names = ['first', 'second', 'other'];
const VERSION = /\bLAYOUT_VERSION = (\d+)/;

export async function makeCopies(): Promise<Made> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-copies-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const name of names) {
    cpSync(built, join(folder, name), { recursive: true });
  }
  let changed = 0;
  for (const path of readdirSync(join(folder, 'other'), { recursive: true }) as string[]) {
    if (!path.endsWith('.js')) continue;
    const file = join(folder, 'other', path);
    const text = readFileSync(file, 'utf8');
    if (!VERSION.test(text)) continue;
    writeFileSync(
      file,
      text.replace(VERSION, (_, version) => `LAYOUT_VERSION = ${Number(version) + 1}`),
    );
    changed++;
  }
  // What two doors share, and the two that share nothing.
  if (changed !== 3) throw new Error(`LAYOUT_VERSION is defined in ${changed} files, not in three`);
  const urlOf = (name: string, file: string): string => pathToFileURL(join(folder, name, file)).href;
  const open = async (name: string): Promise<Copy> => ({
    name,
    door: await import(urlOf(name, 'index.js')),
    ring: await import(urlOf(name, 'ring.js')),
    sab: await import(urlOf(name, 'sab-message-port.js')),
    shared: await import(urlOf(name, 'nxtedition-shared.js')),
  });
  return {
    first: await open('first'),
    second: await open('second'),
    other: await open('other'),
    urls: names.map((name) => urlOf(name, 'index.js')),
    sabUrls: names.map((name) => urlOf(name, 'sab-message-port.js')),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
