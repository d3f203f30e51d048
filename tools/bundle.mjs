// What is bundled at build time, from src/, with maps to it (the package holds it, too):
//   dist/lib/       what Node, Bun and Deno load: a file a door
//   dist/browser/   the same with the browser's platform inside, for the `browser` condition of package.json's `exports`
//   dist/iife/      for script tags and classic workers: millrace.global.js defines `Millrace`, sab-message-port.global.js `SABMessagePortLib`,
//                   service-worker.global.js `MillraceServiceWorker`
// docs/decisions/0023 tells why they look as they do.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse } from 'acorn';
import { build, transform } from 'esbuild';
import { lowerPrivate } from './lower-private.mjs';
import { oneCore } from './one-core.mjs';
import { putRight } from './top-level.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Doors that have all they need in one file. The others share `core.js`, so that each of them loads two files. */
const ALONE = ['./ring', './browser/service-worker', './compat/nxtedition-shared'];
/** Kinds of doors, by the file that has what only doors of that kind have in common: to calls, to what is elsewhere. */
const KINDS = {
  'calls.js': ['./rpc', './compat/comlink', './compat/comlink/node-adapter'],
  'links.js': ['./process', './net', './hub', './nats', './redis'],
};
/** What they are bundled for: a door without a file for browsers is for servers alone. */
const isFor = (platform) => (platform === 'browser' ? ({ browserFile }) => browserFile !== undefined : () => true);

const shared = {
  absWorkingDir: root,
  bundle: true,
  // Loaded where it is used, and only there (src/transport/network/web-socket-dial.ts).
  external: ['ws'],
  legalComments: 'none',
  target: 'es2022',
  logLevel: 'warning',
};
/**
 * A module that takes constants out of `import * as limits` by `const { A, B } = limits` would bring an object with a getter for
 * each name in `limits` into the bundle; imported by name, the numbers stand where they are used.
 */
export function withoutNamespaces(source) {
  const namespaces = new Map(
    [...source.matchAll(/^import \* as (\w+) from ('\.[^']+');$/gm)].map(([, name, from]) => [name, from]),
  );
  return source.replace(/^const (\{[^{}]*\}) = (\w+);$/gm, (all, names, name) =>
    namespaces.has(name) ? `import ${names.replaceAll(':', ' as')} from ${namespaces.get(name)};` : all,
  );
}
const namesOnly = {
  name: 'names-only',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]codec[\\/].*\.ts$/ }, ({ path }) => ({
      contents: withoutNamespaces(readFileSync(path, 'utf8')),
      loader: 'ts',
    }));
  },
};

/** A thread of the library's own, as text in the place of its address: a bundle made of ours has no place for one more file. */
const threadsAsText = {
  name: 'threads-as-text',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](carrier|topic-waker)-source\.ts$/ }, async ({ path }) => {
      const entry = relative(root, path.replace(/-source\.ts$/, '-thread.ts'));
      const [, name] = /^export const (\w+)/m.exec(readFileSync(path, 'utf8'));
      const options = { ...shared, platform: 'node', plugins: [namesOnly], entryPoints: [entry], write: false };
      const { outputFiles } = await build({ ...options, format: 'esm', minify: true });
      return { contents: `export const ${name} = ${JSON.stringify(outputFiles[0].text)};`, loader: 'js' };
    });
  },
};

/**
 * `#platform` leads to current.ts, which notices the runtime (tsconfig.json); in a browser's build to what that would be there. What only servers can do in
 * src/net is there what browsers have for it.
 */
const browser = {
  ...shared,
  platform: 'browser',
  conditions: ['browser'],
  plugins: [
    namesOnly,
    {
      name: 'browser-platform',
      setup({ onResolve }) {
        onResolve({ filter: /^#platform$/ }, () => ({ path: join(root, 'src/platform/browser.ts') }));
        onResolve({ filter: /^\.\/(acceptor|carrier|lines|listen)\.ts$/ }, ({ path, resolveDir }) =>
          resolveDir === join(root, 'src/net') ? { path: join(resolveDir, `browser-${path.slice(2)}`) } : undefined,
        );
      },
    },
  ],
};
export const node = { ...shared, platform: 'node', plugins: [namesOnly, threadsAsText] };

/** Each door of the package that is a module: its name in `exports`, its files and the module behind it. */
export function doors() {
  const { exports: entries } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.entries(entries)
    .filter(([, entry]) => entry.types !== undefined)
    .map(([name, { types, default: file, browser: browserFile }]) => ({
      name,
      file,
      browserFile,
      /** Where tsc puts it, and what it is made of. */
      module: types.default.replace(/\.d\.ts$/, '.js'),
      source: types.default.replace(/^\.\/dist\/(.*)\.d\.ts$/, '$1.ts'),
    }));
}

/** Bundles all doors into a folder, with esbuild's options for where they run. */
export async function bundleDoors(outdir, options = node) {
  const entry = ({ file, source }) => ({ in: source, out: basename(file, '.js') });
  const common = {
    ...options,
    outdir: resolve(root, outdir),
    format: 'esm',
    // Constants of other modules stand where they are used.
    minifySyntax: true,
    sourcemap: 'inline',
    sourcesContent: false,
    write: false,
  };
  const here = doors().filter(isFor(options.platform));
  const together = here.filter(({ name }) => !ALONE.includes(name));
  const runs = [
    { ...common, entryPoints: together.map(entry), splitting: true, chunkNames: 'chunk-[hash]' },
    ...here.filter(({ name }) => ALONE.includes(name)).map((door) => ({ ...common, entryPoints: [entry(door)] })),
  ];
  mkdirSync(resolve(root, outdir), { recursive: true });
  for (const run of runs) {
    const { outputFiles } = await build(run);
    const entries = run.entryPoints.map(({ out }) => join(run.outdir, `${out}.js`));
    const pathsOf = (names) =>
      here.filter(({ name }) => names.includes(name)).map((door) => join(run.outdir, `${entry(door).out}.js`));
    const kinds = Object.fromEntries(Object.entries(KINDS).map(([file, names]) => [file, pathsOf(names)]));
    const files = (run.splitting ? await oneCore(outputFiles, entries, common, kinds) : outputFiles).map(
      ({ path, text }) => ({
        path,
        text: putRight(text),
      }),
    );
    for (const { path, text } of files)
      if (/__export\(/.test(text)) throw new Error(`a namespace is an object in ${path}`);
    // A door that is alone has little of it.
    for (const { path, text } of run.splitting ? lowerPrivate(files, entries) : files) await finish(path, text);
  }
}

/**
 * Without blanks and comments, which a worker would read each time it starts, and with short names for what is local to a function;
 * lines that a stack can tell apart, and the names of all functions and classes. A minifier leaves the top level of a script alone, for other
 * scripts may use it, so that is what it gets: what makes a module of it follows behind, where it does as well.
 */
async function finish(path, text) {
  const { body } = parse(text, { ecmaVersion: 'latest', sourceType: 'module' });
  const modular = body.filter(({ type }) => type === 'ImportDeclaration' || type === 'ExportNamedDeclaration');
  let script = text;
  for (const { start, end } of modular)
    script = script.slice(0, start) + text.slice(start, end).replace(/[^\n]/g, ' ') + script.slice(end);
  const { code, map } = await transform(`'use strict';${script}`, {
    sourcefile: basename(path),
    minifyWhitespace: true,
    minifyIdentifiers: true,
    lineLimit: 120,
    legalComments: 'none',
    target: shared.target,
    sourcemap: 'external',
    sourcesContent: false,
  });
  const links = modular.map(({ start, end }) => text.slice(start, end).replace(/\s+/g, ' ')).join('\n');
  const strict = '"use strict";';
  const module = `${code.replace(strict, ' '.repeat(strict.length))}${links}\n`;
  writeFileSync(path, `${module}//# sourceMappingURL=${basename(path)}.map\n`);
  writeFileSync(`${path}.map`, map);
}

export async function bundle() {
  await bundleDoors('dist/lib', node);
  await bundleDoors('dist/browser', browser);
  for (const { source, file, global } of SCRIPTS) {
    await build({
      ...browser,
      entryPoints: [source],
      outfile: file,
      minify: true,
      format: 'iife',
      globalName: global,
      sourcemap: true,
      sourcesContent: false,
    });
  }
  writeFileSync(join(root, 'dist/iife/millrace.global.d.ts'), MILLRACE_DECLARED);
}

/** What script tags and classic workers load: one file, which defines one global. */
const SCRIPTS = [
  { source: 'src/global.ts', file: 'dist/iife/millrace.global.js', global: 'Millrace' },
  {
    source: 'src/compat/sab-message-port.ts',
    file: 'dist/iife/sab-message-port.global.js',
    global: 'SABMessagePortLib',
  },
  {
    source: 'src/browser/service-worker.ts',
    file: 'dist/iife/service-worker.global.js',
    global: 'MillraceServiceWorker',
  },
];
/** Its types, for scripts: TypeScript finds them beside the file. */
const MILLRACE_DECLARED = `export * from '../src/global.js';
export as namespace Millrace;
`;

/** Threads and processes that tests start. */
const STARTED_BY_TESTS = [
  'test/kit/by-bell',
  'test/kit/thread-worker',
  'test/compat/comlink-beside-worker',
  'test/compat/comlink-web-worker',
  'test/compat/comlink-worker',
  'test/compat/nxtedition-shared-worker',
  'test/compat/sab-message-port-ended-worker',
  'test/compat/sab-message-port-replaced-worker',
  'test/compat/sab-message-port-worker',
  'test/conformance/dropped-program',
  'test/conformance/pool-member',
  'test/conformance/pool-program',
  'test/conformance/stream-sockets-program',
  'test/conformance/thread-program',
  'test/conformance/young-program',
  'test/native/backlog-program',
  'test/native/connected-thread',
  'test/native/killed-meeting-program',
  'test/native/program',
  'test/native/thread',
  'test/engines/hub-member',
  'test/engines/hub-program',
  'test/engines/hub-thread',
  'test/engines/program',
  'test/engines/queue-worker',
  'test/network/program',
  'test/process/blocking-program',
  'test/process/child',
  'test/process/child-thread',
  'test/process/cluster-program',
  'test/process/features-program',
  'test/process/few-descriptors-child',
  'test/process/fresh-eyes-program',
  'test/process/memory-child',
  'test/process/memory-gc-program',
  'test/process/pipe-child',
  'test/process/program',
  'test/process/topic-child',
  'test/process/topic-waker-program',
  'test/stress/call-child',
  'test/stress/call-thread',
  'test/stress/kill-victim',
  'test/stress/many-channels-program',
  'test/stress/stream-damage-victim',
];
export const startedFiles = STARTED_BY_TESTS.map((path) => `dist/${path}.bundle.js`);

/** What a module of ours finds beside itself, an addon or the file of a thread, it finds from within a bundle, too. */
const ownAddress = {
  name: 'own-address',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]dist[\\/](src|test[\\/]kit)[\\/].*\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
      loader: 'js',
    }));
  },
};

/**
 * Each in one file: tests start thousands of them, and 170 modules take Node 150 to 200 ms of processor time each time, one file 30.
 * It is put together of what tsc made, without the rest that is done to what is shipped: what runs in it is what stands in the
 * modules of dist/src.
 */
export async function bundleStarted() {
  const entryPoints = STARTED_BY_TESTS.map((path) => ({ in: `dist/${path}.js`, out: `${path}.bundle` }));
  const options = { ...shared, platform: 'node', format: 'esm', plugins: [ownAddress] };
  await build({ ...options, entryPoints, outdir: join(root, 'dist') });
}
