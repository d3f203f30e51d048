// Copies of this library as a program with several installations has them: the same files in folders of their own.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';

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
const LAYOUT = fileURLToPath(new URL('../../../src/memory/layout.ts', import.meta.url));
const names = ['first', 'second', 'other'];

/** The bundler of the doors, with what the layout's module is changed to. */
async function bundleChanged(outdir: string, change: (source: string) => string): Promise<void> {
  const tool = new URL('../../../tools/bundle.mjs', import.meta.url).href;
  const { bundleDoors, node } = (await import(tool)) as {
    bundleDoors(outdir: string, options: BuildOptions): Promise<void>;
    node: BuildOptions;
  };
  const changed: Plugin = {
    name: 'changed-layout',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]memory[\\/]layout\.ts$/ }, () => ({
        contents: change(readFileSync(LAYOUT, 'utf8')),
        loader: 'ts',
      }));
    },
  };
  await bundleDoors(outdir, { ...node, plugins: [...(node.plugins ?? []), changed] });
}

export async function makeCopies(): Promise<Made> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-copies-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const name of ['first', 'second']) cpSync(built, join(folder, name), { recursive: true });
  await bundleChanged(join(folder, 'other'), (source) => {
    const next = source.replace(
      /\bLAYOUT_VERSION = (\d+);/,
      (_, version) => `LAYOUT_VERSION = ${Number(version) + 1};`,
    );
    if (next === source) throw new Error('LAYOUT_VERSION is not where it was');
    return next;
  });
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
