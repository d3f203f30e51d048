// Inside cork nothing is published before it must be; and it must be as soon as somebody here waits for the other side.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, channel, EMPTY, type Port } from '../../src/index.ts';
import { SIDE_VALUES_MAX } from '../../src/limits.ts';
import { cases, Random, seed } from '../kit/prng.ts';
import { type Role, startThread } from '../kit/thread.ts';
import { STEP_MS } from '../kit/watchdog.ts';

/** Answers the last of `count` messages. */
const answers: Role = (stage) => {
  const port = stage.port();
  for (let i = 0; i < stage.data.count; i++) {
    if (port.receive({ timeoutMs: stage.data.limitMs }) === stage.millrace.EMPTY) throw new Error(`hang: after ${i}`);
  }
  port.send('answer');
};

for (const [what, post] of Object.entries({
  'more than the ring holds': (port: Port) => port.postMessage('x'.repeat(100)),
  'one message larger than the ring': (port: Port) => port.postMessage('x'.repeat(40_000)),
  'more native values than may be on their way': (port: Port) => port.postMessage(1, [new ArrayBuffer(8)]),
})) {
  test(`posting ${what} and blocking for the answer, all inside cork`, async () => {
    const { port, remote } = channel({ capacityBytes: 1024 });
    const count = what.startsWith('one') ? 10 : SIDE_VALUES_MAX + 40;
    const thread = startThread(answers, { remote, data: { count, limitMs: STEP_MS / 2 } });
    const answer = port.cork(() => {
      for (let i = 0; i < count; i++) post(port);
      return port.receive({ timeoutMs: STEP_MS / 2 });
    });
    assert.equal(answer, 'answer');
    await thread.done();
    port.close();
  });

  test(`sending ${what} and blocking for the answer, all inside cork`, async () => {
    const { port, remote } = channel({ capacityBytes: 1024 });
    const count = what.startsWith('one') ? 10 : SIDE_VALUES_MAX + 40;
    const thread = startThread(answers, { remote, data: { count, limitMs: STEP_MS / 2 } });
    const answer = port.cork(() => {
      for (let i = 0; i < count; i++) {
        if (what.startsWith('more native')) {
          const end = performance.now() + STEP_MS / 2;
          while (!port.trySend(1, [new ArrayBuffer(8)]) && performance.now() < end);
        } else assert.equal(port.send(what.startsWith('one') ? 'x'.repeat(40_000) : 'x'.repeat(100)), true);
      }
      return port.receive({ timeoutMs: STEP_MS / 2 });
    });
    assert.equal(answer, 'answer');
    await thread.done();
    port.close();
  });
}

test('polling for the answer inside cork', async () => {
  const { port, remote } = channel();
  const thread = startThread(answers, { remote, data: { count: 3, limitMs: STEP_MS / 2 } });
  port.cork(() => {
    for (let i = 0; i < 3; i++) port.postMessage(i);
    const end = performance.now() + STEP_MS / 2;
    let answer: unknown = EMPTY;
    while (answer === EMPTY && performance.now() < end) answer = port.tryReceive();
    assert.equal(answer, 'answer');
  });
  await thread.done();
  port.close();
});

/** One way of sending inside cork. Says whether it was told that there is no room. */
const SENDS: readonly ((port: Port, value: unknown, native: readonly unknown[]) => boolean)[] = [
  (port, value, native) => {
    port.postMessage(value, native);
    return false;
  },
  (port, value, native) => !port.trySend(value, native),
  (port, value) => !port.send(value, { timeoutMs: 0 }),
  (port, value) => !port.send(value, { timeoutMs: 1 }),
];

test(`whoever waits inside cork, or is told that it is full, has shown what was sent before (SEED=${seed})`, () => {
  for (let index = 0; index < cases(150, 5000); index++) {
    const random = new Random(seed, index);
    const { port, remote } = channel({ capacityBytes: 1 << random.int(10, 13) });
    const far = attach(remote);
    let coming = 0;
    let taken = 0;
    const take = (): boolean => {
      const value = far.tryReceive();
      if (value === EMPTY) return false;
      assert.equal((value as { i: number }).i, taken, `CASE=${index}`);
      taken++;
      return true;
    };
    const shows = (why: string): void => {
      if (coming === taken) return;
      // Of a long message perhaps a part.
      const before = far.stats().receivedBytes;
      const seen = take() || far.stats().receivedBytes !== before;
      assert.equal(seen, true, `${why} SEED=${seed} CASE=${index}: ${coming - taken} sent, none seen`);
    };
    port.cork(() => {
      for (let step = 0; step < 30; step++) {
        const many = random.chance(0.1) ? SIDE_VALUES_MAX + 10 : random.int(1, 20);
        const text = 'x'.repeat(random.chance(0.1) ? 5000 : random.skewed(200));
        const native = random.chance(0.3);
        const send = random.pick(SENDS);
        for (let i = 0; i < many; i++) {
          const refused = send(port, { i: coming, text }, native ? [new ArrayBuffer(1)] : []);
          if (refused) {
            shows('full');
            break;
          }
          coming++;
        }
        if (random.chance(0.3)) {
          assert.equal(random.chance(0.5) ? port.receive({ timeoutMs: 0.1 }) : port.tryReceive(), EMPTY);
          shows('waiting');
        }
        if (random.chance(0.2)) while (take());
      }
    });
    while (taken < coming) {
      if (!take()) port.tryReceive();
    }
    port.close();
    far.close();
  }
});
