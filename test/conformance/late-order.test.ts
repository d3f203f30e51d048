// What has come beside a ring at last is read in its place, at whatever moment of a look it comes; and who was promised a message that turns
// out to be lost is told of that one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KIND_ELSEWHERE, KIND_PACKED, KIND_SIDE } from '../../src/frame/header.ts';
import { attach, CLOSED, channel, EMPTY, type Port, select, selectAsync } from '../../src/index.ts';
import { CLOSE_CODES, CLOSED as CLOSED_WORD, MOVES, SPILLED } from '../../src/memory/layout.ts';
import { openRegion } from '../../src/memory/region.ts';
import { MEMORY, SPILL } from '../../src/transport/thread/native-values.ts';
import { Stranger } from '../kit/stranger.ts';
import { STEP_MS } from '../kit/watchdog.ts';

const HANG = { timeoutMs: STEP_MS };
/** Where a value has gone that nobody has heard of yet: far behind all that came on that line. */
const FAR_BEHIND = 100 << 8;

/** A value as it lies in a ring. */
function packed(value: unknown): Uint8Array {
  const { port, remote } = channel();
  const { lanes, views } = openRegion((remote as unknown as { memory: SharedArrayBuffer }).memory);
  port.postMessage(value);
  const at = lanes[0].data;
  const bytes = views.bytes.slice(at + 8, at + 8 + (views.words[at >>> 2] as number));
  port.close();
  return bytes;
}

/** What looks for messages in native ports, told before the one that counts. */
function atLook(wanted: number, then: () => void): () => void {
  const threads = process.getBuiltinModule('node:worker_threads') as { receiveMessageOnPort(port: unknown): unknown };
  const take = threads.receiveMessageOnPort;
  let looks = 0;
  threads.receiveMessageOnPort = (port) => {
    if (++looks === wanted) then();
    return take(port);
  };
  return () => {
    threads.receiveMessageOnPort = take;
  };
}

const ways: Readonly<Record<string, (port: Port) => Promise<unknown>>> = {
  async tryReceive(port) {
    return port.tryReceive();
  },
  async select(port) {
    return select([port], { timeoutMs: 0 }) === EMPTY ? EMPTY : port.receive(HANG);
  },
  async selectAsync(port) {
    return (await selectAsync([port], { timeoutMs: 0 })) === EMPTY ? EMPTY : port.receive(HANG);
  },
};

for (const [way, ask] of Object.entries(ways)) {
  test(`${way}: memory and a left-over come at any moment of a look, and what lies in the memory comes first`, async () => {
    const large = packed('large');
    const memory = new SharedArrayBuffer(1024);
    new Uint8Array(memory).set(large);
    for (let look = 1; look <= 12; look++) {
      const stranger = new Stranger();
      stranger.set(MOVES, 1);
      stranger.write(KIND_ELSEWHERE, large.length, KIND_PACKED, 1, 0);
      stranger.set(SPILLED, 1);
      stranger.set(CLOSED_WORD, CLOSE_CODES.closed);
      const restore = atLook(look, () => {
        stranger.say([MEMORY, 0, 1, 0, memory]);
        stranger.say([SPILL, 0, [[KIND_PACKED, packed('left over')]]]);
      });
      const read: unknown[] = [];
      try {
        const until = performance.now() + STEP_MS;
        while (read.length < 3 && performance.now() < until) {
          const value = await ask(stranger.port);
          if (value !== EMPTY) read.push(value);
        }
      } finally {
        restore();
      }
      assert.deepEqual(read, ['large', 'left over', CLOSED], `at look ${look}`);
      stranger.close();
    }
  });
}

for (const way of ['select', 'selectAsync'] as const) {
  test(`${way} hands out a port whose value is lost, and its peer moves on before anybody reads: that value is lost, and nothing else`, async () => {
    const stranger = new Stranger();
    const { port: other, remote } = channel();
    const far = attach(remote);
    stranger.write(KIND_SIDE, 0, FAR_BEHIND);
    const ports = [other, stranger.port];
    assert.equal(way === 'select' ? select(ports, HANG) : await selectAsync(ports, HANG), stranger.port);
    stranger.moves();
    assert.throws(() => stranger.port.receive(HANG), { code: 'ERR_DECODE' });
    assert.deepEqual([stranger.port.reason, stranger.port.tryReceive()], [undefined, EMPTY]);
    for (const port of [other, far]) port.close();
    stranger.close();
  });
}
