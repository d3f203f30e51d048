// The thread that has this one's sockets, where this one blocks: started for the first, and ends with this thread. Who asks is told by
// the event loop, or waits with the thread.
import { Worker } from 'node:worker_threads';
import { platform } from '#platform';
import { TimeoutError } from '../../errors.ts';
import { CARRIER_RING_BYTES, CARRIER_START_MS, MESSAGE_BYTES_DEFAULT } from '../../limits.ts';
import { allocateMemory } from '../../memory/region.ts';
import type { NativePort } from '../../platform/contract.ts';
import type { Address } from './address.ts';
import type { Bound } from './bind.ts';
import { CarriedStream } from './carried-stream.ts';
import { CARRIER } from './carrier-source.ts';
import { type Ask, type CarrierStart, errorTold, type News } from './carrier-words.ts';
import { threadUrl } from './own-thread.ts';

type There = Extract<News, { news: 'there' }>;
interface Asked {
  there(news: There): void;
  failed(error: Error): void;
}

export class Carrier {
  readonly #port: NativePort;
  readonly #lines = new Map<number, CarriedStream>();
  readonly #asked = new Map<number, Asked>();
  /** Who is told of those that connect to a listener. */
  readonly #connected = new Map<number, (stream: CarriedStream) => void>();
  readonly #unlistened = new Map<number, () => void>();
  #numbers = 0;
  #holds = 0;

  constructor() {
    const [here, there] = platform.messageChannel();
    this.#port = here;
    const start: CarrierStart = { port: there };
    const worker = new Worker(threadUrl(CARRIER), {
      name: 'millrace carrier',
      workerData: start,
      transferList: [there as never],
      // What the program preloads into each of its threads has no use there.
      execArgv: [],
    });
    worker.unref();
    worker.on('error', (error) => this.#lost(error));
    platform.listen(here, {
      message: (said) => this.#heard(said as News | number),
      closed: () => this.#lost(new Error('the carrier has ended')),
    });
  }

  /** @throws (rejects) as `dial` */
  async connect(address: Address, signal?: AbortSignal): Promise<CarriedStream> {
    signal?.throwIfAborted();
    const stream = this.#line(++this.#numbers);
    const { number, memory } = stream;
    const giveUp = (): void => this.#asked.get(number)?.failed(signal?.reason);
    signal?.addEventListener('abort', giveUp);
    try {
      await this.#ask({ of: number, ask: 'connect', memory, address });
      return stream;
    } catch (error) {
      stream.destroy();
      this.#lines.delete(number);
      throw error;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  /** @throws (rejects) as `bind` */
  async listen(address: Address, connected: (stream: CarriedStream) => void): Promise<Bound> {
    const of = ++this.#numbers;
    this.#connected.set(of, connected);
    try {
      const { address: found = address } = await this.#ask({ of, ask: 'listen', address });
      let held = true;
      this.hold(true);
      const hold = (wanted: boolean): void => {
        if (wanted !== held) this.hold(wanted);
        held = wanted;
      };
      return { address: found, close: () => this.#unlisten(of, hold), hold };
    } catch (error) {
      this.#connected.delete(of);
      throw error;
    }
  }
  async #unlisten(of: number, hold: (held: boolean) => void): Promise<void> {
    const done = new Promise<void>((resolve) => void this.#unlistened.set(of, resolve));
    this.#say({ of, ask: 'unlisten' });
    await done;
    hold(false);
    this.#connected.delete(of);
  }

  /** The stream over a descriptor of this process, which is the stream's from here on. */
  open(fd: number): CarriedStream {
    const stream = this.#line(++this.#numbers);
    this.#say({ of: stream.number, ask: 'open', memory: stream.memory, fd });
    return stream;
  }

  /**
   * A stream whose other end `give` is to hand on, by its descriptor, which is closed here behind that. Waits with the thread.
   * @throws what the system says, what `give` throws; TimeoutError
   */
  pair<T>(give: (fd: number) => T): { readonly given: T; readonly stream: CarriedStream } {
    const stream = this.#line(++this.#numbers);
    const { number, memory } = stream;
    let fd: number | undefined;
    let failed: Error | undefined;
    this.#asked.set(number, {
      there: (news) => {
        fd = news.fd;
      },
      failed: (error) => {
        failed = error;
      },
    });
    this.#say({ of: number, ask: 'pair', memory });
    const nap = new Int32Array(new SharedArrayBuffer(4));
    try {
      for (const untilMs = performance.now() + CARRIER_START_MS; fd === undefined; Atomics.wait(nap, 0, 0, 1)) {
        this.takeNews();
        if (failed !== undefined) throw failed;
        if (performance.now() > untilMs) throw noStart();
      }
      const given = give(fd);
      this.#say({ of: number, ask: 'paired' });
      return { given, stream };
    } catch (error) {
      this.#say({ of: number, ask: 'paired' });
      stream.destroy();
      this.#lines.delete(number);
      throw error;
    } finally {
      this.#asked.delete(number);
    }
  }

  // ---- for its lines ---------------------------------------------------------------------------------------------

  ring(of: number): void {
    this.#port.postMessage(of);
  }
  destroy(of: number): void {
    this.#say({ of, ask: 'destroy' });
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
      this.#heard(said.message as News | number);
  }

  // ---- inside ----------------------------------------------------------------------------------------------------

  #line(number: number): CarriedStream {
    const memory = allocateMemory(CARRIER_RING_BYTES, CARRIER_RING_BYTES, MESSAGE_BYTES_DEFAULT);
    const stream = new CarriedStream(this, number, memory);
    this.#lines.set(number, stream);
    return stream;
  }
  #say(ask: Ask): void {
    this.#port.postMessage(ask);
  }
  /** Keeps the process alive until there is an answer. */
  async #ask(ask: Ask): Promise<There> {
    this.hold(true);
    try {
      return await new Promise<There>((resolve, reject) => {
        this.#asked.set(ask.of, { there: resolve, failed: reject });
        this.#say(ask);
      });
    } finally {
      this.#asked.delete(ask.of);
      this.hold(false);
    }
  }

  #heard(said: News | number): void {
    if (typeof said === 'number') {
      this.#lines.get(said)?.woken();
      return;
    }
    const { of } = said;
    if (said.news === 'there') this.#asked.get(of)?.there(said);
    else if (said.news === 'failed') this.#asked.get(of)?.failed(errorTold(said.error));
    else if (said.news === 'broke') this.#lines.get(of)?.broke(errorTold(said.error));
    else if (said.news === 'accepted') this.#accepted(of, said.line);
    else this.#unlistened.get(of)?.();
  }
  #accepted(of: number, number: number): void {
    const stream = this.#line(number);
    this.#say({ of: number, ask: 'take', memory: stream.memory });
    const connected = this.#connected.get(of);
    if (connected !== undefined) connected(stream);
    else stream.destroy();
  }
  /** It could not begin, or has failed. */
  #lost(error: Error): void {
    if (own === this) own = undefined;
    for (const { failed } of [...this.#asked.values()]) failed(error);
    for (const line of [...this.#lines.values()]) line.lost(error);
    for (const done of this.#unlistened.values()) done();
  }
}

let own: Carrier | undefined;

/** That of this thread. */
export function ownCarrier(): Carrier {
  own ??= new Carrier();
  return own;
}

function noStart(): TimeoutError {
  return new TimeoutError(
    `Cannot start a process with blocking: true: the thread that is to have its pipe has not begun in ${CARRIER_START_MS} ms; is this machine very busy?`,
    { timeoutMs: CARRIER_START_MS },
  );
}
