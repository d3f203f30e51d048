// Ports that move when it suits nobody: both ends at once, again before the first move was heard of, and with what is on its way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, type ChannelOptions, channel, type Port } from '../../src/index.ts';
import { STEP_MS } from '../kit/watchdog.ts';

const soon = { timeoutMs: STEP_MS };

/** A port that has left: whoever calls it opens it. */
function leave(port: Port): () => Port {
  const { port: carrier, remote } = channel();
  const far = attach(remote);
  carrier.postMessage({ port }, [port]);
  return () => {
    const { port: moved } = far.receive(soon) as { port: Port };
    carrier.close();
    far.close();
    return moved;
  };
}
function pairHere(options?: ChannelOptions): [Port, Port] {
  const { port, remote } = channel(options);
  return [port, attach(remote)];
}

test('both ends have left, and the one that opens first posts what goes beside the ring', async () => {
  const [one, other] = pairHere();
  const openOne = leave(one);
  const openOther = leave(other);
  const movedOther = openOther();
  movedOther.postMessage(new SharedArrayBuffer(8));
  const movedOne = openOne();
  assert.ok((await movedOne.receiveAsync(soon)) instanceof SharedArrayBuffer);
  movedOne.close();
  movedOther.close();
});

test('what waits goes out once, also where a line is left in the middle of it', async () => {
  const [one, other] = pairHere({ capacityBytes: 4096 });
  one.postMessage({ long: 'x'.repeat(8000) });
  one.postMessage(new SharedArrayBuffer(8));
  for (let i = 0; i < 4; i++) one.postMessage({ i, text: 'y'.repeat(100) });
  const movedOne = leave(one)();
  const movedOther = leave(other)();
  // By hand: what it finds on the old line is the end of that.
  movedOne.moveOutbox();
  movedOther.tryReceive();
  movedOne.moveOutbox();
  assert.equal(((await movedOther.receiveAsync(soon)) as { long: string }).long.length, 8000);
  assert.ok((await movedOther.receiveAsync(soon)) instanceof SharedArrayBuffer);
  for (let i = 0; i < 4; i++) assert.equal(((await movedOther.receiveAsync(soon)) as { i: number }).i, i);
  movedOne.close();
  movedOther.close();
});
