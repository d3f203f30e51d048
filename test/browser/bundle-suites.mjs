// Suites of the other runtimes for pages: each in one file, with stand-ins for what is Node's, and the platform of browsers. The port suite
// asks the doors as they are shipped, in dist/browser; suites of single modules ask what those doors are made of.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { doors } from '../../tools/bundle.mjs';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));
const standIn = (name) => join(dist, 'test/browser/stand-ins', `${name}.js`);
const NODE = {
  test: 'test',
  'assert/strict': 'assert',
  process: 'process',
  events: 'events',
  'timers/promises': 'timers',
};

/** What each file of /suites/ is made of, and whether it asks the doors that are shipped. */
const SUITES = {
  port: { entry: 'test/browser/suites/port.js', shipped: true, threads: 'threads' },
  codec: { entry: 'test/browser/suites/codec.js', shipped: false, threads: 'threads' },
  // A module of its own, for its namespace.
  namespace: { entry: 'test/codec/namespace.js', shipped: false, threads: 'threads' },
  sab: { entry: 'test/browser/suites/sab.js', shipped: true, threads: 'threads' },
  'sab-thread': { entry: 'test/compat/sab-message-port-worker.js', shipped: true, threads: 'own-thread' },
  thread: { entry: 'test/kit/thread-worker.js', shipped: true, threads: 'own-thread' },
};

const shippedFiles = new Map(
  doors()
    .filter(({ browserFile }) => browserFile !== undefined)
    .map(({ module, browserFile }) => [join(dist, module.slice('./dist/'.length)), browserFile.slice('./dist'.length)]),
);

const inPages = ({ shipped, threads }) => ({
  name: 'in-pages',
  setup({ onResolve }) {
    onResolve({ filter: /^node:/ }, ({ path }) => {
      const name = path.slice('node:'.length);
      return { path: standIn(name === 'worker_threads' ? threads : (NODE[name] ?? 'nothing')) };
    });
    onResolve({ filter: /(^|\/)current\.js$/ }, () => ({ path: join(dist, 'src/platform/browser.js') }));
    onResolve(
      { filter: /\/in-one-file\.js$/ },
      ({ kind }) => kind !== 'entry-point' && { path: standIn('in-one-file') },
    );
    onResolve({ filter: /^\.\/namespace\.js$/ }, () => ({ path: '/suites/namespace.js', external: true }));
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const file = shipped ? shippedFiles.get(join(resolveDir, path)) : undefined;
      return file && { path: file, external: true };
    });
  },
});

const made = new Map();
/** The script of that name, as text; undefined where there is none. */
export function suiteScript(name) {
  const suite = SUITES[name];
  if (suite === undefined) return undefined;
  const bundled = () =>
    build({
      entryPoints: [join(dist, suite.entry)],
      bundle: true,
      format: 'esm',
      target: 'es2022',
      platform: 'browser',
      // The package says that its modules have none, for who bundles it.
      ignoreAnnotations: true,
      plugins: [inPages(suite)],
      write: false,
      logLevel: 'warning',
    }).then(({ outputFiles }) => outputFiles[0].text);
  if (!made.has(name)) made.set(name, bundled());
  return made.get(name);
}
