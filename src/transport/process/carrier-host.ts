// A thread that has the lines of one that blocks, as this one sees it, whatever lines they are: it is started for the first, and ends with this thread. Who asks it is told
// by the event loop, or waits with the thread.
import { Worker } from 'node:worker_threads';
import { platform } from '#platform';
import { CARRIER_RING_BYTES, MESSAGE_BYTES_DEFAULT } from '../../limits.ts';
import { allocateMemory } from '../../memory/region.ts';
import type { NativePort } from '../../platform/contract.ts';
import { CarriedStream } from './carried-stream.ts';
import type { AnyAsk, AnyNews, CarrierStart, CommonNews, There } from './carrier-words.ts';
import { threadUrl } from './own-thread.ts';
import { errorTold } from './told-error.ts';

export interface CarrierEvents {
  /** What this kind of carrier says beside what all do. */
  told(news: AnyNews): void;
  /** It could not begin, or has failed, which its lines and who waits for an answer were told. */
  lost(): void;
}

interface Asked {
  there(news: There): void;
  failed(error: Error): void;
}

export class CarrierHost {
  readonly #port: NativePort;
  readonly #events: CarrierEvents;
  readonly #lines = new Map<number, CarriedStream>();
  readonly #asked = new Map<number, Asked>();
  readonly #unlistened = new Map<number, () => void>();
  #isLost = false;
  #numbers = 0;
  #holds = 0;

  /**
   * @param source what runs in it
   * @param from the module that packages are looked for from
   */
  constructor(source: URL | string, from: string, events: CarrierEvents) {
    this.#events = events;
    const [here, there] = platform.messageChannel();
    this.#port = here;
    const start: CarrierStart = { port: there, from };
    const worker = new Worker(threadUrl(source), {
      name: 'millrace carrier',
      workerData: start,
      transferList: [there as never],
      // What the program preloads into each of its threads has no use there.
      execArgv: [],
    });
    worker.unref();
    worker.on('error', (error) => this.#lost(error));
    platform.listen(here, {
      message: (said) => this.#heard(said as AnyNews | number),
      closed: () => this.#lost(new Error('the carrier has ended')),
    });
  }

  newNumber(): number {
    return ++this.#numbers;
  }
  /** @param number one that the carrier has given, or a new one */
  line(number: number = this.newNumber()): CarriedStream {
    const memory = allocateMemory(CARRIER_RING_BYTES, CARRIER_RING_BYTES, MESSAGE_BYTES_DEFAULT);
    const stream = new CarriedStream(this, number, memory);
    this.#lines.set(number, stream);
    return stream;
  }
  lineOf(number: number): CarriedStream | undefined {
    return this.#lines.get(number);
  }

  /**
   * A line that is there once the carrier says so.
   * @param ask makes it, of its number and memory
   * @throws (rejects) what the carrier says; the signal's reason
   */
  async connect(ask: (line: CarriedStream) => AnyAsk, signal?: AbortSignal): Promise<CarriedStream> {
    signal?.throwIfAborted();
    const stream = this.line();
    const giveUp = (): void => this.#asked.get(stream.number)?.failed(signal?.reason);
    signal?.addEventListener('abort', giveUp);
    try {
      await this.ask(ask(stream));
      return stream;
    } catch (error) {
      this.drop(stream);
      throw error;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }
  /** Of one that nobody has. */
  drop(stream: CarriedStream): void {
    stream.destroy();
    this.#lines.delete(stream.number);
  }

  say(ask: AnyAsk): void {
    this.#port.postMessage(ask);
  }
  /**
   * Keeps the process alive until there is an answer.
   * @throws (rejects) what the carrier says
   */
  async ask(ask: AnyAsk): Promise<There> {
    this.hold(true);
    try {
      return await new Promise<There>((resolve, reject) => {
        this.#asked.set(ask.of, { there: resolve, failed: reject });
        this.say(ask);
      });
    } finally {
      this.#asked.delete(ask.of);
      this.hold(false);
    }
  }
  /** Who waits with the thread is told of what was asked for in `takeNews`, until it forgets it. */
  expect(of: number, asked: Asked): void {
    this.#asked.set(of, asked);
  }
  forgetAsked(of: number): void {
    this.#asked.delete(of);
  }
  /** The listener's address is free when this is done. */
  async unlisten(of: number): Promise<void> {
    if (this.#isLost) return;
    const done = new Promise<void>((resolve) => void this.#unlistened.set(of, resolve));
    this.say({ of, ask: 'unlisten' });
    await done;
    this.#unlistened.delete(of);
  }

  // ---- for its lines ---------------------------------------------------------------------------------------------

  ring(of: number): void {
    this.#port.postMessage(of);
  }
  destroy(of: number): void {
    this.say({ of, ask: 'destroy' });
  }
  /** This side has said its last. */
  ends(of: number): void {
    this.say({ of, ask: 'ends' });
  }
  /** The line is over. */
  forget(of: number): void {
    this.#lines.delete(of);
  }
  hold(held: boolean): void {
    this.#holds += held ? 1 : -1;
    if (this.#holds === (held ? 1 : 0)) platform.hold(this.#port, held);
  }
  /** Takes what the carrier has said without the event loop. */
  takeNews(): void {
    for (let said = platform.takeMessage(this.#port); said !== undefined; said = platform.takeMessage(this.#port))
      this.#heard(said.message as AnyNews | number);
  }

  #heard(said: AnyNews | number): void {
    if (typeof said === 'number') {
      this.#lines.get(said)?.woken();
      return;
    }
    const news = said as CommonNews;
    const { of } = news;
    if (news.news === 'there') this.#asked.get(of)?.there(news);
    else if (news.news === 'failed') this.#asked.get(of)?.failed(errorTold(news.error));
    else if (news.news === 'broke') this.#lines.get(of)?.broke(errorTold(news.error));
    else if (news.news === 'unlistened') this.#unlistened.get(of)?.();
    else this.#events.told(said);
  }
  #lost(error: Error): void {
    this.#isLost = true;
    this.#events.lost();
    for (const { failed } of [...this.#asked.values()]) failed(error);
    for (const line of [...this.#lines.values()]) line.lost(error);
    for (const done of this.#unlistened.values()) done();
  }
}

/** Holds the process for a listener, once. */
export function listenerHold(host: CarrierHost): (held: boolean) => void {
  let held = true;
  host.hold(true);
  return (wanted) => {
    if (wanted !== held) host.hold(wanted);
    held = wanted;
  };
}
