import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LayoutError, UsageError } from '../errors.ts';
import { createHandle, lacksTransfer, type OpenedHandle, openHandle, type Remote, transferOf } from './handle.ts';
import { createNatives } from './native-pair.ts';
import { allocateRegion, type Region } from './region.ts';

const TEXTS = { count: 16, bytes: 1024 };

function handle(region: Region<SharedArrayBuffer> = allocateRegion(1024, 1024, 1000)): {
  remote: Remote;
  close(): void;
} {
  const { near, far } = createNatives();
  const remote = createHandle(region, 1, { far }, null, TEXTS, null);
  return {
    remote,
    close() {
      for (const { tether, side } of [near, far]) {
        tether.close();
        side.close();
      }
    },
  };
}
const handleError = (error: unknown): boolean => error instanceof UsageError && error.code === 'ERR_HANDLE';

test('a handle opens once; the second time is refused with ERR_HANDLE', () => {
  const { remote, close } = handle();
  const opened: OpenedHandle = openHandle(remote);
  assert.equal(opened.region.memory, remote.memory);
  assert.throws(() => openHandle(remote), handleError);
  close();
});

test('what is no handle is refused with ERR_HANDLE and says what it is', () => {
  for (const value of [undefined, null, 5, 'text', {}, [], new SharedArrayBuffer(8), { type: 'other' }]) {
    assert.throws(() => openHandle(value), handleError, String(value));
  }
});

test('a handle of another version is a LayoutError that names both versions', () => {
  const { remote, close } = handle();
  for (const version of [0, 2, '1', undefined]) {
    assert.throws(
      () => openHandle({ ...remote, version }),
      (error) => error instanceof LayoutError && /version/.test(error.message),
    );
  }
  close();
});

test('a handle that has lost its native ports is refused, and the message says how to keep them', () => {
  const { remote, close } = handle();
  for (const lost of [{ tether: undefined }, { side: {} }, { tether: null, side: null }]) {
    assert.throws(
      () => openHandle({ ...remote, ...lost }),
      (error) => handleError(error) && /remote\.transfer/.test((error as Error).message),
    );
  }
  openHandle(remote);
  close();
});

test('the region of a one-way ring, or damaged memory, is a LayoutError', () => {
  const oneWay = handle(allocateRegion(1024, 0, 1000));
  assert.throws(() => openHandle(oneWay.remote), LayoutError);
  oneWay.close();
  const { remote, close } = handle();
  new Int32Array(remote.memory)[0] = 0;
  assert.throws(() => openHandle(remote), LayoutError);
  close();
});

test('the transfer list holds the native ports and is not part of what is cloned', () => {
  const { remote, close } = handle();
  assert.deepEqual([...remote.transfer], [remote.tether, remote.side, ...(remote.pass ? [remote.pass] : [])]);
  assert.equal(Object.keys(remote).includes('transfer'), false);
  close();
});

test("transferOf() lists the native ports of a handle, its creator's or one that arrived, and leaves it good", () => {
  const { remote, close } = handle();
  const arrived = { ...remote };
  assert.equal('transfer' in arrived, false);
  assert.deepEqual(transferOf(arrived), remote.transfer);
  assert.deepEqual(transferOf(remote), remote.transfer);
  openHandle(arrived);
  close();
});

test('transferOf() refuses what is no handle, or has lost its native ports, with ERR_HANDLE', () => {
  const { remote, close } = handle();
  for (const value of [undefined, null, 5, {}, { remote }, { ...remote, tether: {} }, { ...remote, side: undefined }]) {
    assert.throws(
      () => transferOf(value),
      (error) => handleError(error) && /^Cannot pass on/.test((error as Error).message),
    );
  }
  close();
});

test('lacksTransfer() finds a handle, or one in an object, whose native ports are not in the list, and takes any value', () => {
  const { remote, close } = handle();
  for (const value of [undefined, null, 5, 'text', Symbol('s'), () => {}, {}, [], [null, undefined]]) {
    assert.equal(lacksTransfer(value, []), false, String(value));
  }
  for (const value of [remote, { remote }, [remote]]) {
    assert.equal(lacksTransfer(value, []), true);
    assert.equal(lacksTransfer(value, [remote.tether]), true);
    assert.equal(lacksTransfer(value, remote.transfer), false);
  }
  close();
});
