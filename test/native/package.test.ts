// The package of this machine's platform, packed and installed beside the packed main one, in an empty folder and without a network: values go by
// memory then, by the addon that was installed, on every runtime that is here.
// runtimes: once
// watchdog: 300 s
// needs: native
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { STEP_MS } from '../kit/watchdog.ts';

interface Runtime {
  readonly name: string;
  readonly kind: string;
  readonly path: string;
  readonly installed: boolean;
}
const root = fileURLToPath(new URL('../../../', import.meta.url));
const { runtimes } = (await import(join(root, 'tools/runtimes.mjs'))) as { runtimes: () => Runtime[] };
const { ownName } = (await import(join(root, 'tools/native.mjs'))) as { ownName: () => string };
const platform = ownName();
const FLAGS: Readonly<Record<string, readonly string[]>> = { node: [], bun: ['run'], deno: ['run', '-A', '--no-lock'] };

const folder = mkdtempSync(join(tmpdir(), 'millrace-native-package-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Standard output of what must succeed. */
function run(cwd: string, command: string, ...args: string[]): string {
  // Not the options of the npm that may have started us, nor what says which addon a test has.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|MILLRACE_)/.test(name)));
  const done = spawnSync(command, args, { cwd, env: { ...env, NO_COLOR: '1' }, encoding: 'utf8', timeout: STEP_MS });
  assert.equal(done.status, 0, `${command} ${args.join(' ')}: ${done.error ?? ''}${done.stdout}${done.stderr}`);
  return done.stdout;
}
const pack = (from: string): string => {
  const args = ['--ignore-scripts', '--loglevel=error', `--pack-destination=${folder}`];
  return join(
    folder,
    run(root, 'npm', 'pack', from, ...args)
      .trim()
      .split('\n')
      .at(-1) as string,
  );
};

/** Tells by what its connection goes, and whether the file that was installed is mapped. */
const PROGRAM = `
import { readFileSync } from 'node:fs';
import { connect, listen } from 'millrace/process';
const server = await listen(process.argv[2]);
const taken = server[Symbol.asyncIterator]().next();
const port = await connect(server.address);
const { value: other } = await taken;
other.postMessage('there');
const said = await port.receiveAsync();
const maps = readFileSync('/proc/self/maps', 'utf8');
const { name, why } = port.link.way;
console.log(JSON.stringify({ said, name, why, installed: maps.includes('node_modules/@millrace/native-${platform}/') }));
port.close();
await server.close();
`;

test('the package for this machine is used where it is installed', { timeout: STEP_MS * 4 }, () => {
  assert.match(run(root, process.execPath, 'tools/native.mjs', '--packages'), /@millrace\/native-/);
  const native = pack(join(root, 'dist/native', platform));
  const files = run(folder, 'tar', '-tzf', native).trim().split('\n').sort();
  assert.deepEqual(
    files,
    ['LICENSE', 'README.md', 'millrace.node', 'package.json'].map((it) => `package/${it}`),
  );

  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  writeFileSync(join(folder, 'program.js'), PROGRAM);
  const ways = (): Record<string, unknown> =>
    Object.fromEntries(
      runtimes()
        .filter(({ installed }) => installed)
        .map(({ name, kind, path }) => {
          const address = join(folder, `${name}.sock`);
          const told = run(folder, path, ...(FLAGS[kind] ?? []), 'program.js', address);
          return [name, JSON.parse(told)];
        }),
    );
  const install = (...what: string[]): string =>
    run(folder, 'npm', 'install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', ...what);

  const main = pack(root);
  install(main);
  for (const [name, way] of Object.entries(ways())) {
    const why = `@millrace/native-${platform} is not installed`;
    const wanted = name.startsWith('node') ? { name: 'unix', why } : { name: 'memory' };
    assert.deepEqual(way, { said: 'there', ...wanted, installed: false }, name);
  }
  install(main, native);
  assert.ok(!readFileSync(join(folder, 'package-lock.json'), 'utf8').includes('hasInstallScript'));
  for (const [name, way] of Object.entries(ways()))
    assert.deepEqual(way, { said: 'there', name: 'memory', installed: true }, name);
});
