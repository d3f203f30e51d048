// Random programs of several threads: ends of channels that go from thread to thread in messages of each other, while both sides post,
// read in every way, close, exit and are killed. Nothing is lost, doubled or overtaken; who ends, ends for a reason that is true;
// everybody comes to an end. The seed is printed; SEED and CASE repeat a program, as far as threads can be repeated.
// asked for: node-22, node-26
// watchdog: 300 s
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, channel, type Port, pair, type Remote } from '../../src/index.ts';
import { cases, eachCaseAsync, type Random, seed } from '../kit/prng.ts';
import { type Stage, startThread, type TestThread } from '../kit/thread.ts';
import { until, within } from '../kit/watchdog.ts';

const CASES = cases(2, 60);
/** Words that threads and test share: whether each thread is dead or about to be, then eight for each end. */
const DEAD = 0;
const ENDS = 16;
const WORDS = 8;

/** One end of a channel, as it goes from thread to thread. */
interface End {
  readonly port: Port;
  /** Channel and side: twice the one, and the other. */
  readonly at: number;
  sent: number;
  read: number;
  /** The other side has sent its last. */
  last: boolean;
}
interface Told extends End {
  readonly n: number;
}
interface Cast {
  readonly me: number;
  /** To the other threads, by number. */
  readonly mesh: readonly (Remote | null)[];
  readonly seed: number;
  readonly steps: number;
  readonly ledger: SharedArrayBuffer;
  /** Threads are killed, and one exits. */
  readonly mortal: boolean;
  readonly exits: boolean;
}

async function actor(stage: Stage<Cast>): Promise<unknown> {
  const { me, mesh, seed, steps, ledger, mortal, exits } = stage.data;
  const { attach, channel, select, selectAsync, EMPTY, CLOSED, ClosedError, CodecError } = stage.millrace;
  const [DEAD, ENDS, WORDS] = [0, 16, 8];
  const [WHERE, SENT, READ, STATE] = [0, 1, 2, 3];
  const words = new Int32Array(ledger);
  const note = (at: number, word: number, value: number) => void Atomics.store(words, ENDS + at * WORDS + word, value);
  const noted = (at: number, word: number): number => Atomics.load(words, ENDS + at * WORDS + word);
  let state = (seed ^ Math.imul(me + 1, 0x9e3779b1)) >>> 0 || 1;
  const draw = (count: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % count;
  };
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
  const ends: End[] = [];
  const office = stage.port();
  const ways = mesh.map((remote) => (remote === null ? undefined : attach(remote)));
  const wrong = (end: End, what: string): never => {
    throw new Error(`end ${end.at} in thread ${me}, sent ${end.sent}, read ${end.read}: ${what} (${end.port.reason})`);
  };

  const over = (end: End): void => {
    if (!ends.includes(end)) return;
    ends.splice(ends.indexOf(end), 1);
    note(end.at, STATE, 1);
    end.port.close();
  };
  const ended = (end: End): void => {
    const { at, port, read } = end;
    const peer = at ^ 1;
    const where = noted(peer, WHERE);
    const died = [where >> 8, where & 255].some((thread) => Atomics.load(words, DEAD + thread) !== 0);
    if (port.reason === 'closed') {
      if (!died && noted(peer, SENT) !== read) wrong(end, `the other side has sent ${noted(peer, SENT)}`);
    } else if (!mortal || !died || port.reason === 'lost') wrong(end, `for no reason; the other one was at ${where}`);
    over(end);
  };
  const take = (end: End, value: unknown): boolean => {
    if (value === EMPTY) return false;
    if (value === CLOSED) {
      ended(end);
      return false;
    }
    const { n, ...told } = value as Told & { last?: boolean; bytes?: Uint8Array; remote?: Remote };
    if (n !== end.read) wrong(end, `${n} has come`);
    end.read++;
    note(end.at, READ, end.read);
    if (told.last) end.last = true;
    if (told.bytes?.some((byte) => byte !== (n & 255))) wrong(end, 'bytes are others');
    if (told.port !== undefined) arrive(told);
    if (told.remote !== undefined) {
      const other = attach(told.remote);
      if (other.receive({ timeoutMs: 20_000 }) !== n) wrong(end, `a channel that came with ${n} holds something else`);
      other.close();
    }
    return true;
  };
  /** What cannot be read has a place all the same: where a thread was killed that had still to send it on. */
  const taking = (end: End, get: () => unknown): boolean => {
    try {
      return take(end, get());
    } catch (error) {
      if (!(mortal && error instanceof CodecError)) throw error;
      end.read++;
      return true;
    }
  };
  const arrive = ({ port, at, sent, read, last }: End): void => {
    note(at, WHERE, (me << 8) | me);
    port.on('messageerror', () => {});
    ends.push({ port, at, sent, read, last });
  };
  let failure: unknown;
  const guarded = (act: () => void) => (): void => {
    try {
      act();
    } catch (error) {
      failure ??= error;
    }
  };
  for (const way of [...ways, office]) {
    way?.on('message', (told) => guarded(() => arrive(told as End))());
    way?.on('messageerror', () => {});
  }

  const post = (end: End, more: object, transfer: readonly unknown[] = []): void => {
    const value = { n: end.sent, ...more };
    const how = draw(6);
    // What is refused was not sent. What is posted after the end counts for nothing.
    if (how === 0 && !end.port.trySend(value, transfer)) return;
    if (how === 1 && !end.port.send(value, { timeoutMs: draw(3), transfer })) return;
    if (how > 1) end.port.postMessage(value, transfer);
    end.sent++;
    note(end.at, SENT, end.sent);
  };
  const postSomething = (end: End): void => {
    const n = end.sent;
    const bytes = (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length).fill(n);
    const kind = draw(16);
    if (kind === 0) post(end, { bytes: bytes(draw(60_000)) });
    else if (kind === 1) {
      const moved = bytes(draw(2000));
      post(end, { bytes: moved }, [moved.buffer]);
    } else if (kind === 2) post(end, { shared: new SharedArrayBuffer(8) });
    else if (kind === 3) {
      const { port, remote } = channel({ capacityBytes: 1024 });
      port.postMessage(n);
      post(end, { remote }, remote.transfer);
      port.close();
    } else if (kind === 4) post(end, { text: 'a text that comes again '.repeat(300) });
    else post(end, { [`key${n % 5}`]: n });
  };
  /** To another thread, by the way there. */
  const send = (end: End): void => {
    const to = draw(ways.length);
    const way = ways[to];
    if (way === undefined || way.reason !== undefined) return;
    const { port, at, sent, read, last } = end;
    note(at, WHERE, (me << 8) | to);
    way.postMessage({ port, at, sent, read, last }, [port]);
    if (port.reason === 'detached') ends.splice(ends.indexOf(end), 1);
    else note(at, WHERE, (me << 8) | me);
  };
  const act = async (end: End): Promise<void> => {
    const { port } = end;
    for (let count = draw(8); count > 0 && ends.includes(end); count--) {
      const what = draw(14);
      if (what < 5) postSomething(end);
      else if (what === 5) taking(end, () => port.receive({ timeoutMs: draw(3) }));
      else if (what === 6) {
        const value = await port.receiveAsync({ timeoutMs: draw(3) }).catch((error: unknown) => () => {
          throw error;
        });
        taking(end, () => (typeof value === 'function' ? value() : value));
      } else if (what === 7) {
        const found = select([...ends.map((it) => it.port), office], { timeoutMs: draw(3) });
        const which = ends.find((it) => it.port === found);
        if (which !== undefined) taking(which, () => which.port.tryReceive());
      } else if (what === 8) {
        const found = await selectAsync(
          ends.map((it) => it.port),
          { timeoutMs: draw(3) },
        );
        const which = ends.find((it) => it.port === found);
        if (which !== undefined) taking(which, () => which.port.tryReceive());
      } else if (what === 9) {
        port.onmessage = ({ data }) => guarded(() => void take(end, data))();
        await turn();
        port.onmessage = null;
      } else if (what === 10) void port.flush().catch(() => {});
      else if (what === 11) port.interrupt(1 + draw(9));
      else while (taking(end, () => port.tryReceive()));
    }
  };

  stage.gates.open(0);
  let stopping = false;
  void stage.hear().then(() => {
    stopping = true;
  });
  for (let step = 0; !stopping; step++) {
    if (failure !== undefined) throw failure;
    if (exits && step === steps >> 1) {
      Atomics.store(words, DEAD + me, 1);
      stage.exit();
    }
    const end = ends[draw(ends.length || 1)];
    try {
      if (end === undefined) await turn();
      else if (step < steps) {
        if (draw(3) === 0) send(end);
        else await act(end);
      } else {
        // It stays here from now on: says its last, and reads until it has heard the other one's.
        if (noted(end.at, STATE) === 0) {
          end.port.postMessage({ n: end.sent++, last: true });
          note(end.at, SENT, end.sent);
          note(end.at, STATE, 2);
        }
        if (draw(2) === 0) while (taking(end, () => end.port.tryReceive()));
        else taking(end, () => end.port.receive({ timeoutMs: 1 }));
        if (end.last) {
          void end.port.flush().catch(() => {});
          over(end);
        }
      }
    } catch (error) {
      if (!(error instanceof ClosedError)) throw error;
      // Its end comes to be read in time.
    }
    if (draw(4) === 0) await turn();
  }
  return undefined;
}

async function play(random: Random, mortal: boolean): Promise<void> {
  const count = random.int(3, 4);
  const channels = random.int(2, 5);
  const ledger = new SharedArrayBuffer(4 * (ENDS + channels * 2 * WORDS));
  const words = new Int32Array(ledger);
  const mesh: (Remote | null)[][] = Array.from({ length: count }, () => Array(count).fill(null));
  for (let one = 0; one < count; one++)
    for (let other = 0; other < one; other++)
      [mesh[one]![other], mesh[other]![one]] = pair({ capacityBytes: 1024 << random.int(0, 8) });
  const offices = mesh.map(() => channel());
  const exiting = mortal && random.chance(0.5) ? random.int(0, count - 1) : -1;
  const threads: TestThread[] = mesh.map((remotes, me) => {
    const exits = me === exiting;
    const data: Cast = { me, mesh: remotes, seed: random.bits(), steps: random.int(20, 150), ledger, mortal, exits };
    const transfer = remotes.flatMap((remote) => [...(remote?.transfer ?? [])]);
    return startThread(actor as never, { data, transfer, remote: offices[me]!.remote });
  });
  const failed = Promise.race(
    threads.map(({ result }, i) =>
      result.catch((error: unknown) => {
        if (words[DEAD + i] === 0) throw error;
        return new Promise<never>(() => {});
      }),
    ),
  );
  failed.catch(() => {});
  try {
    for (let id = 0; id < channels; id++) {
      const { port, remote } = channel({ capacityBytes: 1024 << random.int(0, 8) });
      [port, attach(remote)].forEach((end, side) => {
        const to = random.int(0, count - 1);
        const at = id * 2 + side;
        // This thread lives: that it has them on their way is no death.
        Atomics.store(words, ENDS + at * WORDS, (to << 8) | to);
        const { port: office } = offices[to]!;
        office.postMessage({ port: end, at, sent: 0, read: 0, last: false }, [end]);
        // A thread may have exited by then: the end is here still, and nobody else would end it.
        if (end.reason !== 'detached') end.close();
      });
    }
    if (mortal) {
      const killed = random.int(0, count - 1);
      // On Bun nobody hears of what was on its way to a thread that had not begun.
      await until('all have begun', () => threads.every(({ gates }) => gates.get(0) === 1));
      await new Promise((resolve) => setTimeout(resolve, random.int(0, 100)));
      Atomics.store(words, DEAD + killed, 1);
      await within('the end of a thread', threads[killed]!.kill());
    }
    const isOver = (at: number): boolean => {
      if (Atomics.load(words, ENDS + at * WORDS + 3) === 1) return true;
      const where = Atomics.load(words, ENDS + at * WORDS);
      return [where >> 8, where & 255].some((thread) => Atomics.load(words, DEAD + thread) !== 0);
    };
    const allOver = until(
      'all ends are over',
      () => Array.from({ length: channels * 2 }, (_, at) => at).every(isOver),
      30,
    );
    await Promise.race([allOver, failed]).catch((error: unknown) => {
      const at = (end: number): string => [...words.subarray(ENDS + end * WORDS, ENDS + end * WORDS + 4)].join('/');
      const all = Array.from({ length: channels * 2 }, (_, end) => `${end}: ${at(end)}`);
      throw new Error(
        `${String((error as Error)?.message)}; dead ${words.subarray(0, count).join()}; ${all.join(', ')}`,
      );
    });
    for (const [i, thread] of threads.entries()) {
      if (words[DEAD + i] !== 0) continue;
      thread.tell('stop');
      await thread.done();
    }
  } finally {
    for (const { port } of offices) port.close();
    await Promise.all(threads.map((thread) => thread.kill()));
  }
}

for (const mortal of [false, true]) {
  test(`${CASES} programs in which ${mortal ? 'threads are killed and exit' : 'all threads live'} (SEED=${seed})`, async () => {
    await eachCaseAsync(0, CASES, (random) => play(random, mortal));
  });
}

assert.ok(ENDS >= 4);
