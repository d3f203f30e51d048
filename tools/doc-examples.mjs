// Takes the examples out of the documents, for test/doc-examples.test.ts to run: every fenced `ts` or `js` block in a
// doc comment under src/, and the blocks of README.md and docs/ whose fence says `ts run` or `js run`. Each becomes
// dist/doc-examples/<where>.js with its imports of millrace led to the door's file in dist/lib. A block whose fence says `js file=worker.js` is
// written down for the others of its document, which may name it as './worker.js'. A fragment that can't run by itself
// gets a fence without a language (doc comments) or without `run` (documents). What a document shows for browsers, its `html file=page.html` among it,
// is built and opened by test/browser/bundles.mjs.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The blocks of one file as `{ line, code }`, with a `file` where the block is one that others name. */
export function blocksOf(path, text) {
  const source = path.endsWith('.ts');
  const fence = source
    ? /^ *\* ```(?:ts|js)\n([\s\S]*?)^ *\* ```$/gm
    : /^```(?:ts|js|html) (?:run|file=([\w.-]+))\n([\s\S]*?)^```$/gm;
  return [...text.matchAll(fence)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length + 1,
    ...(source ? { code: match[1].replace(/^ *\* ?/gm, '') } : { code: match[2] }),
    ...(!source && match[1] !== undefined && { file: match[1] }),
  }));
}

/** The files that the document at `path` shows, as `{ [name]: text }`. */
export function filesOf(path) {
  const blocks = blocksOf(path, readFileSync(join(root, path), 'utf8'));
  return Object.fromEntries(blocks.flatMap(({ file, code }) => (file === undefined ? [] : [[file, code]])));
}

/** `code` with its imports of `millrace/ring` and the like led from dist/doc-examples/ to what package.json says they are. */
export function withDoors(code, doors, up = '../') {
  return code.replace(/(\bfrom\s*|\bimport\s*\(?\s*)(['"])millrace((?:\/[\w./-]+)?)\2/g, (_, before, quote, door) => {
    const target = doors[`.${door}`]?.default;
    if (target === undefined) throw new Error(`millrace${door} is no door of the package`);
    return `${before}${quote}${target.replace('./dist/', up)}${quote}`;
  });
}

function* sources() {
  const below = (folder, end) =>
    existsSync(join(root, folder))
      ? readdirSync(join(root, folder), { recursive: true })
          .map((path) => `${folder}/${path}`.replaceAll('\\', '/'))
          .filter((path) => path.endsWith(end) && !path.endsWith('.test.ts'))
      : [];
  if (existsSync(join(root, 'README.md'))) yield 'README.md';
  yield* below('docs', '.md');
  yield* below('src', '.ts');
}

export async function extract() {
  const { transformSync } = await import('esbuild');
  const folder = join(root, 'dist/doc-examples');
  const doors = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const path of sources()) {
    const blocks = blocksOf(path, readFileSync(join(root, path), 'utf8')).filter(
      ({ file }) => !file?.endsWith('.html'),
    );
    const home = path.replace(/\.\w+$/, '').replaceAll('/', '.');
    const named = blocks.flatMap(({ file }) => file ?? []);
    if (named.length > 0) mkdirSync(join(folder, home));
    for (const { line, code, file } of blocks) {
      const name = file === undefined ? `${home}.${line}.js` : `${home}/${file}`;
      const led =
        file === undefined
          ? named.reduce((text, one) => text.replaceAll(`'./${one}'`, `'./${home}/${one}'`), code)
          : code;
      try {
        const { code: script } = transformSync(withDoors(led, doors, file === undefined ? '../' : '../../'), {
          loader: 'ts',
          format: 'esm',
          target: 'es2022',
        });
        writeFileSync(join(folder, name), `// ${path}:${line}\n${script}`);
      } catch (error) {
        throw new Error(`The example at ${path}:${line} does not compile: ${error.message}`);
      }
    }
  }
}
