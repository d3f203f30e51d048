// The primitives as Bun and Deno have them without the addon: what is mapped, what is refused, what is woken, what comes over a socket, and what is left.
// runtimes: bun, deno
// native: ffi
import assert from 'node:assert/strict';
import { ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  BLOCK_MS_MAX,
  DESCRIPTORS_MAX,
  MEMORY_BYTES_MAX,
  NOT_EQUAL,
  READABLE,
  TIMED_OUT,
} from '../../src/native/primitives.ts';
import { codeOf, descriptors, native, Thread } from '../kit/native.ts';
import { STEP_MS, until } from '../kit/watchdog.ts';
import { runtimeKind } from '../runtimes/program.ts';
import { ADDED, BYTES, COUNT_ROUNDS, count, PONG, ping, SWAPPED, sleepWhile } from './parts.ts';

const folder = mkdtempSync(join(tmpdir(), 'millrace-ffi-'));
after(() => rmSync(folder, { recursive: true }));
const mappings = (): number => readFileSync('/proc/self/maps', 'utf8').split('memfd:millrace').length - 1;
const pair = (): [number, number] => {
  const ends = new Int32Array(2);
  native.socketPair(ends);
  return [ends[0]!, ends[1]!];
};
declare const Bun: { gc(force: boolean): void };
function collector(): () => void {
  if (runtimeKind === 'bun') return () => Bun.gc(true);
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
const collect = collector();

test('a region is zeros, the same bytes wherever it is mapped, and is unmapped at once', () => {
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
  const words = new Int32Array(one.buffer, 0, 100);
  assert.deepEqual([native.unmap(one.place), native.unmap(other.place)], [true, true]);
  assert.deepEqual([one.buffer.byteLength, words[0], mappings()], [0, undefined, 0]);
  assert.throws(() => Atomics.add(words, 0, 1), { name: /TypeError|RangeError/ });
  for (const call of [() => native.wait(one.place, 0, 0, 10), () => native.wake(one.place, 0, 1)])
    assert.equal(codeOf(call), 'ERR_UNMAPPED');
  assert.equal(native.unmap(one.place), false);
});

test('a view keeps its memory; what nobody looks at is unmapped, and its place refused', async () => {
  const region = native.createMemory(1 << 20);
  const kept = ((): { words: Int32Array; place: number } => {
    const { buffer, place } = native.map(region, 1 << 20);
    return { words: new Int32Array(buffer, 8), place };
  })();
  const places = Array.from({ length: 20 }, () => native.map(region, 1 << 20).place);
  await until('only one is mapped', () => {
    collect();
    return mappings() === 1;
  });
  for (let i = 0; i < 5; i++) collect();
  kept.words[1] = 5;
  assert.equal(native.wait(kept.place, 3, 4, 0), NOT_EQUAL);
  assert.equal(native.wait(kept.place, 3, 5, 0), TIMED_OUT);
  await until('all places are refused', () =>
    places.every((place) => codeOf(() => native.wake(place, 0, 1)) === 'ERR_UNMAPPED'),
  );
  native.unmap(kept.place);
  native.close(region);
});

test('many regions come and go, and leave no descriptor and no mapping', () => {
  const before = descriptors().length;
  for (let i = 0; i < 1000; i++) {
    const region = native.createMemory(4096);
    const { buffer, place } = native.map(region, 4096);
    native.close(region);
    new Int32Array(buffer)[0] = i;
    assert.equal(native.unmap(place), true);
  }
  assert.equal(mappings(), 0);
  assert.equal(descriptors().length, before);
});

test('what is no sealed memory, or has another size, is refused and not mapped', () => {
  const before = descriptors().length;
  const region = native.createMemory(4096);
  const bell = native.createBell();
  const [one, other] = pair();
  // In memory, too, but without a seal. Deno gives no descriptor of the system's.
  const unsealed = runtimeKind === 'bun' ? openSync('/dev/shm/millrace-ffi-test', 'w+') : bell;
  if (unsealed !== bell) {
    rmSync('/dev/shm/millrace-ffi-test');
    ftruncateSync(unsealed, 4096);
  }
  for (const each of [bell, one, unsealed])
    assert.equal(
      codeOf(() => native.map(each, 4096)),
      'ERR_NOT_SEALED',
    );
  for (const bytes of [1, 4095, 4097, 1 << 20])
    assert.equal(
      codeOf(() => native.map(region, bytes)),
      'ERR_MEMORY_SIZE',
    );
  for (const fd of new Set([region, bell, one, other, unsealed])) native.close(fd);
  assert.equal(
    codeOf(() => native.map(region, 4096)),
    'EBADF',
  );
  assert.equal(
    codeOf(() => native.createMemory(MEMORY_BYTES_MAX + 1)),
    'ERR_ARGUMENT',
  );
  assert.equal(descriptors().length, before);
  assert.equal(mappings(), 0);
});

test('an error names the call', () => {
  assert.throws(() => native.close(1 << 30), {
    name: 'Error',
    code: 'EBADF',
    syscall: 'close',
    errno: -9,
    message: /^EBADF: .+, close$/,
  });
});

test('a sleep ends by its time, and does not begin on another value', () => {
  const region = native.createMemory(4096);
  const { buffer, place } = native.map(region, 4096);
  const words = new Int32Array(buffer);
  const started = performance.now();
  assert.equal(native.wait(place, 1023, 0, 30), TIMED_OUT);
  assert.ok(performance.now() - started >= 29);
  words[5] = -3;
  assert.equal(native.wait(place, 5, 0, 1000), NOT_EQUAL);
  assert.equal(native.wait(place, 5, -3, 1.5), TIMED_OUT);
  assert.equal(native.wake(place, 5, 1), 0);
  for (const call of [
    () => native.wait(place, 1024, 0, 0),
    () => native.wait(place, -1, 0, 0),
    () => native.wait(place, 0, 0, BLOCK_MS_MAX + 1),
    () => native.wait(place, 0, 0, Number.NaN),
    () => native.wake(place, 0.5, 1),
  ])
    assert.throws(call, { name: 'TypeError', code: 'ERR_ARGUMENT' });
  native.unmap(place);
  native.close(region);
});

test('a futex wakes threads, both ways, and Atomics are exact between them', { timeout: STEP_MS }, async () => {
  const region = native.createMemory(BYTES);
  const { buffer, place } = native.map(region, BYTES);
  const words = new Int32Array(buffer);
  const adder = new Thread('count', { region });
  assert.equal(await adder.said(), 'ready');
  count(words, COUNT_ROUNDS);
  assert.equal(await adder.said(), 'counted');
  assert.deepEqual([words[ADDED], words[SWAPPED]], [2 * COUNT_ROUNDS, 2 * COUNT_ROUNDS]);
  const worker = new Thread('pong', { region });
  assert.equal(await worker.said(), 'ready');
  assert.equal(ping(words, place), 0);
  assert.equal(await worker.said(), 0);
  native.unmap(place);
  native.close(region);
});

test('a thread that waits in slices can be terminated', { timeout: STEP_MS }, async () => {
  const region = native.createMemory(BYTES);
  const { buffer, place } = native.map(region, BYTES);
  const worker = new Thread('stuck', { region });
  sleepWhile(new Int32Array(buffer), place, PONG, 0);
  await worker.terminate();
  native.unmap(place);
  native.close(region);
});

test('a bell is drained of all its rings at once, and can be told from what is none', () => {
  const bell = native.createBell();
  assert.equal(native.drain(bell), false);
  for (let i = 0; i < 3; i++) native.ring(bell);
  assert.equal(native.drain(bell), true);
  assert.equal(native.drain(bell), false);
  const [one, other] = pair();
  const region = native.createMemory(4096);
  assert.equal(native.isBell(bell), true);
  for (const fd of [one, other, region, 1 << 30]) assert.equal(native.isBell(fd), false);
  for (const fd of [bell, one, other, region]) native.close(fd);
  for (const call of [() => native.ring(bell), () => native.drain(bell)]) assert.equal(codeOf(call), 'EBADF');
  assert.equal(
    codeOf(() => native.watch(bell, READABLE, () => {})),
    'ERR_NO_EVENT_LOOP',
  );
});

test('a connection is made by path or by name, carries bytes, knows its peer, and has an end', () => {
  for (const path of [join(folder, 'socket'), `\0millrace-ffi-${process.pid}`]) {
    assert.equal(
      codeOf(() => native.connect(path)),
      path.startsWith('\0') ? 'ECONNREFUSED' : 'ENOENT',
    );
    const listener = native.listen(path);
    assert.equal(
      codeOf(() => native.listen(path)),
      'EADDRINUSE',
    );
    if (!path.startsWith('\0')) assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(native.accept(listener), -1);
    const client = native.connect(path);
    const server = native.accept(listener);
    assert.deepEqual(native.peerCredentials(server), {
      pid: process.pid,
      uid: process.getuid!(),
      gid: process.getgid!(),
    });
    const bytes = new Uint8Array(10);
    assert.equal(native.receive(server, bytes), -1);
    assert.equal(native.send(client, Uint8Array.of(1, 2, 3)), 3);
    assert.equal(native.receive(server, bytes.subarray(2, 4)), 2);
    assert.equal(native.receive(server, bytes.subarray(4)), 1);
    assert.deepEqual([...bytes], [0, 0, 1, 2, 3, 0, 0, 0, 0, 0]);
    const table = Int32Array.of(server, 1, 0);
    assert.equal(native.poll(table, 1, 0), 0);
    native.close(client);
    assert.equal(native.poll(table, 1, 1000), 1);
    assert.equal(native.receive(server, bytes), 0);
    assert.equal(
      codeOf(() => native.send(server, bytes)),
      'EPIPE',
    );
    for (const fd of [server, listener]) native.close(fd);
  }
  assert.equal(
    codeOf(() => native.connect('x'.repeat(108))),
    'ENAMETOOLONG',
  );
  for (const wrong of ['', '\0', 'a\0b', 5, undefined])
    assert.throws(() => native.connect(wrong as string), { name: 'TypeError', code: 'ERR_ARGUMENT' });
});

test('descriptors come with the bytes they were sent with; too many of them are all closed', () => {
  const before = descriptors().length;
  const [one, other] = pair();
  const region = native.createMemory(4096);
  const into = new Int32Array(4);
  native.send(one, Uint8Array.of(2, 3), Int32Array.of(region, one, region));
  assert.equal(native.receive(other, new Uint8Array(100), into), 2);
  assert.equal(into[3], -1);
  const came = into.subarray(0, 3);
  const [ours, theirs] = [native.map(region, 4096), native.map(came[2]!, 4096)];
  new Int32Array(ours.buffer)[7] = 77;
  assert.equal(new Int32Array(theirs.buffer)[7], 77);
  for (const { place } of [ours, theirs]) native.unmap(place);
  for (const fd of came) native.close(fd);

  const room = new Int32Array(DESCRIPTORS_MAX);
  native.send(one, Uint8Array.of(1), new Int32Array(DESCRIPTORS_MAX).fill(one));
  assert.equal(native.receive(other, new Uint8Array(10), room), 1);
  for (const fd of room) native.close(fd);
  for (const asked of [0, 1, 2, 3, 5]) {
    native.send(one, Uint8Array.of(1), new Int32Array(asked + 1).fill(region));
    const few = asked === 0 ? undefined : new Int32Array(asked);
    assert.equal(
      codeOf(() => native.receive(other, new Uint8Array(10), few)),
      'ERR_TOO_MANY_DESCRIPTORS',
    );
  }
  assert.equal(
    codeOf(() => native.send(one, Uint8Array.of(1), Int32Array.of(-1))),
    'EBADF',
  );
  assert.equal(native.receive(other, new Uint8Array(1)), -1);
  for (const fd of [one, other, region]) native.close(fd);
  assert.equal(descriptors().length, before);
});

test('a socket that is full takes no more, and none is sent twice', () => {
  const [one, other] = pair();
  const bytes = new Uint8Array(100_000);
  let sent = 0;
  for (let now = native.send(one, bytes); now >= 0; now = native.send(one, bytes)) sent += now;
  assert.equal(native.send(one, bytes, Int32Array.of(one)), -1);
  let received = 0;
  for (let now = native.receive(other, bytes); now >= 0; now = native.receive(other, bytes)) received += now;
  assert.equal(received, sent);
  for (const fd of [one, other]) native.close(fd);
});

test('descriptors come with the message that they were sent with, and not with one before that has none', () => {
  const [one, other] = pair();
  const region = native.createMemory(4096);
  const before = descriptors().length;
  const came = new Int32Array(1);
  for (const [byte, sent] of [[1], [2, 1], [3], [4, 2]] as const)
    native.send(one, Uint8Array.of(byte), new Int32Array(sent ?? 0).fill(region));
  const byte = new Uint8Array(1);
  assert.deepEqual([native.receive(other, byte, came), byte[0], came[0]], [1, 1, -1]);
  assert.deepEqual([native.receive(other, byte, came), byte[0]], [1, 2]);
  native.close(came[0]!);
  assert.deepEqual([native.receive(other, byte, came), byte[0], came[0]], [1, 3, -1]);
  assert.equal(
    codeOf(() => native.receive(other, byte, came)),
    'ERR_TOO_MANY_DESCRIPTORS',
  );
  assert.equal(descriptors().length, before);
  for (const fd of [one, other, region]) native.close(fd);
});

test('a process with no descriptors left says so, and has lost neither any nor what came', { timeout: STEP_MS }, () => {
  const [one, other] = pair();
  const region = native.createMemory(4096);
  const came = new Int32Array(2);
  const byte = new Uint8Array(1);
  native.send(one, Uint8Array.of(42), Int32Array.of(region, region));
  const taken: number[] = [];
  assert.equal(
    codeOf(() => {
      for (;;) taken.push(native.duplicate(region));
    }),
    'EMFILE',
  );
  const codes = [
    () => native.createMemory(4096),
    () => native.createBell(),
    () => native.connect(join(folder, 'none')),
    () => native.receive(other, byte, came),
  ].map(codeOf);
  const last = taken.pop()!;
  native.close(last);
  // With room for one of two, neither is kept.
  codes.push(codeOf(() => native.receive(other, byte, came)));
  const same = native.duplicate(region);
  for (const fd of [same, taken.pop()!]) native.close(fd);
  const lengths = [native.receive(other, byte, came), native.receive(other, byte, came)];
  for (const fd of [one, other, region, ...taken]) native.close(fd);
  assert.equal(same, last);
  assert.deepEqual([lengths, byte[0]], [[1, -1], 42]);
  assert.deepEqual(codes, new Array(5).fill('EMFILE'));
});

test('an alias is the memory of a SharedArrayBuffer, and keeps it', async () => {
  const make = (): [ArrayBuffer, ArrayBuffer] => {
    const bytes = new Uint8Array(new SharedArrayBuffer(1 << 16), 8, 4096);
    bytes[1] = 42;
    return [native.alias(bytes), native.alias(bytes)];
  };
  const [one, other] = make();
  for (let i = 0; i < 5; i++) collect();
  new Uint8Array(one)[4095] = 9;
  assert.deepEqual([new Uint8Array(other)[1], new Uint8Array(other)[4095]], [42, 9]);
  for (const it of [new Uint8Array(8), new Uint8Array(new SharedArrayBuffer(0)), undefined])
    assert.throws(() => native.alias(it as never), { name: 'TypeError', code: 'ERR_ARGUMENT' });
});
