// Descriptors over unix sockets: who may connect, what comes along, and what becomes of too many.
// runtimes: node
// needs: native
import assert from 'node:assert/strict';
import { fstatSync, mkdtempSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, afterEach, test } from 'node:test';
import { DESCRIPTORS_MAX, READABLE } from '../../src/native/primitives.ts';
import { codeOf, descriptors, endPrograms, native, Program } from '../kit/native.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';

const folder = mkdtempSync(join(tmpdir(), 'millrace-native-'));
after(() => rmSync(folder, { recursive: true }));
afterEach(endPrograms);
let paths = 0;
const newPath = (): string => join(folder, `socket-${paths++}`);
const pair = (): [number, number] => {
  const ends = new Int32Array(2);
  native.socketPair(ends);
  return [ends[0]!, ends[1]!];
};
const same = (a: number, b: number): boolean => fstatSync(a).ino === fstatSync(b).ino;
/** Resolves when the descriptor is readable. */
function readable(fd: number): Promise<void> {
  return within(
    'a descriptor to be readable',
    new Promise((resolve) => {
      const watch = native.watch(fd, READABLE, () => {
        native.unwatch(watch);
        resolve();
      });
    }),
  );
}

test('only this user can connect', () => {
  const path = newPath();
  const umask = process.umask(0);
  const listener = native.listen(path);
  process.umask(umask);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.ok(statSync(path).isSocket());
  native.close(listener);
});

test('a connection is made, carries bytes, and has an end', () => {
  const path = newPath();
  const listener = native.listen(path);
  assert.equal(native.accept(listener), -1);
  const client = native.connect(path);
  const server = native.accept(listener);
  assert.equal(native.accept(listener), -1);
  const bytes = new Uint8Array(10);
  assert.equal(native.receive(server, bytes), -1);
  assert.equal(native.send(client, Uint8Array.of(1, 2, 3)), 3);
  assert.equal(native.receive(server, bytes.subarray(2, 4)), 2);
  assert.equal(native.receive(server, bytes.subarray(4)), 1);
  assert.deepEqual([...bytes], [0, 0, 1, 2, 3, 0, 0, 0, 0, 0]);
  native.close(client);
  assert.equal(native.receive(server, bytes), 0);
  assert.equal(
    codeOf(() => native.send(server, bytes)),
    'EPIPE',
  );
  for (const fd of [server, listener]) native.close(fd);
});

test('why there is no connection is said', () => {
  const path = newPath();
  assert.equal(
    codeOf(() => native.connect(path)),
    'ENOENT',
  );
  const listener = native.listen(path);
  assert.equal(
    codeOf(() => native.listen(path)),
    'EADDRINUSE',
  );
  native.close(listener);
  assert.equal(
    codeOf(() => native.connect(path)),
    'ECONNREFUSED',
  );
  assert.equal(
    codeOf(() => native.listen(path)),
    'EADDRINUSE',
  );
  unlinkSync(path);
  native.close(native.listen(path));
  assert.equal(
    codeOf(() => native.listen(join(folder, 'none', 'socket'))),
    'ENOENT',
  );
  assert.equal(
    codeOf(() => native.connect('x'.repeat(108))),
    'ENAMETOOLONG',
  );
  for (const wrong of ['', '\0', 'a\0b', 5, undefined])
    assert.throws(() => native.connect(wrong as string), { name: 'TypeError', code: 'ERR_ARGUMENT' });
});

test('descriptors come with the bytes they were sent with', () => {
  const before = descriptors().length;
  const [one, other] = pair();
  const regions = [1, 2, 3].map((pages) => native.createMemory(pages * 4096));
  const bytes = new Uint8Array(100);
  const into = new Int32Array(4);
  native.send(one, Uint8Array.of(1));
  native.send(one, Uint8Array.of(2, 3), Int32Array.from(regions));
  native.send(one, Uint8Array.of(4), Int32Array.of(regions[0]!));
  // What has no descriptors may come together with what has; two that have some never do.
  const came: number[][] = [];
  for (let all = 0; all < 4; ) {
    all += native.receive(other, bytes, into);
    const here = [...into].filter((fd) => fd >= 0);
    if (here.length > 0) came.push(here);
  }
  assert.deepEqual(
    came.map((it) => it.length),
    [3, 1],
  );
  for (const [i, fd] of came[0]!.entries()) assert.ok(same(fd, regions[i]!) && fd !== regions[i]);
  assert.ok(same(came[1]![0]!, regions[0]!));
  for (const fd of [one, other, ...regions, ...came.flat()]) native.close(fd);
  assert.equal(descriptors().length, before);
});

test('all of them are closed when more come than are asked for', () => {
  for (const asked of [0, 1, 2, 3, 5]) {
    const before = descriptors().length;
    const [one, other] = pair();
    const region = native.createMemory(4096);
    native.send(one, Uint8Array.of(1), new Int32Array(asked + 1).fill(region));
    const into = asked === 0 ? undefined : new Int32Array(asked);
    assert.equal(
      codeOf(() => native.receive(other, new Uint8Array(10), into)),
      'ERR_TOO_MANY_DESCRIPTORS',
    );
    native.send(one, Uint8Array.of(1), new Int32Array(DESCRIPTORS_MAX).fill(region));
    assert.equal(
      codeOf(() => native.receive(other, new Uint8Array(10), into)),
      'ERR_TOO_MANY_DESCRIPTORS',
    );
    for (const fd of [one, other, region]) native.close(fd);
    assert.equal(descriptors().length, before);
  }
});

test('as many as there may be do come', () => {
  const before = descriptors().length;
  const [one, other] = pair();
  native.send(one, Uint8Array.of(1), new Int32Array(DESCRIPTORS_MAX).fill(one));
  const into = new Int32Array(DESCRIPTORS_MAX);
  assert.equal(native.receive(other, new Uint8Array(10), into), 1);
  assert.ok(into.every((fd) => fd > 2));
  for (const fd of [one, other, ...into]) native.close(fd);
  assert.equal(descriptors().length, before);
  const many = new Int32Array(DESCRIPTORS_MAX + 1);
  assert.throws(() => native.send(1, Uint8Array.of(1), many), { code: 'ERR_ARGUMENT' });
  assert.throws(() => native.receive(1, new Uint8Array(1), many), { code: 'ERR_ARGUMENT' });
});

test('a socket that is full takes no more, and none is sent twice', () => {
  const [one, other] = pair();
  const bytes = new Uint8Array(65_536);
  let sent = 0;
  for (let now = native.send(one, bytes); now >= 0; now = native.send(one, bytes)) sent += now;
  const before = descriptors().length;
  assert.equal(native.send(one, bytes, Int32Array.of(one)), -1);
  assert.equal(descriptors().length, before);
  let received = 0;
  for (let now = native.receive(other, bytes); now >= 0; now = native.receive(other, bytes)) received += now;
  assert.equal(received, sent);
  for (const fd of [one, other]) native.close(fd);
  assert.equal(
    codeOf(() => native.send(one, bytes)),
    'EBADF',
  );
  assert.throws(() => native.send(1, new Uint8Array(0)), { code: 'ERR_ARGUMENT' });
});

test('a descriptor that is none is not sent, and the connection goes on', () => {
  const [one, other] = pair();
  assert.equal(
    codeOf(() => native.send(one, Uint8Array.of(1), Int32Array.of(1 << 30))),
    'EBADF',
  );
  assert.equal(
    codeOf(() => native.send(one, Uint8Array.of(1), Int32Array.of(-1))),
    'EBADF',
  );
  assert.equal(native.receive(other, new Uint8Array(1)), -1);
  assert.equal(native.send(one, Uint8Array.of(1)), 1);
  assert.equal(native.receive(other, new Uint8Array(1)), 1);
  for (const fd of [one, other]) native.close(fd);
});

test('another process sends what it has, and is known by what the kernel says of it', {
  timeout: STEP_MS,
}, async () => {
  const path = newPath();
  const listener = native.listen(path);
  const region = native.createMemory(8192);
  const bell = native.createBell();
  const program = new Program('sender', [region, bell]);
  program.tell({ path, count: 2 });
  await readable(listener);
  const connection = native.accept(listener);
  assert.equal(await program.said(), program.pid);

  assert.deepEqual(native.peerCredentials(connection), {
    pid: program.pid,
    uid: process.getuid!(),
    gid: process.getgid!(),
  });
  const into = new Int32Array(1);
  const came: number[] = [];
  for (let i = 0; i < 2; i++) {
    if (i > 0) await readable(connection);
    assert.ok(native.receive(connection, new Uint8Array(1), into) === 1);
    came.push(into[0]!);
  }
  assert.ok(same(came[0]!, region) && native.isBell(came[1]!));
  const [ours, theirs] = [native.map(region, 8192), native.map(came[0]!, 8192)];
  new Int32Array(ours.buffer)[7] = 77;
  assert.equal(new Int32Array(theirs.buffer)[7], 77);
  native.ring(came[1]!);
  assert.equal(native.drain(bell), true);

  const table = Int32Array.of(connection, 1, 0);
  assert.equal(native.poll(table, 1, 0), 0);
  program.tell('end');
  await readable(connection);
  assert.equal(native.poll(table, 1, 0), 1);
  assert.equal(native.receive(connection, new Uint8Array(1)), 0);
  for (const { place } of [ours, theirs]) native.unmap(place);
  for (const fd of [listener, connection, region, bell, ...came]) native.close(fd);
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
  try {
    for (;;) taken.push(native.duplicate(region));
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'EMFILE');
  }
  const codes = [
    () => native.createMemory(4096),
    () => native.createBell(),
    () => native.watch(one, READABLE, () => {}),
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
  assert.deepEqual(codes, new Array(6).fill('EMFILE'));
});

test("a connection that needs no descriptors any more can become Node's", { timeout: STEP_MS }, async () => {
  const [one, other] = pair();
  native.send(other, Uint8Array.of(1), Int32Array.of(other));
  const into = new Int32Array(1);
  assert.equal(native.receive(one, new Uint8Array(1), into), 1);
  native.close(into[0]!);
  // After its watch, too: libuv has let go of the descriptor.
  native.send(other, Uint8Array.of(2));
  await readable(one);
  const socket = new Socket({ fd: one });
  let got = '';
  socket.setEncoding('latin1').on('data', (text) => (got += text));
  native.send(other, new TextEncoder().encode('hello'));
  await until('it has read all', () => got === '\x02hello');
  socket.write('back');
  await readable(other);
  const bytes = new Uint8Array(4);
  assert.equal(native.receive(other, bytes), 4);
  socket.destroy();
  native.close(other);
});
