// A side that takes its time to answer a greeting: whatever comes meanwhile, and however it is cut, what both sides see is what they would have seen
// had it answered at once. What it keeps is bounded, and its peer's end needs no answer.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platform } from '#platform';
import { EMPTY, type Port } from '../../src/index.ts';
import { STREAM_EARLY_BYTES_MAX } from '../../src/limits.ts';
import { StreamConnection } from '../../src/transport/stream/connection.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import type { Answer, Greeting } from '../../src/transport/stream/greeting.ts';
import { cases, eachCaseAsync } from '../kit/prng.ts';
import {
  acceptFrame,
  chunk,
  type Frame,
  goodbyeFrame,
  HELLO,
  leavingFrame,
  openFrame,
  RECORD,
  StreamBench,
  TERMS,
  text,
  WINDOW,
} from '../kit/stream-bench.ts';
import { portOver } from '../kit/stream-pair.ts';
import { within } from '../kit/watchdog.ts';
import { Wire } from '../kit/wire.ts';

const GREETING: Frame = [frames.HELLO, 0, ...HELLO];

/** An answer that comes when the test says so. */
class Decision {
  asked: Greeting | undefined;
  readonly answer = (peer: Greeting): Promise<Answer> => {
    this.asked = peer;
    return this.#promise;
  };
  #promise: Promise<Answer>;
  #settle!: { resolve: (answer: Answer) => void; reject: (error: unknown) => void };
  constructor() {
    this.#promise = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }
  /** Returns when it has been heard. */
  async is(answer?: Answer): Promise<void> {
    this.#settle.resolve(answer);
    await turns();
  }
  async fails(error: unknown): Promise<void> {
    this.#settle.reject(error);
    await turns();
  }
}
async function turns(): Promise<void> {
  for (let i = 0; i < 10; i++) await null;
}
function deciding(options: object = {}): { bench: StreamBench; decision: Decision } {
  const decision = new Decision();
  return { bench: new StreamBench(null, { initiator: false, ...options, answer: decision.answer }), decision };
}
/** What is reported meanwhile, as a listener's error is. */
async function reported(body: () => Promise<void>): Promise<unknown[]> {
  const heard: unknown[] = [];
  const its = platform as { reportError: (error: unknown) => void };
  const before = its.reportError;
  its.reportError = (error) => void heard.push(error);
  try {
    await body();
  } finally {
    its.reportError = before;
  }
  return heard;
}
const typesOf = (bench: StreamBench): string[] => bench.heard.map((each) => each.split(':')[0] as string);

test('nothing is said, and nobody is told of anything, before the answer is there; then all in its order', async () => {
  const { bench, decision } = deciding({ channelsMax: 1 });
  const mine = bench.portOver(bench.connection.open('mine'));
  bench.connection.received(
    chunk(GREETING, openFrame(1, 'x'), openFrame(3, 'mine'), [frames.PING, 0, 1, 2], openFrame(5, 'y'), [
      ...[frames.CLOSE, 1, 1, 0],
    ] as unknown as Frame),
  );
  bench.say(200, 0, 1, 2);
  assert.deepEqual(
    [bench.heard, bench.openings, bench.greeted, bench.connection.peer, bench.connection.features, bench.over],
    [[], [], 0, undefined, undefined, undefined],
  );
  assert.equal(decision.asked?.messageMax, 4096);
  const seen: string[] = [];
  bench.whenOpened = (opening) => {
    seen.push(`${opening.name} ${bench.greeted} ${bench.connection.features}`);
    if (opening.name === 'y') bench.connection.accept(opening);
  };
  await decision.is({ channelsMax: 3, features: 0x20000 });
  assert.deepEqual(seen, ['x 1 0', 'y 1 0'], 'what was decided holds for what came before');
  assert.deepEqual(typesOf(bench), ['1 0', '2 2', '11 0', '3 5', '8 1']);
  assert.match(bench.heard[0] as string, /^1 0: \d+ 1 1 131072 4096 3 /);
  await within('it has crossed', mine.ready);
});

const SCRIPTS: readonly (readonly Frame[])[] = [
  [openFrame(1, 'a'), openFrame(3, 'b'), [frames.PING, 0, 5, 6], [frames.CLOSE, 1, 1, 0], openFrame(5, 'mine')],
  [openFrame(1, 'a'), leavingFrame(5, 'soon'), [frames.PING, 0, 1, 1]],
  [openFrame(1, 'a'), [frames.DATA, 1, ...RECORD], [frames.PING, 0, 1, 1]],
  [openFrame(1, 'a'), leavingFrame(), openFrame(3, 'b')],
  [openFrame(3, 'a'), openFrame(1, 'b'), [frames.PING, 0, 1, 1]],
  [
    [frames.DATA, 7, ...RECORD],
    [frames.PING, 0, 1, 1],
  ],
  [openFrame(1, 'a', [1000, 4096, 0, 0]), openFrame(3, '\0kept'), openFrame(5, 'x', TERMS, 1)],
  [openFrame(1, 'mine'), openFrame(3, 'mine'), [frames.ACK, 1, 0, 0, WINDOW, 0, 0, 0, 0, 0], acceptFrame(3)],
  [
    [frames.OPEN, 1, ...TERMS, 0, ...text(new Uint8Array([0xff]))],
    [frames.PING, 0, 1, 1],
  ],
];
test('whenever the answer comes, and however the bytes are cut, the peer hears the same', async () => {
  const own = (bench: StreamBench): void => void bench.connection.open('mine');
  for (const [i, script] of SCRIPTS.entries()) {
    const all = chunk(GREETING, ...script);
    const at = new StreamBench(null, { initiator: false, answer: () => ({ channelsMax: 2 }) });
    own(at);
    at.connection.received(all);
    const expected = [at.heard, at.over, at.greeted, at.openings.map(({ name, over }) => [name, over]), at.left];
    for (let cut = chunk(GREETING).length; cut <= all.length; cut += 4) {
      const { bench, decision } = deciding();
      own(bench);
      bench.connection.received(all.slice(0, cut));
      if (cut % 3 === 0)
        for (let part = cut; part < all.length; part++) bench.connection.received(all.slice(part, part + 1));
      await decision.is({ channelsMax: 2 });
      if (cut % 3 !== 0) bench.connection.received(all.slice(cut));
      assert.deepEqual(
        [bench.heard, bench.over, bench.greeted, bench.openings.map(({ name, over }) => [name, over]), bench.left],
        expected,
        `script ${i} cut at ${cut}`,
      );
    }
  }
});

test('it may be over before the answer is there, by either side: what comes of the answer then means nothing', async () => {
  const ends: readonly (readonly [(bench: StreamBench) => void, readonly string[], string])[] = [
    [(bench) => bench.say(...goodbyeFrame(1)), ['1 0'], 'closed'],
    [(bench) => bench.say(frames.RESET, 0, 300, 0), ['1 0'], 'closed'],
    [(bench) => bench.say(...GREETING), ['1 0', '9 0'], 'lost'],
    [(bench) => bench.connection.received(new TextEncoder().encode('GET / HTTP/1.1\r\n')), ['1 0', '9 0'], 'lost'],
    [(bench) => bench.connection.refuse(300, 'too late'), ['1 0', '9 0'], 'closed'],
    [(bench) => bench.connection.close(), ['1 0', '12 0'], 'closed'],
    [(bench) => bench.connection.leave(), ['1 0', '13 0', '12 0'], 'closed'],
    [(bench) => bench.connection.endThread('exit'), ['1 0', '12 0'], 'exit'],
    [(bench) => bench.connection.closed('lost'), [], 'lost'],
  ];
  for (const [end, said, reason] of ends) {
    for (const settle of ['is', 'fails'] as const) {
      const { bench, decision } = deciding();
      bench.connection.received(chunk(GREETING, openFrame(1, 'a')));
      end(bench);
      const heard = await reported(() => decision[settle](undefined));
      assert.deepEqual([typesOf(bench), bench.over?.[0], bench.greeted, heard], [said, reason, 0, []]);
      assert.deepEqual([bench.openings, bench.streamEnded], [[], said.length > 0]);
    }
  }
});

test('an answer that fails refuses the connection with code 3, does not say what it was, and is reported', async () => {
  const oops = new Error('hunter2');
  for (const fail of [
    (decision: Decision) => decision.fails(oops),
    (decision: Decision) => decision.is({ fields: [{ kind: 1, bytes: new Uint8Array(5000) }] }),
  ]) {
    const { bench, decision } = deciding();
    bench.connection.received(chunk(GREETING, openFrame(1, 'a')));
    const heard = await reported(() => fail(decision));
    assert.equal(heard.length, 1);
    assert.ok(heard[0] === oops || (heard[0] as { code?: string }).code === 'ERR_OPTION');
    assert.deepEqual([bench.heard[1], bench.said, bench.over?.[0], bench.greeted], ['9 0: 3', [''], 'closed', 0]);
  }
  const { bench, decision } = deciding();
  bench.say(...GREETING);
  await decision.is({ ...(null as unknown as Answer) });
  assert.equal(bench.greeted, 1);
});

test('who says more than is kept before it was answered is refused, and may come again; less is kept', async () => {
  const most = Math.floor(STREAM_EARLY_BYTES_MAX / (8 + 24 + 64));
  for (const count of [most, most + 1]) {
    const { bench, decision } = deciding();
    bench.say(...GREETING);
    for (let i = 0; i < count; i++) bench.open(2 * i + 1);
    if (count > most) {
      assert.deepEqual([bench.heard.slice(1), bench.over?.[0], bench.streamEnded], [['9 0: 3'], 'closed', true]);
      bench.open(2 * count + 1);
      await decision.is();
      assert.equal(bench.openings.length, 0);
    } else {
      assert.equal(bench.over, undefined);
      await decision.is();
      assert.deepEqual([bench.openings.length, bench.over], [1024, undefined]);
    }
  }
});

test('bytes of records are not kept, however many come', async () => {
  const { bench, decision } = deciding();
  bench.connection.received(chunk(GREETING, openFrame(1, 'a')));
  bench.connection.received(new Uint8Array(Int32Array.of(frames.frameHead(frames.DATA, 2 ** 24), 1).buffer));
  for (let i = 0; i < 16; i++) bench.connection.received(new Uint8Array(2 ** 20));
  assert.equal(bench.over, undefined);
  await decision.is();
  assert.deepEqual([typesOf(bench), bench.over], [['1 0', '9 1'], undefined]);
});

test('what throws as it is told of what was kept is reported, and takes nothing along', async () => {
  const oops = new Error('a mistake of the program');
  const { bench, decision } = deciding();
  bench.connection.received(chunk(GREETING, openFrame(1, 'a'), [frames.PING, 0, 1, 2]));
  bench.whenOpened = () => {
    throw oops;
  };
  const heard = await reported(() => decision.is());
  assert.deepEqual([heard, typesOf(bench), bench.over], [[oops], ['1 0', '11 0'], undefined]);
});

test('both sides meet at their names, and say what they have to say, whenever the answer comes', async () => {
  await eachCaseAsync(0, cases(60, 3000), async (random) => {
    const wire = new Wire({ random, chunkMax: 40 });
    wire.delayed = random.chance(0.7);
    const decision = new Decision();
    const events = { opened() {}, ended() {} };
    const sides = [
      new StreamConnection(wire.ends[0], { initiator: true, windowBytes: WINDOW }, events),
      new StreamConnection(wire.ends[1], { initiator: false, windowBytes: WINDOW, answer: decision.answer }, events),
    ] as const;
    const ports: Port[][] = [[], []];
    const names = ['', 'a', 'b', 'a'];
    const step = (): void => {
      const side = random.int(0, 1) as 0 | 1;
      const mine = ports[side] as Port[];
      const name = names[mine.length];
      if (name !== undefined) {
        const port = portOver(sides[side], sides[side].open(name)) as Port;
        mine.push(port);
        for (let i = 0; i < 5; i++) port.postMessage([side, mine.length, i]);
      }
      for (let i = random.int(0, 4); i > 0; i--) wire.step();
    };
    const early = random.int(0, 6);
    wire.connect(0, sides[0]);
    wire.connect(1, sides[1]);
    for (let i = 0; i < early; i++) step();
    await decision.is({ maxMessageBytes: 500 });
    for (let i = 0; i < 60; i++) step();
    for (let i = 0; i < 5; i++) {
      while (wire.step());
      await turns();
    }
    assert.deepEqual([sides[0].ended, sides[1].ended, sides[0].peer?.messageMax], [undefined, undefined, 500]);
    for (const [side, mine] of ports.entries()) {
      assert.equal(mine.length, 4);
      for (const [k, port] of mine.entries()) {
        const got: unknown[] = [];
        for (let value = port.tryReceive(); value !== EMPTY; value = port.tryReceive()) got.push(value);
        assert.deepEqual(
          got,
          [0, 1, 2, 3, 4].map((i) => [1 - side, k + 1, i]),
          `side ${side} port ${k}`,
        );
      }
    }
    for (const side of sides) side.close();
  });
});

test("a deadline is the door's: it refuses, and the look-up that goes on finds nobody", async () => {
  const { bench, decision } = deciding();
  bench.say(...GREETING);
  const timer = setTimeout(() => bench.connection.refuse(frames.CODE_FULL, 'nobody knows you yet'), 1);
  while (bench.over === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
  clearTimeout(timer);
  await decision.is({ channelsMax: 7 });
  assert.deepEqual([bench.said, bench.greeted, typesOf(bench)], [['nobody knows you yet'], 0, ['1 0', '9 0']]);
});
