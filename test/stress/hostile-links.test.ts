// A peer that scribbles over the page of its link, the words of its channels by which sleepers are woken, and the page of our
// thread, while messages flow. It may keep its own messages from being heard at once. Nobody hangs, nothing is lost, and no third
// thread is hurt: its channels stay in time, whichever way we wait for them.
// asked for: node-22, node-24, node-26
// watchdog: 300 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, EMPTY, features, type Port, type Remote, select } from '../../src/index.ts';
import { LINK_PAGE_BYTES, READY, REST, RESTS, SIDE_0, SIDE_1, SLEEP } from '../../src/link/layout.ts';
import { ownAgent } from '../../src/link/own-agent.ts';
import { READY_SUMMARY_WORDS, readyWords } from '../../src/link/ready-set.ts';
import { ATTACHED, SIDE_0 as END_0, SIDE_1 as END_1, INTERRUPT, MOVES, PARK, SEAT } from '../../src/memory/layout.ts';
import { linkPages } from '../kit/link-pages.ts';
import { cases, seed } from '../kit/prng.ts';
import { startThread, type TestThread } from '../kit/thread.ts';
import { STEP_MS, until, within } from '../kit/watchdog.ts';

const HANG = { timeoutMs: STEP_MS };
/** Half of the messages take less, on a machine that does other things too. */
const DELAY_MS_MAX = 1000;
const ROUNDS = cases(12, 2_000);

/** A thread with channels of its own making, which sends what it is told. */
interface Speaker {
  readonly ports: readonly Port[];
  readonly thread: TestThread;
  readonly memories: readonly SharedArrayBuffer[];
}
async function speaker(count: number): Promise<Speaker> {
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
        made[order.at]!.port.send({ value: order.value, sent: performance.timeOrigin + performance.now() });
      }
      for (const { port } of made) port.close();
    },
    { data: count },
  );
  const remotes = (await thread.next()) as { memory: SharedArrayBuffer }[];
  const ports = remotes.map((remote) => attach(remote));
  const memories = remotes.map(({ memory }) => memory);
  const seated = (memory: SharedArrayBuffer): boolean => {
    const words = new Int32Array(memory);
    return words[END_0 + SEAT] !== 0 && words[END_1 + SEAT] !== 0;
  };
  await until('they are linked', () => memories.every(seated));
  return { ports, thread, memories };
}

type Places = readonly (readonly [SharedArrayBuffer, number])[];
interface Attack {
  readonly places: (hostile: Speaker, page: SharedArrayBuffer, own: number) => Places;
  readonly values: readonly number[];
  /** Wakes whoever sleeps there. */
  readonly notifies: boolean;
}
const words = (page: SharedArrayBuffer, from: number, count: number): Places =>
  Array.from({ length: count }, (_, i) => [page, from + i] as const);
const agent = (): Places => [[ownAgent().page, SLEEP]];

const attacks: Readonly<Record<string, Attack>> = {
  'marks for everybody': {
    places: (_, page, own) => words(page, own + READY, readyWords(READY_SUMMARY_WORDS)),
    values: [-1],
    notifies: false,
  },
  'marks and rings': {
    places: (_, page, own) => [
      ...words(page, own + READY, READY_SUMMARY_WORDS + 1),
      ...words(page, own + REST, 1),
      ...agent(),
    ],
    values: [0, -1],
    notifies: true,
  },
  'no marks, no rings': {
    places: (_, page, own) => [
      ...words(page, own + READY, READY_SUMMARY_WORDS),
      ...words(page, own + REST, 1),
      ...agent(),
    ],
    values: [0],
    notifies: false,
  },
  'sleeps that are none': {
    places: (_, page) => [...[SIDE_0, SIDE_1].flatMap((side) => words(page, side + REST, 1)), ...agent()],
    values: [17, 18, 20, 24, 16 | 32 | 64 | 128 | 8, -1, 0],
    notifies: true,
  },
  'its own channels': {
    places: ({ memories }) =>
      memories.flatMap((memory) =>
        [END_0, END_1].flatMap((end) => [PARK, INTERRUPT, SEAT].map((word) => [memory, end + word] as const)),
      ),
    values: [0, 17, 24, 8 | 16 | 32, -1, 8193, 0x7fffffff, 1],
    notifies: true,
  },
  'where its ends are': {
    places: ({ memories }) =>
      memories.flatMap((memory) =>
        [END_0, END_1].flatMap((end) => [MOVES, ATTACHED].map((word) => [memory, end + word] as const)),
      ),
    values: [0, 1, 2, 16, 17, -1, 0x7fffffff],
    notifies: false,
  },
  'anything anywhere': {
    places: ({ memories }, page) => [
      ...words(page, 0, LINK_PAGE_BYTES >> 2),
      ...[SIDE_0, SIDE_1].flatMap((side) => [...words(page, side + REST, 1), ...words(page, side + RESTS, 1)]),
      ...memories.flatMap((memory) =>
        [END_0, END_1].flatMap((end) => [PARK, SEAT].map((word) => [memory, end + word] as const)),
      ),
      ...agent(),
    ],
    values: [0, 17, 24, -1, 1, 0x7fffffff, 12345],
    notifies: true,
  },
};

function scribbler(attack: Attack, places: Places): TestThread {
  return startThread(
    (stage) => {
      const { places, values, notifies, seed } = stage.data;
      const targets = places.map(([page, at]: [SharedArrayBuffer, number]) => [new Int32Array(page), at]);
      let state = seed | 1;
      const bits = (): number => (state = (Math.imul(state, 1664525) + 1013904223) | 0) >>> 8;
      stage.gates.open(1);
      for (let i = 0; stage.gates.get(0) === 0; i++) {
        // In turn for a while, then at random: some of it must come fast, some in every order.
        const [page, at] = targets[(i & 4096) === 0 ? i % targets.length : bits() % targets.length]!;
        Atomics.store(page, at, values[bits() % values.length]!);
        if (notifies && i % 3 === 0) Atomics.notify(page, at);
      }
    },
    { data: { places, values: attack.values, notifies: attack.notifies, seed: seed | 0 } },
  );
}

type How = 'receive' | 'select' | 'event loop';
type Told = { readonly value: number; readonly sent: number };

async function play(attack: Attack, how: How): Promise<void> {
  linkPages.length = 0;
  const hostile = await speaker(3);
  const { page, own } = linkPages.at(-1)!;
  const honest = await speaker(3);
  const all = [...hostile.ports, ...honest.ports];
  const { thread: attacker } = { thread: scribbler(attack, attack.places(hostile, page, own)) };
  await attacker.gates.passAsync(1);

  const delays: number[] = [];
  /** What was sent on each port and has not been read. */
  const due = new Map<Port, number[]>(all.map((port) => [port, []]));
  const took = (port: Port, message: unknown): void => {
    const { value, sent } = message as Told;
    assert.equal(value, due.get(port)!.shift(), 'in order, nothing lost');
    if (honest.ports.includes(port)) delays.push(performance.timeOrigin + performance.now() - sent);
  };
  if (how === 'event loop') for (const port of hostile.ports) port.on('message', (message) => took(port, message));
  for (let i = 0; i < ROUNDS; i++) {
    const { thread, ports } = i % 2 === 0 ? hostile : honest;
    const at = i % 3;
    const port = ports[at]!;
    due.get(port)!.push(i);
    thread.tell({ at, value: i });
    if (how === 'receive') took(port, port.receive(HANG));
    else if (how === 'event loop') {
      if (ports === honest.ports) took(port, await port.receiveAsync(HANG));
    } else {
      const found = select(all, HANG);
      assert.equal(found, port);
      took(port, port.receive(HANG));
      if (i % 4 === 3) await new Promise((resolve) => setTimeout(resolve));
    }
  }
  attacker.gates.open(0);
  await attacker.done();
  const median = delays.sort((a, b) => a - b)[delays.length >> 1] as number;
  assert.ok(median < DELAY_MS_MAX, `${median} ms`);
  // What it kept us from hearing is there all the same.
  for (const { thread } of [hostile, honest]) thread.tell({ at: -1 });
  await within('both', Promise.all([hostile.thread.done(), honest.thread.done()]));
  for (const port of hostile.ports) {
    for (let message = port.tryReceive(); message !== EMPTY && message !== CLOSED; message = port.tryReceive())
      took(port, message);
    port.close();
  }
  for (const [port, left] of due) assert.deepEqual(left, [], `of ${all.indexOf(port)}`);
  for (const port of honest.ports) assert.equal(await within('the end of an honest one', port.closed), 'closed');
}

for (const [name, attack] of Object.entries(attacks)) {
  for (const how of ['receive', 'select', 'event loop'] as const) {
    test(`${name}, while we wait by ${how} (SEED=${seed})`, () => play(attack, how));
  }
}

// Bun and Deno give no sign of a terminate() that a blocked thread could read (guarantee sheet, G4).
if (features().probesPeers) {
  for (const how of ['receive', 'send', 'select'] as const) {
    test(`a thread is killed whose channel is scribbled over still: who blocks in ${how} learns of it`, async () => {
      const made = startThread((stage) => {
        const { port, remote } = stage.millrace.channel({ capacityBytes: 1024 });
        stage.say(remote, remote.transfer);
        setInterval(() => {}, 1_000_000);
        return new Promise(() => void port.receiveAsync());
      });
      const handle = (await made.next()) as Remote;
      const { memory } = handle;
      const blocked = startThread(
        (stage) => {
          const port = stage.port();
          const { how, limit } = stage.data;
          stage.gates.open(0);
          if (how === 'receive') port.receive(limit);
          else if (how === 'select') stage.millrace.select([port], limit);
          else {
            try {
              while (port.send('x'.repeat(100), limit));
            } catch {}
          }
          return port.reason;
        },
        { remote: handle, data: { how, limit: HANG } },
      );
      await blocked.gates.passAsync(0);
      const places = [PARK].flatMap((word) => [END_0, END_1].map((end) => [memory, end + word] as const));
      const attacker = scribbler({ places: () => places, values: [0, 17, 33, -1], notifies: true }, [...places]);
      await attacker.gates.passAsync(1);
      await made.kill();
      assert.equal(await blocked.done(), 'terminated');
      attacker.gates.open(0);
      await attacker.done();
    });
  }
}
