// Workers of node:cluster and their ports: what a cluster does beside them is as ever.
// watchdog: 300 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { STEP_MS } from '../kit/watchdog.ts';
import { runProgram, runtimeKind } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(new URL('./cluster-program.js', import.meta.url));

async function said(what: string): Promise<readonly string[]> {
  const { status, output } = await runProgram(PROGRAM, [what], STEP_MS);
  assert.equal(status, 0, output);
  return output
    .split('\n')
    .filter((line) => /^(true|false|(exit|throw|kill) true|echo|ERR_|\[ )/.test(line))
    .map((line) => line.trim());
}

test('each worker has a port beside its channel of the cluster, serves, and goes when it has left both', async () => {
  const lines = await said('talk');
  assert.deepEqual(lines.slice(0, 3), ['true 300000 true', 'true 300000 true', 'true']);
  assert.match(lines[3] as string, /^\[ 0, 0 \] \[ ["']closed["'], ["']closed["'] \]$/);
});

test('how a worker ends is told by its port, with code and signal', async () => {
  // Deno says nothing as it ends; on Bun a cluster ends its worker in order when an exception does.
  const crash = {
    node: 'crash 1 undefined what it died of',
    deno: 'exit 1 undefined undefined',
    bun: 'exit 0 undefined undefined',
  };
  assert.deepEqual(await said('ends'), [
    'exit true exit 7 undefined undefined',
    `throw true ${crash[runtimeKind]}`,
    'kill true terminated undefined SIGKILL undefined',
  ]);
});

test('a worker forks children, not workers; one that cluster.fork has started has no port, and settings are as they were', async () => {
  assert.deepEqual(await said('others'), ['echo ERR_UNSUPPORTED', 'ERR_HANDLE 4 undefined ERR_OPTION']);
});
