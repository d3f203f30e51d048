// The page and the workers of docs/guides/browser.md as a project of somebody else's, with the packed package in its node_modules:
// built by each bundler as docs/guides/bundlers.md says, unbundled, by script tags, and by Vite for a host that sends no headers.
// pages/bundles.ts and pages/bundles-plain.ts open what comes out.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { filesOf } from '../../tools/doc-examples.mjs';
import { PACKAGES_COMMAND, packagesInstalled } from '../../tools/packages.mjs';
import { fileIn } from './host.mjs';

const GUIDE = filesOf('docs/guides/browser.md');
const CONFIGS = filesOf('docs/guides/bundlers.md');
const ENTRIES = ['main.js', 'worker.js', 'calls.js', 'calls-worker.js'];
const CALLS_SCRIPT = '<script type="module" src="./calls.js"></script>';
const BUILD_SECONDS = 600;

/** Runs a program to its end; what it says matters if it fails. */
function run(folder, command, ...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: folder, timeout: BUILD_SECONDS * 1000 });
    let output = '';
    const hear = (text) => {
      output += text;
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', hear);
    child.on('error', reject);
    child.on('close', (status) =>
      status === 0 ? resolve() : reject(new Error(`${args.join(' ')} ended with ${status}:\n${output}`)),
    );
  });
}
const put = (folder, files) => {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
};

/** Makes the project, and what comes out of it under out/. */
async function makeAll(project) {
  const page = GUIDE['index.html'] + CALLS_SCRIPT;
  put(project, { ...GUIDE, ...CONFIGS, 'index.html': page });
  const bin = (path) => join(project, 'node_modules', path);
  const out = (name) => join(project, 'out', name);

  const inputs = ENTRIES.flatMap((file) => ['--input', file]);
  const esbuild = ['--bundle', '--splitting', '--format=esm', '--outdir=out/esbuild', '--log-level=warning'];
  // Its own folder: the page asks for the service worker first, which with what it imports goes out as it is.
  const plain = join(project, 'plain');
  put(plain, {
    'index.html': GUIDE['index.html'],
    'main.js': GUIDE['enable-blocking.js'] + GUIDE['main.js'],
    'worker.js': GUIDE['worker.js'],
    'vite.config.js': GUIDE['vite.config.js'],
  });
  put(join(plain, 'public'), { 'service-worker.js': GUIDE['service-worker.js'] });
  const shipped = join(project, 'node_modules/millrace/dist/browser/service-worker.js');
  cpSync(shipped, join(plain, 'public/millrace-service-worker.js'));
  const vite = [process.execPath, bin('vite/bin/vite.js'), 'build', '--logLevel=warn'];
  await Promise.all([
    run(plain, ...vite, '--base=/bundle/plain/', `--outDir=${out('plain')}`),
    run(project, ...vite, '--base=./', '--outDir=out/vite'),
    run(project, process.execPath, bin('rollup/dist/bin/rollup'), '-c', '--silent', '--dir=out/rollup', ...inputs),
    run(project, process.execPath, 'webpack.mjs'),
    run(project, bin('esbuild/bin/esbuild'), ...ENTRIES, ...esbuild),
  ]);
  for (const name of ['rollup', 'webpack', 'esbuild']) put(out(name), { 'index.html': page });

  // A static server: what the page says is named by its import map, and workers say where it lies.
  const { imports } = JSON.parse(/<script type="importmap">([\s\S]*?)<\/script>/.exec(GUIDE['import-map.html'])[1]);
  const byAddress = (text) => text.replace(/from '(millrace[\w/]*)'/g, (_, door) => `from '${imports[door]}'`);
  put(out('unbundled'), {
    'index.html': GUIDE['import-map.html'] + CALLS_SCRIPT,
    'main.js': GUIDE['main.js'],
    'calls.js': GUIDE['calls.js'],
    'worker.js': byAddress(GUIDE['worker.js']),
    'calls-worker.js': byAddress(GUIDE['calls-worker.js']),
  });
  const classic = { 'classic-worker.js': GUIDE['classic-worker.js'], 'classic-calls.js': GUIDE['classic-calls.js'] };
  put(out('script-tag'), { 'index.html': GUIDE['script-tag.html'], ...classic });
  const sab = 'sab-message-port-worker.js';
  put(out('script-tag-sab'), {
    'index.html': readFileSync(join(project, 'sab-message-port.html')),
    [sab]: readFileSync(join(project, sab)),
  });
  for (const name of ['unbundled', 'script-tag', 'script-tag-sab']) {
    const [from, to] = [project, out(name)].map((folder) => join(folder, 'node_modules/millrace/dist'));
    for (const folder of ['browser', 'iife']) cpSync(join(from, folder), join(to, folder), { recursive: true });
  }
}

/**
 * @returns `answerTo` has the answer for `/bundle/<name>/<file>`; `remove` takes everything away
 */
export async function bundles() {
  if (!packagesInstalled()) throw new Error(`the bundlers are not here: ${PACKAGES_COMMAND}`);
  const { makeConsumer } = await import('../../dist/test/packages/consumer.js');
  const project = makeConsumer('browser', ['vite', 'webpack', 'rollup', '@rollup/plugin-node-resolve', 'esbuild']);
  const remove = () => rmSync(project, { recursive: true, force: true });
  try {
    await makeAll(project);
  } catch (error) {
    remove();
    throw error;
  }
  return {
    remove,
    answerTo: (path) => {
      const [, name, file] = /^\/bundle\/([\w-]+)\/(.*)$/.exec(path) ?? [];
      return name === undefined ? undefined : fileIn(join(project, 'out', name), file || 'index.html');
    },
  };
}
