// Random traffic between two ports against two arrays: every way of sending and of reading, small and larger than the ring.
// 40,000 operations in CI. The seed is printed; SEED and CASE repeat one.
// asked for: node-22, node-26
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { attach, CLOSED, channel, EMPTY, type Port, UsageError } from '../../src/index.ts';
import '../kit/neighbours.ts';
import { cases, Random, seed } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';
import { randomValue } from '../kit/values.ts';
import { turn, within } from '../kit/watchdog.ts';

const OPERATIONS_A_CASE = 100;
const CASES = cases(400, 20_000);

interface Sent {
  readonly value: unknown;
  /** Bytes of a buffer that moved: its original is empty now. */
  readonly moved?: number;
}

class Side {
  readonly port: Port;
  /** What went out of the other side and has not arrived here, oldest first. */
  readonly coming: Sent[] = [];
  listening = false;
  #pending: Promise<unknown>[] = [];
  readonly #listener = (value: unknown): void => this.check(value);

  constructor(port: Port) {
    this.port = port;
  }

  check(value: unknown): void {
    if (value === EMPTY || value === CLOSED) return;
    const sent = this.coming.shift();
    assert.ok(sent !== undefined, `a message that nobody sent: a ${typeof value}`);
    if (sent.moved === undefined) assert.equal(difference(sent.value, value), undefined);
    else assert.equal((value as ArrayBuffer).byteLength, sent.moved);
  }
  listen(on: boolean): void {
    if (on === this.listening) return;
    this.listening = on;
    if (on) this.port.on('message', this.#listener);
    else this.port.off('message', this.#listener);
  }
  receiveSoon(timeoutMs: number): void {
    const read = this.port.receiveAsync({ timeoutMs }).then((value) => this.check(value));
    // It is looked at later; until then it has not been forgotten.
    read.catch(() => {});
    this.#pending.push(read);
  }
  async settle(): Promise<void> {
    await within('pending receives', Promise.all(this.#pending.splice(0)));
  }
}

function send(random: Random, from: Port, to: Side): void {
  const large = random.chance(0.05);
  const value = large
    ? 'large '.repeat(random.int(100, 2000))
    : random.pick([
        null,
        undefined,
        0,
        false,
        'text',
        random.bits(),
        randomValue(random, { budget: 12, causes: false }),
      ]);
  const post = (body: () => boolean): void => {
    if (body()) to.coming.push({ value });
  };
  switch (random.int(0, 4)) {
    case 0:
      post(() => from.trySend(value));
      return;
    case 1:
      post(() => from.send(value, { timeoutMs: 0 }));
      return;
    case 2: {
      const buffer = new ArrayBuffer(random.skewed(500));
      const moved = buffer.byteLength;
      from.postMessage(buffer, [buffer]);
      to.coming.push({ value: buffer, moved });
      return;
    }
    case 3:
      from.cork(() => {
        for (let i = random.int(1, 4); i > 0; i--) {
          from.postMessage(i);
          to.coming.push({ value: i });
        }
      });
      return;
    default:
      from.postMessage(value);
      to.coming.push({ value });
  }
}

async function play(random: Random): Promise<void> {
  // The oracle is structured clone, which carries the named properties of all arrays.
  const own = { arrayProperties: 'always' } as const;
  const { port, remote } = channel({ capacityBytes: 1 << random.int(10, 14), ...own });
  const sides = [new Side(port), new Side(attach(remote, own))] as const;
  try {
    await traffic(random, sides);
  } finally {
    for (const side of sides) side.port.close();
  }
}

async function traffic(random: Random, sides: readonly [Side, Side]): Promise<void> {
  for (let step = 0; step < OPERATIONS_A_CASE; step++) {
    const which = random.int(0, 1);
    const side = sides[which] as Side;
    const other = sides[1 - which] as Side;
    switch (random.int(0, 9)) {
      case 0:
      case 1:
      case 2:
      case 3:
        try {
          send(random, side.port, other);
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
        }
        break;
      case 4:
      case 5:
        // Readers that wait are served first, so a read at hand would overtake them.
        await side.settle();
        side.check(side.port.tryReceive());
        break;
      case 6:
        await side.settle();
        for (const value of side.port.receiveMany(random.int(1, 20))) side.check(value);
        break;
      case 7:
        // A promise tells its reader a little later than a listener is told of the next message.
        if (!side.listening) side.receiveSoon(random.int(0, 3));
        break;
      case 8:
        await side.settle();
        side.listen(!side.listening);
        break;
      default:
        await turn();
    }
  }
  for (const side of sides) side.listen(false);
  for (const side of sides) await side.settle();
  // One side closes at a random moment; what it sent, also what never found room, still arrives, then the end.
  const [closing, reading] = random.chance(0.5) ? sides : [sides[1], sides[0]];
  closing.port.close();
  for (;;) {
    const value = await within('the rest', reading.port.receiveAsync());
    if (value === CLOSED) break;
    reading.check(value);
  }
  assert.equal(reading.coming.length, 0, 'nothing is missing');
}

const only = process.env['CASE'];
for (let from = 0; from < CASES; from += 100) {
  const to = Math.min(CASES, from + 100);
  test(`ports against arrays, ${(to - from) * OPERATIONS_A_CASE} operations (SEED=${seed})`, async () => {
    for (let index = from; index < to; index++) {
      if (only !== undefined && Number(only) !== index) continue;
      try {
        await play(new Random(seed, index));
      } catch (cause) {
        throw new Error(`${(cause as Error).message}\n  repeat with SEED=${seed} CASE=${index}`, { cause });
      }
    }
  });
}
