// The port suite over memory by the ways of macOS, which its addon then has to supply (native/darwin.c): that was compiled, not run.
// watchdog: 300 s
// runtimes: once
// needs: native
import '../kit/as-on-macos.ts';
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { OVER_A_STREAM, portConformance } from '../conformance/port.ts';
import { Connected, processPair } from '../kit/connected.ts';

const lines = (): string[] => readdirSync(tmpdir()).filter((name) => /^millrace-[0-9a-f]{32}$/.test(name));
const before = lines();
const connected = new Connected(
  processPair(join(tmpdir(), `millrace-as-on-macos-${process.pid}.sock`), { memory: true }),
);
after(() => connected.close());
portConformance({
  ...OVER_A_STREAM,
  name: 'connected by memory, as on macOS',
  blocks: true,
  pair: (options) => connected.pair(options),
});

test('no file of a line is left', async () => {
  const { a } = await connected.pair();
  assert.equal(a.stats().way?.name, 'memory');
  assert.deepEqual(lines(), before);
});
