// What the doors share, in one file. esbuild makes a chunk for each set of doors that share something, and a worker takes most of a millisecond for each
// file that it loads; `dist/lib/core.js` has what any two of them do, but for what only doors of one kind have in common: what those to calls do is in `calls.js`,
// which nobody loads who makes no calls, and what those to processes and networks do in `links.js`.
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
 * @param kinds the doors' paths of each kind that has a chunk of its own, by the name of its file
 * @returns the doors, and a chunk or two
 */
export async function oneCore(files, entries, options, kinds = {}) {
  const folder = dirname(files[0].path);
  const chunks = files
    .filter(({ path }) => !entries.includes(path))
    .map(({ path, text }) => {
      const doors = entries.filter((entry) => reached(entry, files).has(path));
      const [kind] = Object.entries(kinds).find(([, own]) => doors.every((door) => own.includes(door))) ?? ['core.js'];
      const shared = join(folder, kind);
      return { path, text, exports: exportedBy(text), shared };
    });
  /** Two chunks may call different things the same. */
  const name = (path, export_) => {
    const i = chunks.findIndex((it) => it.path === path);
    return chunks.slice(0, i).some(({ exports: before }) => before.includes(export_)) ? `${export_}_${i}` : export_;
  };
  const made = [];
  for (const path of new Set(chunks.map(({ shared }) => shared))) {
    const own = chunks.filter(({ shared }) => shared === path);
    const others = chunks.filter(({ shared }) => shared !== path);
    const all = own.map((chunk) => {
      const list = chunk.exports.map((export_) => `${export_} as ${name(chunk.path, export_)}`);
      return `export { ${list.join(', ')} } from './${basename(chunk.path)}';`;
    });
    const { outputFiles } = await build({
      ...options,
      stdin: { contents: all.join('\n'), resolveDir: folder },
      outdir: undefined,
      outfile: path,
      plugins: [inMemory(own.map((chunk) => ({ ...chunk, text: ledTo(chunk.text, others, name) })))],
    });
    made.push({ path, text: outputFiles[0].text });
  }
  const led = entries.map((entry) => {
    const { text } = files.find((file) => file.path === entry);
    return { path: entry, text: ledTo(text, chunks, name) };
  });
  return [...led, ...made];
}

/** The paths of all files that one leads to. */
function reached(path, files, seen = new Set()) {
  if (seen.has(path)) return seen;
  seen.add(path);
  const { text } = files.find((file) => file.path === path);
  for (const { source } of parsed(text))
    if (source?.value.startsWith('./')) reached(join(dirname(path), source.value), files, seen);
  return seen;
}

function inMemory(chunks) {
  const chunkAt = (path) => chunks.find((chunk) => basename(chunk.path) === basename(path));
  return {
    name: 'in-memory',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\// }, ({ path }) => {
        const chunk = chunkAt(path);
        return chunk === undefined ? { path, external: true } : { path: chunk.path, namespace: 'chunk' };
      });
      onLoad({ filter: /.*/, namespace: 'chunk' }, ({ path }) => ({
        contents: chunkAt(path).text,
        resolveDir: dirname(path),
      }));
    },
  };
}

/** The same lines, of which those that import from one of these chunks import from what it went into. */
function ledTo(text, chunks, name) {
  const imports = parsed(text).filter(
    ({ type, source }) =>
      type === 'ImportDeclaration' && chunks.some(({ path }) => basename(path) === basename(source.value)),
  );
  let done = text;
  for (const { start, end, source, specifiers } of imports.reverse()) {
    const { path, shared } = chunks.find((chunk) => basename(chunk.path) === basename(source.value));
    const list = specifiers.map(({ imported, local }) => `${name(path, imported.name)} as ${local.name}`);
    const lines = text.slice(start, end).split('\n').length - 1;
    done = `${done.slice(0, start)}import { ${list.join(', ')} } from "./${basename(shared)}";${'\n'.repeat(lines)}${done.slice(end)}`;
  }
  return done;
}
