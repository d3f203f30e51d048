// A message that cannot be decoded hurts only itself and what was on its way already (G6): its reader asks, in shared
// memory, and everything posted from then on can be read, whatever the lost one taught.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KIND_PACKED } from '../../src/frame/header.ts';
import { attach, CodecError, channel, EMPTY, type Port, type PortOptions } from '../../src/index.ts';
import { KNOWN_TEXT_MIN } from '../../src/limits.ts';
import { DATA, LANE_0, LANE_1, TAIL } from '../../src/memory/layout.ts';
import { cases, eachCase, type Random } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';

const CAPACITY = 2048;

/** Two ports of one thread, and a hand on the memory between them. */
class Bench {
  readonly here: Port;
  readonly there: Port;
  readonly #words: Int32Array;

  constructor(options: PortOptions = {}) {
    const { port, remote } = channel({ capacityBytes: CAPACITY, ...options });
    this.here = port;
    this.there = attach(remote, options);
    this.#words = new Int32Array(remote.memory);
  }

  /** Position where the next record of a lane will begin, as far as it is published. */
  tail(lane: 0 | 1): number {
    return this.#words[(lane === 0 ? LANE_0 : LANE_1) + TAIL] as number;
  }

  /** Whether the record at `position` is a message, and not a part of one or the place where it lies. */
  isMessage(lane: 0 | 1, position: number): boolean {
    return this.#words[this.#at(lane, position) + 1] === KIND_PACKED;
  }

  /** Writes over the payload of the record at `position`, behind the two words of its header. */
  spoil(lane: 0 | 1, position: number, word: number, value: number): void {
    this.#words[this.#at(lane, position) + 2 + word] = value;
  }

  #at(lane: 0 | 1, position: number): number {
    return DATA + (lane * CAPACITY) / 4 + ((position & (CAPACITY - 1)) >>> 2);
  }

  end(): void {
    this.here.close();
    this.there.close();
  }
}

test('what was posted before the reader found out may be lost with it; what is posted after is read', () => {
  for (const lane of [0, 1] as const) {
    const bench = new Bench();
    const [from, to] = lane === 0 ? [bench.here, bench.there] : [bench.there, bench.here];
    from.postMessage({ known: 1 });
    assert.deepEqual(to.tryReceive(), { known: 1 });
    const at = bench.tail(lane);
    from.postMessage({ id: 1, next: null });
    bench.spoil(lane, at, 1, -1);
    from.postMessage({ id: 2, next: null });
    from.postMessage({ known: 2 });
    assert.throws(() => to.tryReceive(), CodecError);
    assert.throws(() => to.tryReceive(), { code: 'ERR_DECODE', message: /not known/ });
    assert.deepEqual(to.tryReceive(), { known: 2 });
    for (let id = 3; id < 6; id++) {
      from.postMessage({ id, next: null });
      assert.deepEqual(to.tryReceive(), { id, next: null });
    }
    from.postMessage({ known: 3 });
    assert.deepEqual(to.tryReceive(), { known: 3 });
    bench.end();
  }
});

test('what waited in the outbox when the reader asked goes first and is read as it was written', () => {
  const bench = new Bench();
  const { here, there } = bench;
  here.postMessage({ id: 0, text: '' });
  assert.deepEqual(there.tryReceive(), { id: 0, text: '' });
  const at = bench.tail(0);
  here.postMessage({ lost: 1 });
  bench.spoil(0, at, 1, -1);
  const text = 'x'.repeat(300);
  const waiting = Array.from({ length: 30 }, (_, id) => ({ id, text, inner: { id } }));
  for (const value of waiting) here.postMessage(value);
  assert.throws(() => there.tryReceive(), CodecError);
  // From here on taught anew, behind what waits and was taught before.
  for (let id = 30; id < 60; id++) {
    for (const value of [{ id, text, inner: { id } }, { lost: id }]) {
      waiting.push(value as never);
      here.postMessage(value);
    }
  }
  for (const value of waiting) {
    here.tryReceive(); // moves the outbox on
    assert.deepEqual(there.tryReceive(), value);
  }
  assert.equal(there.tryReceive(), EMPTY);
  bench.end();
});

test('a long message that fails, and a remembered text in it, are asked for again', () => {
  const bench = new Bench();
  const { here, there } = bench;
  const text = 'long '.repeat(KNOWN_TEXT_MIN);
  const take = (): unknown => {
    for (;;) {
      here.tryReceive();
      const value = there.tryReceive();
      if (value !== EMPTY) return value;
    }
  };
  here.postMessage([text]);
  assert.deepEqual(take(), [text]);
  const at = bench.tail(0);
  here.postMessage({ text, list: [1] });
  // Behind the prefix of a message in parts: its header.
  bench.spoil(0, at, 2, -1);
  assert.throws(take, CodecError);
  for (let i = 0; i < 3; i++) {
    here.postMessage({ text, list: [i] });
    assert.deepEqual(take(), { text, list: [i] });
  }
  bench.end();
});

// ---- drawn ----------------------------------------------------------------------------------------------------------

interface Sent {
  readonly value: unknown;
  readonly when: number;
  spoilt: boolean;
}

const texts = ['short', 'm'.repeat(400), '語'.repeat(KNOWN_TEXT_MIN), 'l'.repeat(KNOWN_TEXT_MIN + 1)];

function draw(random: Random, n: number): object {
  const value: Record<string, unknown> = { n, [`k${random.int(0, 30)}`]: random.pick(texts.slice(0, 2)) };
  if (random.chance(0.1)) value['big'] = random.pick(texts);
  if (random.chance(0.3)) value[`o${random.int(0, 9)}`] = [{ [`p${random.int(0, 9)}`]: n }];
  return value;
}

const count = cases(150, 5_000);
const STEPS = 150;
test(`${count} conversations over a ring that is written over now and then`, () => {
  const tally = { read: 0, failed: 0, later: 0 };
  eachCase(0, count, (random) => {
    const bench = new Bench({ overflow: random.pick(['wait', 'reject']), highWaterMarkBytes: 1 << 20 });
    const { here, there } = bench;
    const sent: Sent[] = [];
    let clock = 0;
    let failedAt = -1;
    try {
      for (let n = 0; n < STEPS; n++) {
        clock++;
        if (random.chance(0.55)) {
          // What repeats the keys of a lost one is what can be lost with it.
          const last = sent.at(-1)?.value as object | undefined;
          const value = last !== undefined && random.chance(0.5) ? { ...last, n } : draw(random, n);
          const before = bench.tail(0);
          const idle = here.stats().outboxBytes === 0;
          if (random.chance(0.2)) {
            if (!here.trySend(value)) continue;
          } else here.postMessage(value);
          const entry: Sent = { value, when: clock, spoilt: false };
          sent.push(entry);
          // One record in one piece, whose place is known. What the first words of a part say about the whole message is
          // the frame's: damage there ends the channel.
          const length = (bench.tail(0) - before) | 0;
          const record = idle && length > 8 && length < CAPACITY / 4 && (before & (CAPACITY - 1)) + length <= CAPACITY;
          const whole = record && bench.isMessage(0, before);
          if (whole && random.chance(0.2)) {
            entry.spoilt = true;
            const word = random.int(0, (length >>> 2) - 3);
            bench.spoil(0, before, word, random.pick([-1, 0, 0x7fff_ffff, random.bits() | 0]));
          }
          continue;
        }
        let value: unknown;
        try {
          value = there.tryReceive();
        } catch (error) {
          assert.ok(error instanceof CodecError, String(error));
          const entry = sent.shift() as Sent;
          assert.ok(entry.spoilt || entry.when < failedAt, `posted at ${entry.when}, asked at ${failedAt}: ${error}`);
          failedAt = clock;
          if (entry.spoilt) tally.failed++;
          else tally.later++;
          continue;
        }
        if (value === EMPTY) {
          here.tryReceive();
          continue;
        }
        const entry = sent.shift() as Sent;
        // Damage that no check can see may teach anything.
        if (entry.spoilt) return;
        assert.equal(difference(entry.value, value), undefined);
        tally.read++;
      }
    } finally {
      bench.end();
    }
  });
  console.log(JSON.stringify(tally));
  assert.ok(tally.read > 0 && tally.failed > 0 && tally.later > 0);
});

// Not `latest`: its messages teach nothing, so that each explains itself.
for (const overflow of ['wait', 'reject', 'drop-oldest', 'drop-newest'] as const) {
  test(`${overflow}: after damage under load, everything posted later that arrives is what was posted`, () => {
    eachCase(0, cases(40, 1_000), (random) => {
      const bench = new Bench({ overflow, highWaterMarkBytes: 4096 });
      const { here, there } = bench;
      const values: object[] = [];
      const post = (n: number): void => {
        values[n] = draw(random, n);
        try {
          here.postMessage(values[n]);
        } catch (error) {
          if ((error as { code?: string }).code !== 'ERR_OUTBOX_FULL') throw error;
        }
      };
      /** Reads what there is; the number of the last message that failed or came. */
      const drain = (mayFail: boolean): number[] => {
        const seen: number[] = [];
        for (let empty = 0; empty < 2 || here.stats().outboxBytes > 0; ) {
          here.tryReceive(); // moves the outbox on
          try {
            const value = there.tryReceive();
            if (value === EMPTY) {
              empty++;
              continue;
            }
            empty = 0;
            const { n } = value as { n: number };
            assert.equal(difference(values[n], value), undefined);
            seen.push(n);
          } catch (error) {
            if (!mayFail || !(error instanceof CodecError)) throw error;
          }
        }
        return seen;
      };
      try {
        let n = 0;
        for (let i = random.int(0, 10); i > 0; i--) post(n++);
        drain(false);
        // A record in one piece, whose place is known.
        let at = bench.tail(0);
        for (; (at & (CAPACITY - 1)) > CAPACITY - 128; at = bench.tail(0)) {
          values[n] = { n };
          here.postMessage(values[n++]);
          drain(false);
        }
        values[n] = { n, [`lost${random.int(0, 3)}`]: 1 };
        here.postMessage(values[n++]);
        bench.spoil(0, at, 1, -1);
        for (let i = random.int(0, 60); i > 0; i--) post(n++);
        drain(true);
        for (let round = 0; round < 3; round++) {
          const first = n;
          for (let i = random.int(1, 20); i > 0; i--) post(n++);
          assert.ok(drain(false).some((it) => it >= first));
        }
      } finally {
        bench.end();
      }
    });
  });
}
