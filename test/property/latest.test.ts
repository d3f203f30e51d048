// Overflow `latest` against an oracle: what is read at once is the newest message exactly, what is read by promises and
// listeners is a subsequence of what was posted that ends with the newest, and every message is counted once.
// 40,000 operations in CI. The seed is printed; SEED and CASE repeat one.
// asked for: node-22, node-24, node-26
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { attach, CLOSED, CodecError, channel, EMPTY, type Port, UsageError } from '../../src/index.ts';
import '../kit/neighbours.ts';
import { cases, Random, seed } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';
import { randomValue } from '../kit/values.ts';
import { turn, within } from '../kit/watchdog.ts';

const OPERATIONS_A_CASE = 100;
const CASES = cases(400, 20_000);
/** Moved values that nobody took, so that none has to wait for the reader (limits.ts, SIDE_VALUES_MAX). */
const MOVED_MAX = 200;

interface Posted {
  readonly i: number;
  readonly value: unknown;
}

/** One direction: its sender, its reader, and what the oracle knows. */
class Direction {
  readonly from: Port;
  readonly to: Port;
  /** The newest message, while nobody has taken it. */
  #newest: Posted | undefined;
  /** What was posted since everybody had read everything; only looked into by readers that are told later. */
  #since: Posted[] = [];
  #posted = 0;
  #read = 0;
  #moved = 0;
  #flushes: { readonly upTo: number; done: boolean }[] = [];
  #taken = 0;

  constructor(from: Port, to: Port) {
    this.from = from;
    this.to = to;
  }

  post(random: Random): void {
    const value = random.chance(0.1)
      ? 'large '.repeat(random.int(1, 20_000))
      : random.pick([null, undefined, 0, 'text', random.bits(), randomValue(random, { budget: 12, causes: false })]);
    const message = { i: this.#posted, value };
    switch (random.int(0, 6)) {
      case 0:
        assert.equal(this.from.trySend(message), true);
        this.#note(message);
        return;
      case 1:
        assert.equal(this.from.send(message, { timeoutMs: 0 }), true);
        this.#note(message);
        return;
      case 2: {
        if (++this.#moved > MOVED_MAX) return;
        const buffer = new Uint8Array(random.skewed(500)).fill(this.#posted);
        const kept = buffer.slice();
        this.from.postMessage({ i: this.#posted, value: buffer }, [buffer.buffer]);
        assert.equal(buffer.byteLength, 0);
        this.#note({ i: this.#posted, value: kept });
        return;
      }
      case 3:
        this.from.cork(() => {
          for (let count = random.int(0, 4); count > 0; count--) this.post(random);
        });
        return;
      case 4:
        assert.throws(() => this.from.postMessage({ i: -1, value: [() => {}] }), CodecError);
        return;
      case 5: {
        const from = this.from;
        const nested = {
          get value(): unknown {
            return from.postMessage('inside');
          },
        };
        assert.throws(() => from.postMessage(nested), UsageError);
        return;
      }
      default:
        this.from.postMessage(message);
        this.#note(message);
    }
  }

  #note(message: Posted): void {
    this.#newest = message;
    this.#since.push(message);
    this.#posted++;
  }

  flush(): void {
    const flush = { upTo: this.#posted, done: false };
    this.#flushes.push(flush);
    this.from.flush().then(
      () => {
        flush.done = true;
      },
      () => {},
    );
  }

  /** A read that looks at once finds the newest, or nothing if that was read. */
  now(): void {
    const value = this.to.tryReceive();
    if (this.#newest === undefined) assert.equal(value, EMPTY);
    else this.take(value);
  }
  many(max: number): void {
    const values = this.to.receiveMany(max);
    assert.equal(values.length, this.#newest === undefined ? 0 : 1);
    for (const value of values) this.take(value);
  }
  /** Some message that was not read yet, nor one before it; later reads give later ones. */
  take(value: unknown): void {
    if (value === EMPTY || value === CLOSED) return;
    const { i, value: found } = value as Posted;
    const at = this.#since.findIndex((posted) => posted.i === i);
    assert.ok(at >= 0, `message ${i} of ${this.#posted}, after ${this.#taken} was read`);
    assert.equal(difference((this.#since[at] as Posted).value, found), undefined);
    this.#since.splice(0, at + 1);
    this.#read++;
    this.#taken = i;
    if (this.#newest?.i === i) this.#newest = undefined;
    this.#moved = 0;
  }

  /** Everything that can be settled has been: the newest was read, flushes are kept, and the counters add up. */
  check(): void {
    assert.equal(this.#newest, undefined, 'the newest was read');
    const { sent, dropped } = this.from.stats();
    assert.deepEqual([sent + dropped, sent, this.to.stats().received], [this.#posted, this.#read, this.#read]);
    for (const { upTo, done } of this.#flushes) assert.ok(done, `flush of ${upTo}`);
  }
}

async function play(random: Random): Promise<void> {
  const capacityBytes = 1 << random.int(10, 16);
  const own = { overflow: 'latest', arrayProperties: 'always' } as const;
  const { port, remote } = channel({ capacityBytes, ...own });
  const far = attach(remote, own);
  const ways = [new Direction(port, far), new Direction(far, port)] as const;
  try {
    for (let step = 0; step < OPERATIONS_A_CASE; step++) {
      const way = random.pick(ways);
      switch (random.int(0, 9)) {
        case 0:
          way.now();
          break;
        case 1:
          way.many(random.int(1, 3));
          break;
        case 2:
          way.flush();
          break;
        case 3: {
          // A reader that sleeps meanwhile, or a listener: told later, of whatever is the newest then.
          const listener = (value: unknown): void => way.take(value);
          const reads = [0, 1].map(() => way.to.receiveAsync({ timeoutMs: 1 }).then(listener));
          for (let i = random.int(0, 5); i > 0; i--) way.post(random);
          await within('readers', Promise.all(reads));
          break;
        }
        case 4: {
          const listener = (value: unknown): void => way.take(value);
          way.to.on('message', listener);
          for (let i = random.int(0, 5); i > 0; i--) {
            way.post(random);
            if (random.chance(0.3)) await turn();
          }
          way.to.off('message', listener);
          break;
        }
        default:
          way.post(random);
      }
    }
    for (const way of ways) way.now();
    for (let i = 0; i < 3; i++) await turn();
    for (const way of ways) way.check();
    // The newest survives the end of its sender, once.
    const [last] = ways;
    last.post(random);
    port.close();
    last.take(far.receive());
    assert.equal(far.receive(), CLOSED);
  } finally {
    port.close();
    far.close();
  }
}

const only = process.env['CASE'];
for (let from = 0; from < CASES; from += 100) {
  const to = Math.min(CASES, from + 100);
  test(`latest against an oracle, ${(to - from) * OPERATIONS_A_CASE} operations (SEED=${seed})`, async () => {
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
