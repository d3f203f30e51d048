// Calls with arguments of all kinds, in any order: an answer or an error with a code, and the process lives.
// runtimes: node
// needs: native
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import type { Primitives } from '../../src/native/primitives.ts';
import { descriptors, native } from '../kit/native.ts';
import { eachCaseAsync, type Random, seed } from '../kit/prng.ts';
import { turn, until } from '../kit/watchdog.ts';

const CASES = 40;
const CALLS = 500;
const KEPT_MAX = 30;
const makers = ['createMemory', 'createBell', 'listen', 'accept', 'connect', 'duplicate'];

const detached = new Uint8Array(8);
structuredClone(detached, { transfer: [detached.buffer] });

/** Nothing that would take long, fill the memory, or write into what is not ours: small numbers are descriptors of others. */
function drawn(random: Random, ours: readonly number[]): unknown {
  const kinds: (() => unknown)[] = [
    () => random.pick(ours),
    () => random.pick(ours),
    () => random.pick(ours),
    () => random.pick([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31 + 1, -(2 ** 31), 1e300, -0.5]),
    () => random.pick([undefined, null, '', 'a', 'a\0', '/', 'none/a', {}, [], 1n, Symbol('a'), true, () => {}]),
    () => new Uint8Array(random.int(0, 9)),
    () => new Uint8Array(new SharedArrayBuffer(random.int(0, 9))),
    () => Int32Array.from({ length: random.int(0, 9) }, () => (random.chance(0.7) ? random.pick(ours) : -1)),
    () => detached,
    () => new Proxy({}, {}),
    () => random.pick([4096, 9999]) + (random.chance(0.1) ? 0.5 : 0),
  ];
  return random.pick(kinds)();
}

test(`no call ends the process, whatever it is given (seed ${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-native-'));
  const home = process.cwd();
  process.chdir(folder);
  await turn();
  const before = descriptors().length;
  const names = Object.keys(native).filter((name) => name !== 'close') as (keyof Primitives)[];
  const answered = new Set<string>();
  await eachCaseAsync(0, CASES, async (random) => {
    const ends = new Int32Array(2);
    native.socketPair(ends);
    const ours = [...ends, native.createMemory(4096), native.createBell()];
    for (const path of ['socket', 'a']) rmSync(path, { force: true });
    const listener = native.listen('socket');
    ours.push(listener);
    // Places and watches.
    const numbers: number[] = [0];
    for (let i = 0; i < CALLS; i++) {
      const name = random.pick(names);
      const args = Array.from({ length: random.int(0, 4) }, () => drawn(random, ours));
      // The same, but so that it often is as wanted.
      if (name === 'createMemory' && random.chance(0.5)) args[0] = 4096;
      if (name === 'map' && random.chance(0.8)) args.splice(0, 2, random.pick(ours), 4096);
      if ((name === 'wait' || name === 'wake') && random.chance(0.8)) args.splice(0, 4, random.pick(numbers), 5, 0, 1);
      if (name === 'watch' && random.chance(0.8)) args.splice(0, 3, random.pick(ours), random.int(0, 6), () => {});
      if ((name === 'holdLoop' || name === 'rewatch') && random.chance(0.8))
        args.splice(0, 2, random.pick(numbers), name === 'holdLoop' || random.int(0, 6));
      if ((name === 'unwatch' || name === 'unmap') && random.chance(0.5)) args[0] = random.pick(numbers);
      if (name === 'accept' && random.chance(0.5)) args[0] = listener;
      if (name === 'connect' && random.chance(0.5)) args[0] = 'socket';
      if (name === 'listen' && random.chance(0.5)) args[0] = 'a';
      if (name === 'poll' && random.chance(0.5)) args.splice(0, 3, new Int32Array(9).fill(ours[1]!), 3, 1);
      if (name === 'send' && random.chance(0.5)) args.splice(0, 3, ends[0], new Uint8Array(3), Int32Array.of(ours[2]!));
      if (name === 'receive' && random.chance(0.5)) args.splice(0, 3, ends[1], new Uint8Array(9), new Int32Array(2));
      const opened = args.find((it) => it instanceof Int32Array && (name === 'socketPair' || name === 'receive'));
      try {
        const answer = (native[name] as (...given: unknown[]) => unknown)(...args);
        answered.add(name);
        if (makers.includes(name) && (answer as number) >= 0) ours.push(answer as number);
        if (name === 'watch') numbers.push(answer as number);
        if (name === 'map') numbers.push((answer as { place: number }).place);
        if (opened !== undefined && answer !== -1)
          ours.push(...[...(opened as Int32Array)].filter((fd) => fd >= 0 && !ours.includes(fd)));
      } catch (error) {
        assert.ok(
          error instanceof Error && typeof (error as { code?: unknown }).code === 'string',
          `${name}: ${error}`,
        );
      }
      if (ours.length > KEPT_MAX) native.close(ours.splice(random.int(6, ours.length - 1), 1)[0]!);
      if (i % 50 === 0) await turn();
    }
    for (const number of numbers) {
      native.unwatch(number);
      native.unmap(number);
    }
    for (const fd of ours) native.close(fd);
  });
  process.chdir(home);
  rmSync(folder, { recursive: true });
  // Else the arguments are so wrong that nothing was tried.
  assert.deepEqual(
    names.filter((name) => !answered.has(name)),
    [],
  );
  await until('all is closed', () => descriptors().length <= before);
});
