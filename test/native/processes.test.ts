// Two processes that have the same memory: it is exact, it wakes, and no harm comes from either.
// runtimes: node
// needs: native
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { BELL, READABLE } from '../../src/native/primitives.ts';
import { descriptors, endPrograms, native, Program } from '../kit/native.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';
import { ADDED, BYTES, COUNT_ROUNDS, count, PING, PINGS, PONG, ping, SWAPPED, sleepWhile } from './parts.ts';

afterEach(endPrograms);

interface Shared {
  readonly region: number;
  readonly words: Int32Array;
  readonly place: number;
}
async function withShared(use: (shared: Shared) => Promise<void>): Promise<void> {
  const region = native.createMemory(BYTES);
  const { buffer, place } = native.map(region, BYTES);
  try {
    await use({ region, words: new Int32Array(buffer), place });
  } finally {
    native.unmap(place);
    native.close(region);
  }
}

test('Atomics are exact between processes', { timeout: STEP_MS }, () =>
  withShared(async ({ region, words }) => {
    const program = new Program('count', [region]);
    assert.equal(await program.said(), 'ready');
    program.tell('go');
    count(words, COUNT_ROUNDS);
    assert.equal(await program.said(), 'counted');
    assert.equal(words[ADDED], 2 * COUNT_ROUNDS);
    assert.equal(words[SWAPPED], 2 * COUNT_ROUNDS);
    assert.deepEqual(await within('its end', program.ended), { code: 0, signal: null });
  }),
);

test('a futex wakes both ways, and no wake-up is lost', { timeout: STEP_MS }, () =>
  withShared(async ({ region, words, place }) => {
    const program = new Program('pong', [region]);
    assert.equal(await program.said(), 'ready');
    assert.equal(ping(words, place), 0);
    assert.equal(await program.said(), 0);
    await within('its end', program.ended);
  }),
);

test('a word that is not as expected is not slept on', { timeout: STEP_MS }, () =>
  withShared(async ({ region }) => {
    const program = new Program('unequal', [region]);
    assert.equal(await program.said(), true);
    await within('its end', program.ended);
  }),
);

test('bells wake event loops, both ways', { timeout: STEP_MS }, () =>
  withShared(async ({ region, words }) => {
    const [theirs, ours] = [native.createBell(), native.createBell()];
    const program = new Program('bell', [region, theirs, ours]);
    assert.equal(await program.said(), 'ready');
    let calls = 0;
    await within(
      'the last answer',
      new Promise<void>((resolve) => {
        const watch = native.watch(ours, READABLE | BELL, (events) => {
          assert.equal(events, READABLE);
          calls++;
          assert.equal(Atomics.load(words, PONG), Atomics.load(words, PING));
          if (Atomics.add(words, PING, 1) < PINGS) native.ring(theirs);
          else {
            native.unwatch(watch);
            resolve();
          }
        });
        Atomics.store(words, PING, 1);
        native.ring(theirs);
      }),
    );
    assert.equal(calls, PINGS);
    assert.equal(await program.said(), PINGS);
    await within('its end', program.ended);
    for (const bell of [theirs, ours]) native.close(bell);
  }),
);

test('a process that has the memory can neither cut it off nor make it grow', { timeout: STEP_MS }, () =>
  withShared(async ({ region, words }) => {
    const program = new Program('hostile', [region]);
    assert.deepEqual(await program.said(), ['EPERM', 'EPERM', 'EPERM', 'EPERM']);
    // All of it is still there, with what was written into it.
    assert.ok(words.every((word) => word === -1));
    program.tell('end');
    await within('its end', program.ended);
  }),
);

/** An end of a connection whose other end a process has, so that the end of that process is its own. */
function lifeOf(start: (theirs: number) => Program): { program: Program; life: number } {
  const ends = new Int32Array(2);
  native.socketPair(ends);
  const [life, theirs] = ends as unknown as [number, number];
  const program = start(theirs);
  native.close(theirs);
  return { program, life };
}

test('a process that is killed while it waits is told by a watch, and by poll', { timeout: STEP_MS }, () =>
  withShared(async ({ region, words, place }) => {
    const { program, life } = lifeOf((theirs) => new Program('stuck', [region, theirs]));
    const table = Int32Array.of(life, 1, 0);
    sleepWhile(words, place, PONG, 0);
    assert.equal(native.poll(table, 1, 0), 0);
    let told = 0;
    const watch = native.watch(life, READABLE, () => {
      told++;
      native.unwatch(watch);
    });
    await program.kill();
    await until('the watch tells', () => told === 1);
    assert.equal(native.poll(table, 1, 0), 1);
    assert.equal(table[2]! & READABLE, READABLE);
    assert.equal(native.receive(life, new Uint8Array(1)), 0);
    assert.equal(native.wake(place, PING, 10), 0);
    native.close(life);
  }),
);

test('a thread that is blocked in poll is woken by the end of a process', { timeout: STEP_MS }, () =>
  withShared(async ({ region, words, place }) => {
    const { program, life } = lifeOf((theirs) => new Program('stuck', [region, theirs]));
    sleepWhile(words, place, PONG, 0);
    program.child.kill('SIGKILL');
    const table = Int32Array.of(life, 1, 0, -1, 1, 7);
    let ready = 0;
    for (const end = performance.now() + STEP_MS; ready === 0 && performance.now() < end; )
      ready = native.poll(table, 2, 1000);
    assert.equal(ready, 1);
    assert.deepEqual([table[2]! & READABLE, table[5]], [READABLE, 0]);
    await within('its end', program.ended);
    native.close(life);
  }),
);

test('a process ends in order with all that can be open', { timeout: STEP_MS }, async () => {
  assert.deepEqual(await within('exit', new Program('exit').ended), { code: 5, signal: null });
  assert.deepEqual(await within('an empty loop', new Program('idle').ended), { code: 0, signal: null });
});

test('what the function of a watch throws is uncaught, and the watch goes on', { timeout: STEP_MS }, async () => {
  const program = new Program('throws');
  assert.equal(await program.said(), 'call 1');
  assert.equal(await program.said(), 'call 2');
  assert.deepEqual(await within('its end', program.ended), { code: 3, signal: null });
});

test('no descriptor is left of a process that was killed', { timeout: STEP_MS }, async () => {
  const round = (): Promise<void> =>
    withShared(async ({ region, words, place }) => {
      const program = new Program('stuck', [region]);
      sleepWhile(words, place, PONG, 0);
      await program.kill();
    });
  await round();
  const before = descriptors().length;
  for (let i = 0; i < 3; i++) await round();
  await until('all are closed', () => descriptors().length <= before);
});
