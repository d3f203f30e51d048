// A thread that scribbles over the words by which another one is woken delays it, and ends nobody.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, channel, EMPTY, LayoutError, type Port, select } from '../../src/index.ts';
import { READY, REST, SIDE_0, SIDE_1, SLEEP } from '../../src/link/layout.ts';
import { READY_SUMMARY_WORDS } from '../../src/link/ready-set.ts';
import { LANE_0, TAIL } from '../../src/memory/layout.ts';
import { agentLinks } from '../../src/transport/thread/agent-links.ts';
import { ThreadLink } from '../../src/transport/thread/thread-link.ts';
import { startThread, type TestThread } from '../kit/thread.ts';
import { STEP_MS, turn, until } from '../kit/watchdog.ts';

const HANG = { timeoutMs: STEP_MS };

/** Pages of links that this thread has come to share, and where its words begin there. */
const pages: { readonly page: SharedArrayBuffer; readonly own: number }[] = [];
const { share } = ThreadLink.prototype;
ThreadLink.prototype.share = function (page, side, ...more): void {
  pages.push({ page, own: side === 0 ? SIDE_0 : SIDE_1 });
  share.call(this, page, side, ...more);
};

/** A thread with channels of its own making: this thread attaches, and so makes the page of their link. */
async function speaker(count: number): Promise<{ readonly ports: Port[]; readonly thread: TestThread }> {
  const thread = startThread(
    async (stage) => {
      const made = Array.from({ length: stage.data }, () => stage.millrace.channel());
      stage.say(
        made.map(({ remote }) => remote),
        made.flatMap(({ remote }) => [...remote.transfer]),
      );
      for (;;) {
        const order = (await stage.hear()) as { at: number; value: number };
        if (order.at < 0) break;
        made[order.at]!.port.send(order.value);
      }
      for (const { port } of made) port.close();
    },
    { data: count },
  );
  const remotes = (await thread.next()) as unknown[];
  return { thread, ports: remotes.map((remote) => attach(remote)) };
}

for (const what of ['SLEEP', 'REST', 'ready set'] as const) {
  test(`${what} is scribbled over while select sleeps: everything is heard, and nobody ends`, async () => {
    pages.length = 0;
    const left = await speaker(3);
    await until('the first link', () => pages.length > 0);
    const right = await speaker(3);
    await until('the second link', () => pages.length > 1);
    const words: [SharedArrayBuffer, number][] = [];
    if (what === 'SLEEP') words.push([agentLinks().card.page, SLEEP]);
    if (what === 'REST') words.push([pages[0]!.page, pages[0]!.own + REST]);
    // Marks that are lost: the summary of the set.
    if (what === 'ready set')
      for (let i = 0; i < READY_SUMMARY_WORDS; i++) words.push([pages[0]!.page, pages[0]!.own + READY + i]);
    const scribbler = startThread(
      (stage) => {
        const places = stage.data.map(([page, at]: [SharedArrayBuffer, number]) => [new Int32Array(page), at]);
        const values = stage.data.length > 1 ? [0] : [0, 17, 24, -1, 0, 12345];
        for (let i = 0; stage.gates.get(0) === 0; i++) {
          for (const [page, at] of places) {
            Atomics.store(page, at, values[i % values.length]!);
            if (i % 3 === 0) Atomics.notify(page, at);
          }
          stage.gates.open(1);
        }
      },
      { data: words },
    );
    await scribbler.gates.passAsync(1);
    const ports = [...left.ports, ...right.ports];
    for (let i = 0; i < 12; i++) {
      const { thread, ports: own } = i % 2 === 0 ? left : right;
      const at = i % 3;
      thread.tell({ at, value: i });
      const found = select(ports, HANG) as Port;
      assert.equal(found, own[at]);
      assert.equal(found.receive(), i);
      if (i % 4 === 3) await turn();
    }
    scribbler.gates.open(0);
    await scribbler.done();
    for (const { thread, ports: own } of [left, right]) {
      thread.tell({ at: -1 });
      await thread.done();
      for (const port of own) assert.equal(await port.receiveAsync(), CLOSED);
    }
    for (const port of ports) assert.equal(port.reason, 'closed');
  });
}

test('a thread that only blocks in select is not rung for its event loop', async () => {
  const { ports, thread } = await speaker(2);
  // Linked from here on, and armed.
  thread.tell({ at: 0, value: 0 });
  assert.equal(select(ports, HANG), ports[0]);
  assert.equal(ports[0]!.receive(), 0);
  const { page, own } = pages.at(-1)!;
  const rest = new Int32Array(page);
  await turn();
  assert.equal(select(ports, { timeoutMs: 10 }), EMPTY);
  assert.equal(Atomics.load(rest, own + REST), 0);
  await turn();
  assert.notEqual(Atomics.load(rest, own + REST), 0);
  thread.tell({ at: -1 });
  await thread.done();
  for (const port of ports) port.close();
});

test('a port whose channel was damaged before anybody used it is handed out, and select throws for nobody', () => {
  const [spoilt, sound] = [channel(), channel()];
  const [, far] = [attach(spoilt.remote), attach(sound.remote)];
  Atomics.store(new Int32Array(spoilt.remote.memory), LANE_0 + TAIL, 3);
  const ports = [spoilt.port, sound.port];
  assert.equal(select(ports, HANG), spoilt.port);
  assert.throws(() => spoilt.port.receive(), LayoutError);
  assert.equal(spoilt.port.receive(), CLOSED);
  far.postMessage('as ever');
  assert.equal(select([sound.port], HANG), sound.port);
  assert.equal(sound.port.receive(), 'as ever');
  sound.port.close();
});
