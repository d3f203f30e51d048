// What smoke runs leave out: contenders in processes of their own, and figures that only those can give.
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Contestant, Sample, Setting } from './contest.ts';
import { besideItself, isolated, isolatedEachRound } from './isolate.ts';
import { starts } from './sessions-startup.ts';

const setting: Setting = { size: 'smoke', subjects: [], payloads: [], options: {} };

/** What to look for in the other process. */
function named(subject: string): Contestant {
  return { subject, label: '', start: () => Promise.reject(new Error('it should have run elsewhere')) };
}

async function rounds(contestant: Contestant, count = 1): Promise<Sample[]> {
  const session = await contestant.start();
  const samples: Sample[] = [];
  try {
    for (let i = 0; i < count; i++) samples.push(await session.round(1));
  } finally {
    await session.stop();
  }
  for (const sample of samples) assert.equal(sample.checked, true);
  return samples;
}

test('many ports are measured beside one port of the same contender, whichever rows were asked for', async () => {
  const asked = { ...setting, payloads: ['10 ports'] };
  const order = { scenario: 'many-ports', row: '10 ports', setting: asked };
  for (const sample of await rounds(besideItself(named('millrace-port:loop'), order, '1 port', 'with 1 port'), 2)) {
    assert.ok(sample.extra!['with 1 port']! > 0);
    assert.ok(sample.perUnitBytes !== undefined && sample.peakBytes! > 0);
  }
});

test('a process that is new in each round gives a figure in each', async () => {
  const order = { scenario: 'first-thousand', row: 'a new worker of a running program', setting };
  const contestant = isolatedEachRound(named('native-port'), order);
  assert.equal((await contestant.start()).cold, true);
  for (const sample of await rounds(contestant, 2)) {
    assert.ok(sample.value >= sample.extra!['the first']! && sample.extra!['the first']! > 0);
  }
});

test('a process of its own tells the heap of a channel', async () => {
  const order = { scenario: 'open', row: 'both ends in one thread', setting: { ...setting, size: 'quick' as const } };
  const [sample] = await rounds(isolated(named('native-port'), order));
  assert.equal(typeof sample!.heapUnitBytes, 'number');
  assert.equal(typeof sample!.perUnitBytes, 'number');
});

/** Starts workers that import a module of this source. */
async function startsWith(source: string, count: number): Promise<Sample> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-startup-test-'));
  try {
    const path = join(folder, 'imported.mjs');
    writeFileSync(path, source);
    const contestant = starts({ subject: 'x', label: '', urls: () => [pathToFileURL(path).href] });
    return (await rounds(contestant, count)).at(-1)!;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('what a worker does while it imports is on top of an empty worker', async () => {
  const slowMs = 800;
  const { value, extra } = await startsWith(
    `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${slowMs});`,
    3,
  );
  assert.ok(value >= slowMs);
  // A quarter of it: on a busy machine starts differ by what others do meanwhile.
  assert.ok(extra!['on top']! >= slowMs / 4, `${extra!['on top']} ms`);
});

test('a worker that fails to start fails its contender, and says why', async () => {
  await assert.rejects(startsWith('throw new Error("no such luck");', 1), /no such luck/);
});
