// Threads that are terminated and processes that are killed at a random moment of random calls: 102 in `npm test` on six runtimes. Every promise is accounted
// for: it is resolved with the right value, or rejected with the reason.
// watchdog: 300 s
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ClosedError, type Port, spawn } from '../../src/index.ts';
import { fork } from '../../src/process/index.ts';
import { connectionOf } from '../../src/rpc/connection.ts';
import { type Remote, wrap } from '../../src/rpc/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { cases, eachCaseAsync, type Random, seed } from '../kit/prng.ts';
import { turn, until, within } from '../kit/watchdog.ts';
import { leftOf, type Victim } from './call-roles.ts';

const THREAD = inOneFile(new URL('./call-thread.js', import.meta.url));
const CHILD = fileURLToPath(inOneFile(new URL('./call-child.js', import.meta.url)));
const unhandled: unknown[] = [];
process.on('unhandledRejection', (error) => unhandled.push(error));

interface Started {
  readonly port: Port;
  kill(): unknown;
}
function started(random: Random): Started {
  if (random.chance(0.6)) {
    const { port, worker } = spawn(THREAD, { worker: { workerData: { memory: new SharedArrayBuffer(64) } } });
    return { port, kill: () => worker.terminate() };
  }
  const { port, child } = fork(CHILD, { child: { stdio: ['ignore', 'inherit', 'inherit'] } });
  return { port, kill: () => (child as ChildProcess).kill('SIGKILL') };
}

/** What is called, and whether what it has come to is right. */
class Load {
  readonly #api: Remote<Victim>;
  readonly #random: Random;
  settled = 0;
  right = 0;
  begun = 0;
  open = 0;

  constructor(api: Remote<Victim>, random: Random) {
    this.#api = api;
    this.#random = random;
  }

  async #of(work: Promise<void>): Promise<void> {
    this.begun++;
    try {
      await work;
      this.right++;
    } catch (error) {
      if (!(error instanceof ClosedError)) throw error;
      assert.equal(error.reason, 'terminated');
    } finally {
      this.settled++;
    }
  }
  async #add(): Promise<void> {
    const number = this.#random.int(0, 1000);
    assert.equal(await this.#api.add(number, 1), number + 1);
  }
  async #asks(): Promise<void> {
    const number = this.#random.int(0, 1000);
    const callback = async (n: number): Promise<number> => {
      await turn();
      return n * 2;
    };
    assert.equal(await this.#api.asks(callback, number), number * 2 + 1);
  }
  async #reads(): Promise<void> {
    let next = 0;
    const count = this.#random.skewed(500);
    for await (const value of await this.#api.flood()) {
      assert.equal(value, next++);
      if (next > count) break;
    }
  }
  async #writes(): Promise<void> {
    const count = this.#random.skewed(500);
    const load = this;
    async function* numbers(): AsyncGenerator<number> {
      load.open++;
      try {
        for (let i = 0; i <= count; i++) yield i;
      } finally {
        load.open--;
      }
    }
    assert.equal(await this.#api.read(numbers()), count);
  }
  start(): Promise<void> {
    const works = [() => this.#add(), () => this.#add(), () => this.#asks(), () => this.#reads(), () => this.#writes()];
    return this.#of(this.#random.pick(works)());
  }
}

test(`any moment of any calls: each settles (SEED=${seed})`, async () => {
  let [right, begun] = [0, 0];
  await eachCaseAsync(0, cases(17, 500), async (random) => {
    const { port, kill } = started(random);
    const api = wrap<Victim>(port);
    const load = new Load(api, random);
    const works: Promise<void>[] = [];
    // One of four is killed before it has begun to answer.
    if (random.chance(0.75)) await within('an answer', api.add(1, 1));
    const rounds = random.skewed(30);
    for (let i = 0; i <= rounds; i++) {
      for (let calls = random.skewed(20); calls >= 0; calls--) works.push(load.start());
      if (random.chance(0.8)) await turn();
    }
    kill();
    await within(`all of ${load.begun} calls`, Promise.all(works));
    assert.equal(load.settled, load.begun);
    await within('the end', port.closed);
    // Which calls are told a turn later, where all of them were answered before.
    await until('the end of calls', () => connectionOf(port).ended !== undefined);
    await until('generators to be returned', () => load.open === 0);
    assert.deepEqual(leftOf(port), {});
    right += load.right;
    begun += load.begun;
  });
  console.log(`${right} of ${begun} calls were answered before their peer was killed`);
  assert.ok(right > 0 && right < begun);
});

test('nothing was rejected that nobody was told of', () => {
  assert.deepEqual(unhandled, []);
});
