// Memory that other processes may have, in one process: what is mapped, what is refused, and what is left of it.
// runtimes: node
// needs: native
import assert from 'node:assert/strict';
import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BLOCK_MS_MAX, MEMORY_BYTES_MAX, NOT_EQUAL, TIMED_OUT } from '../../src/native/primitives.ts';
import { codeOf, descriptors, native } from '../kit/native.ts';
import { turn, until } from '../kit/watchdog.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const mappings = (): number => readFileSync('/proc/self/maps', 'utf8').split('memfd:millrace').length - 1;

test('a region is zeros, and the same bytes wherever it is mapped', async () => {
  const before = descriptors().length;
  const region = native.createMemory(10_000);
  const [one, other] = [native.map(region, 10_000), native.map(region, 10_000)];
  native.close(region);
  assert.equal(descriptors().length, before);
  assert.equal(mappings(), 2);
  assert.ok(one.buffer instanceof ArrayBuffer);
  assert.equal(one.buffer.byteLength, 10_000);
  assert.ok(new Uint8Array(one.buffer).every((byte) => byte === 0));
  new Uint8Array(one.buffer)[9999] = 7;
  assert.equal(new Uint8Array(other.buffer)[9999], 7);
  assert.equal(Atomics.add(new BigInt64Array(one.buffer, 0, 100), 3, 5n), 0n);
  assert.equal(Atomics.load(new BigInt64Array(other.buffer, 0, 100), 3), 5n);
  assert.ok(native.unmap(one.place) && native.unmap(other.place));
  await until('nothing is mapped', () => mappings() === 0);
});

test('what is unmapped has no length, and its place is refused', async () => {
  const region = native.createMemory(4096);
  const { buffer, place } = native.map(region, 4096);
  const words = new Int32Array(buffer);
  assert.equal(native.unmap(place), true);
  assert.equal(buffer.byteLength, 0);
  assert.equal(words[0], undefined);
  assert.throws(() => Atomics.add(words, 0, 1), { name: /TypeError|RangeError/ });
  for (let i = 0; i < 2; i++) {
    assert.equal(
      codeOf(() => native.wait(place, 0, 0, 10)),
      'ERR_UNMAPPED',
    );
    assert.equal(
      codeOf(() => native.wake(place, 0, 1)),
      'ERR_UNMAPPED',
    );
    assert.equal(native.unmap(place), false);
    await until('nothing is mapped', () => mappings() === 0);
  }
  // The table's place is used again, the number is not.
  const next = native.map(region, 4096);
  assert.notEqual(next.place, place);
  assert.equal(
    codeOf(() => native.wake(place, 0, 1)),
    'ERR_UNMAPPED',
  );
  assert.equal(native.wake(next.place, 0, 1), 0);
  native.unmap(next.place);
  native.close(region);
});

test('a buffer that nobody holds is unmapped by the collector, and its place is refused', async () => {
  const region = native.createMemory(1 << 20);
  const places = Array.from({ length: 20 }, () => native.map(region, 1 << 20).place);
  const kept = native.map(region, 1 << 20);
  await until('only one is mapped', () => {
    collect();
    return mappings() === 1;
  });
  for (const place of places)
    assert.equal(
      codeOf(() => native.wake(place, 0, 1)),
      'ERR_UNMAPPED',
    );
  assert.equal(native.wake(kept.place, 0, 1), 0);
  native.unmap(kept.place);
  native.close(region);
});

test('many regions come and go, and leave no descriptor and no mapping', async () => {
  const before = descriptors().length;
  for (let i = 0; i < 2000; i++) {
    const region = native.createMemory(4096);
    const { buffer, place } = native.map(region, 4096);
    native.close(region);
    new Int32Array(buffer)[0] = i;
    assert.equal(native.unmap(place), true);
    if (i % 100 === 0) await until('few are mapped', () => mappings() < 100);
  }
  await until('nothing is mapped', () => mappings() === 0);
  assert.equal(descriptors().length, before);
});

test('the size of a region can be changed by nobody', () => {
  const region = native.createMemory(8192);
  for (const bytes of [0, 4096, 16_384])
    assert.equal(
      codeOf(() => ftruncateSync(region, bytes)),
      'EPERM',
    );
  const { buffer, place } = native.map(region, 8192);
  new Uint8Array(buffer).fill(1);
  native.unmap(place);
  native.close(region);
});

test('what is no sealed memory, or has another size, is refused and not mapped', async () => {
  await until('nothing is mapped', () => mappings() === 0);
  const folder = mkdtempSync(join(tmpdir(), 'millrace-native-'));
  const before = descriptors().length;
  const path = join(folder, 'file');
  writeFileSync(path, new Uint8Array(4096));
  const file = openSync(path, 'r+');
  const device = openSync('/dev/zero', 'r+');
  const region = native.createMemory(4096);
  const readOnly = openSync(`/proc/self/fd/${region}`, 'r');
  const bell = native.createBell();
  for (const other of [file, device, bell])
    assert.equal(
      codeOf(() => native.map(other, 4096)),
      'ERR_NOT_SEALED',
    );
  // In memory, too, but without a seal.
  const inMemory = openSync('/dev/shm/millrace-test', 'w+');
  rmSync('/dev/shm/millrace-test');
  ftruncateSync(inMemory, 4096);
  assert.equal(
    codeOf(() => native.map(inMemory, 4096)),
    'ERR_NOT_SEALED',
  );
  for (const bytes of [1, 4095, 4097, 1 << 20])
    assert.equal(
      codeOf(() => native.map(region, bytes)),
      'ERR_MEMORY_SIZE',
    );
  assert.equal(
    codeOf(() => native.map(readOnly, 4096)),
    'EACCES',
  );
  for (const fd of [file, device, inMemory, region, readOnly, bell]) closeSync(fd);
  assert.equal(
    codeOf(() => native.map(region, 4096)),
    'EBADF',
  );
  assert.equal(descriptors().length, before);
  assert.equal(mappings(), 0);
  rmSync(folder, { recursive: true });
});

test('an error names the call', () => {
  assert.throws(() => native.close(1 << 30), {
    name: 'Error',
    code: 'EBADF',
    syscall: 'close',
    errno: -9,
    message: /^EBADF: .*, close$/,
  });
});

test('arguments that are none are refused', () => {
  const region = native.createMemory(4096);
  const { place } = native.map(region, 4096);
  const wrong: [string, () => unknown][] = [
    ['no bytes', () => native.createMemory(0)],
    ['too many bytes', () => native.createMemory(MEMORY_BYTES_MAX + 1)],
    ['half a byte', () => native.createMemory(1.5)],
    ['not a number', () => native.createMemory(Number.NaN)],
    ['a string', () => native.createMemory('1' as unknown as number)],
    ['nothing', () => (native.createMemory as () => number)()],
    ['a negative descriptor', () => native.map(-1, 4096)],
    ['endless bytes', () => native.map(region, Number.POSITIVE_INFINITY)],
    ['an index outside', () => native.wait(place, 1024, 0, 1)],
    ['a negative index', () => native.wake(place, -1, 1)],
    ['an endless wait', () => native.wait(place, 0, 0, Number.POSITIVE_INFINITY)],
    ['too long a wait', () => native.wait(place, 0, 0, BLOCK_MS_MAX + 1)],
    ['a wait of no length', () => native.wait(place, 0, 0, Number.NaN)],
    ['fewer than nobody', () => native.wake(place, 0, -1)],
    ['an object', () => native.unmap({} as unknown as number)],
  ];
  for (const [what, call] of wrong) assert.throws(call, { name: 'TypeError', code: 'ERR_ARGUMENT' }, what);
  for (const none of [-1, 1 << 20, 2 ** 31 - 1, place + 1])
    assert.equal(
      codeOf(() => native.wake(none, 0, 1)),
      'ERR_UNMAPPED',
    );
  assert.equal(native.unmap(place), true);
  native.close(region);
});

test('a sleep ends by its time, and does not begin on another value', () => {
  const region = native.createMemory(4096);
  const { buffer, place } = native.map(region, 4096);
  const words = new Int32Array(buffer);
  const started = performance.now();
  assert.equal(native.wait(place, 1023, 0, 30), TIMED_OUT);
  assert.ok(performance.now() - started >= 29);
  assert.equal(native.wait(place, 0, 0, 0), TIMED_OUT);
  words[5] = -3;
  assert.equal(native.wait(place, 5, 0, 1000), NOT_EQUAL);
  assert.equal(native.wait(place, 5, -3, 1), TIMED_OUT);
  assert.equal(native.wake(place, 5, 1), 0);
  native.unmap(place);
  native.close(region);
});

test('an alias is the memory of a SharedArrayBuffer, and keeps it', async () => {
  const make = (): [ArrayBuffer, ArrayBuffer] => {
    const bytes = new Uint8Array(new SharedArrayBuffer(1 << 16), 8, 4096);
    bytes[1] = 42;
    return [native.alias(bytes), native.alias(bytes)];
  };
  const [one, other] = make();
  assert.equal(one.byteLength, 4096);
  for (let i = 0; i < 5; i++) collect();
  new Uint8Array(one)[4095] = 9;
  assert.deepEqual([new Uint8Array(other)[1], new Uint8Array(other)[4095]], [42, 9]);

  const shared = new SharedArrayBuffer(64);
  const alias = native.alias(new Uint8Array(shared));
  assert.equal(Atomics.add(new Int32Array(alias), 0, 5), 0);
  assert.equal(Atomics.load(new Int32Array(shared), 0), 5);
  for (let i = 0; i < 1000; i++) native.alias(new Uint8Array(shared));
  collect();
  // Finalizers run a turn later.
  await turn();
  collect();
  assert.equal(Atomics.load(new Int32Array(shared), 0), 5);
});

test('only memory that is shared has an alias', () => {
  const wrong = [
    new Uint8Array(8),
    new Uint8Array(new SharedArrayBuffer(0)),
    new Int32Array(new SharedArrayBuffer(8)),
    new SharedArrayBuffer(8),
    undefined,
  ] as Uint8Array<SharedArrayBuffer>[];
  for (const it of wrong) assert.throws(() => native.alias(it), { name: 'TypeError', code: 'ERR_ARGUMENT' });
});
