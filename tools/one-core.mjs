// What the doors share, in one file. esbuild makes a chunk for each set of doors that share something, and a worker takes most of a millisecond for each
// file that it loads; `dist/lib/core.js` has what any two of them do.
import { basename, dirname, join } from 'node:path';
import { parse } from 'acorn';
import { build } from 'esbuild';

const parsed = (text) => parse(text, { ecmaVersion: 'latest', sourceType: 'module' }).body;
const exportedBy = (text) =>
  parsed(text)
    .filter(({ type }) => type === 'ExportNamedDeclaration')
    .flatMap(({ specifiers }) => specifiers.map(({ exported }) => exported.name));

/**
 * @param files path and text of each file of a bundle
 * @param entries the paths of its doors; the others are chunks
 * @param options esbuild's, as the bundle was made with
 * @returns the doors, and one chunk
 */
export async function oneCore(files, entries, options) {
  const chunks = files.filter(({ path }) => !entries.includes(path));
  const names = chunks.map(({ path, text }) => ({ path, exports: exportedBy(text) }));
  /** Two chunks may call different things the same. */
  const name = (path, export_) => {
    const i = names.findIndex((it) => it.path === path);
    return names.slice(0, i).some(({ exports: before }) => before.includes(export_)) ? `${export_}_${i}` : export_;
  };
  const all = names.map(({ path, exports: own }) => {
    const list = own.map((export_) => `${export_} as ${name(path, export_)}`);
    return `export { ${list.join(', ')} } from './${basename(path)}';`;
  });
  const path = join(dirname(files[0].path), 'core.js');
  const { outputFiles } = await build({
    ...options,
    stdin: { contents: all.join('\n'), resolveDir: dirname(path) },
    outdir: undefined,
    outfile: path,
    plugins: [inMemory(chunks)],
  });
  const led = entries.map((entry) => {
    const { text } = files.find((file) => file.path === entry);
    return { path: entry, text: ledToCore(text, chunks, name) };
  });
  return [...led, { path, text: outputFiles[0].text }];
}

function inMemory(chunks) {
  const chunkAt = (path) => chunks.find((chunk) => basename(chunk.path) === basename(path));
  return {
    name: 'in-memory',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\// }, ({ path }) => ({ path: chunkAt(path).path, namespace: 'chunk' }));
      onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path }) => ({
        contents: chunkAt(path).text,
        resolveDir: dirname(path),
      }));
    },
  };
}

/** The same lines, of which those that import from a chunk import from the core. */
function ledToCore(text, chunks, name) {
  const imports = parsed(text).filter(
    ({ type, source }) => type === 'ImportDeclaration' && source.value.startsWith('./'),
  );
  let done = text;
  for (const { start, end, source, specifiers } of imports.reverse()) {
    const { path } = chunks.find((chunk) => basename(chunk.path) === basename(source.value));
    const list = specifiers.map(({ imported, local }) => `${name(path, imported.name)} as ${local.name}`);
    const lines = text.slice(start, end).split('\n').length - 1;
    done = `${done.slice(0, start)}import { ${list.join(', ')} } from "./core.js";${'\n'.repeat(lines)}${done.slice(end)}`;
  }
  return done;
}
