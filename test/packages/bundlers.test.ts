// runtimes: once
// watchdog: 300 s
// needs: packages
// A program in three threads, bundled by esbuild, Vite and webpack from the packed package, for Node and for browsers. What
// comes out is taken away from every node_modules and run: Node's on each kind of runtime that is here, the browsers' on
// Deno, whose workers are the web's (Bun's lack DedicatedWorkerGlobalScope). Real browsers come later.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { platformName } from '../../src/native/platform-name.ts';
import { makeConsumer, node, type Ran, run, runWith, tool } from './consumer.ts';

interface Runtime {
  readonly name: string;
  readonly kind: string;
  readonly path: string;
  readonly installed: boolean;
}
const tools = new URL('../../../tools/runtimes.mjs', import.meta.url).href;
const { runtimes } = (await import(tools)) as { runtimes: () => Runtime[] };
const others = runtimes().filter((it) => it.installed && it.kind !== 'node');

const project = makeConsumer('bundle', ['vite', 'webpack', 'esbuild']);
const away = mkdtempSync(join(tmpdir(), 'millrace-bundled-'));
writeFileSync(join(away, 'package.json'), '{ "type": "module" }');
after(() => {
  rmSync(away, { recursive: true, force: true });
  rmSync(project, { recursive: true, force: true });
});

/** What the program printed: where each of its threads ran. */
function printed({ status, output }: Ran, what: string): unknown {
  assert.equal(status, 0, `${what}: ${output}`);
  return JSON.parse(output.trim().split('\n').at(-1) ?? '');
}

/** Builds for `target` and returns the folder with what came out, each file of which is one JavaScript can read. */
function bundle(bundler: string, target: 'node' | 'web'): string {
  const { status, output } = node(project, `${bundler}.mjs`, target);
  assert.equal(status, 0, output);
  const folder = join(away, `${bundler}-${target}`);
  cpSync(join(project, 'out', `${bundler}-${target}`), folder, { recursive: true });
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter((it) => /\.m?js$/.test(it));
  assert.ok(files.length >= 2, `${files}`);
  for (const file of files) {
    const checked = node(folder, '--check', file);
    assert.equal(checked.status, 0, `${file}: ${checked.output}`);
  }
  return folder;
}
const mainOf = (folder: string): string =>
  readdirSync(folder).find((it) => /^(node|web)-main\./.test(it)) ?? 'no main file';
const command = ({ kind, path }: Runtime, file: string): [string, ...string[]] =>
  kind === 'deno' ? [path, 'run', '-A', '--no-lock', file] : [path, file];

/** What the two workers answer, beside where they run. */
const ANSWERS = { twice: 42, thrice: 66 };

for (const bundler of ['esbuild', 'vite', 'webpack']) {
  test(`${bundler}, for Node: all threads start, and know which runtime they landed on`, () => {
    const folder = bundle(bundler, 'node');
    const here = { name: 'node', kind: 'node', path: process.execPath, installed: true };
    for (const runtime of [here, ...others]) {
      const got = printed(run(folder, ...command(runtime, mainOf(folder))), runtime.name);
      assert.deepEqual(got, { main: runtime.kind, ...ANSWERS, worker: runtime.kind, spawned: runtime.kind });
    }
  });

  test(`${bundler}, for browsers: all threads start, on Deno at least`, () => {
    const folder = bundle(bundler, 'web');
    // A page lives until it is closed; here it is when its main program is through.
    const page = `import process from 'node:process';\nawait import('./${mainOf(folder)}');\nprocess.exit();\n`;
    writeFileSync(join(folder, 'page.mjs'), page);
    for (const runtime of others.filter((it) => it.kind === 'deno')) {
      const got = printed(run(folder, ...command(runtime, 'page.mjs')), runtime.name);
      assert.deepEqual(got, { main: 'browser', ...ANSWERS, worker: 'browser', spawned: 'browser' });
    }
  });
}

test('esbuild, for Node, as CommonJS: the addon, functions of libc and packages are found from where the file lies', () => {
  const { status, output } = node(project, 'commonjs.mjs');
  assert.equal(status, 0, output);
  const folder = join(away, 'commonjs');
  cpSync(join(project, 'out/commonjs'), folder, { recursive: true });
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@millrace'), { recursive: true });
  symlinkSync(tool('ws'), join(modules, 'ws'), 'junction');
  const file = fileURLToPath(new URL(`../../native/${platformName()}/millrace.node`, import.meta.url));
  const hasAddon = existsSync(file);
  if (hasAddon) {
    const addon = join(modules, '@millrace', `native-${platformName()}`);
    mkdirSync(addon);
    cpSync(file, join(addon, 'index.node'));
    writeFileSync(join(addon, 'package.json'), '{ "main": "index.node" }');
  }
  // It is the default that is asked for.
  const env = { ...process.env };
  delete env['MILLRACE_NATIVE'];
  const here = { name: 'node', kind: 'node', path: process.execPath, installed: true };
  for (const runtime of [here, ...others]) {
    const ran = runWith(env, folder, ...command(runtime, 'main.cjs'));
    const { processWay, blocking } = printed(ran, runtime.name) as { processWay: { why?: string }; blocking: string };
    assert.equal(blocking, 'listens', runtime.name);
    if (runtime.kind === 'node' && !hasAddon) assert.match(String(processWay.why), /is not installed/);
    else assert.deepEqual(processWay, { name: 'memory' }, runtime.name);
  }
});

test('under the browser condition every door opens from the browser build', () => {
  const doors = [
    'millrace',
    'millrace/ring',
    'millrace/rpc',
    'millrace/compat/sab-message-port',
    'millrace/compat/nxtedition-shared',
  ];
  const script = `
    for (const door of ${JSON.stringify(doors)}) if (Object.keys(await import(door)).length === 0) throw new Error(door);
    const { features } = await import('millrace');
    console.log(JSON.stringify({ runtime: features().runtime, from: import.meta.resolve('millrace').slice(-16) }));`;
  const got = printed(node(project, '--conditions=browser', '--input-type=module', '-e', script), 'node');
  assert.deepEqual(got, { runtime: 'browser', from: 'browser/index.js' });
});

test('require() and import give the same modules, from every door', () => {
  const script = `
    for (const door of ['millrace', 'millrace/ring', 'millrace/rpc', 'millrace/compat/sab-message-port']) {
      const required = require(door);
      import(door).then((imported) => {
        for (const name of Object.keys(imported)) if (required[name] !== imported[name]) throw new Error(door + ' ' + name);
      });
    }
    const { channel, attach } = require('millrace');
    const { port, remote } = channel();
    port.postMessage({ twice: 42 });
    console.log(JSON.stringify(attach(remote).receive()));
    port.close();`;
  assert.deepEqual(printed(node(project, '--no-warnings', '--input-type=commonjs', '-e', script), 'node'), {
    twice: 42,
  });
});
