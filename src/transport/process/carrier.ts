// The carrier of this thread's sockets on this machine, where it blocks.
import { TimeoutError } from '../../errors.ts';
import { CARRIER_START_MS } from '../../limits.ts';
import { HERE } from '../../platform/here.ts';
import type { Address } from './address.ts';
import type { Bound } from './bind.ts';
import type { CarriedStream } from './carried-stream.ts';
import { CarrierHost, listenerHold } from './carrier-host.ts';
import { CARRIER } from './carrier-source.ts';
import type { Ask, News } from './carrier-words.ts';

export class Carrier {
  readonly #host: CarrierHost;
  /** Who is told of those that connect to a listener. */
  readonly #connected = new Map<number, (stream: CarriedStream) => void>();

  constructor() {
    this.#host = new CarrierHost(CARRIER, HERE, {
      told: (news) => this.#told(news as News),
      lost: () => {
        if (own === this) own = undefined;
      },
    });
  }
  #say(ask: Ask): void {
    this.#host.say(ask);
  }

  /** @throws (rejects) as `dial` */
  connect(address: Address, signal?: AbortSignal): Promise<CarriedStream> {
    return this.#host.connect(({ number, memory }): Ask => ({ of: number, ask: 'connect', memory, address }), signal);
  }

  /** @throws (rejects) as `bind` */
  async listen(address: Address, connected: (stream: CarriedStream) => void): Promise<Bound> {
    const host = this.#host;
    const of = host.newNumber();
    this.#connected.set(of, connected);
    try {
      const ask: Ask = { of, ask: 'listen', address };
      const { address: found } = await host.ask(ask);
      const hold = listenerHold(host);
      const close = async (): Promise<void> => {
        await host.unlisten(of);
        hold(false);
        this.#connected.delete(of);
      };
      return { address: found as Address, close, hold };
    } catch (error) {
      this.#connected.delete(of);
      throw error;
    }
  }

  /** The stream over a descriptor of this process, which is the stream's from here on. */
  open(fd: number): CarriedStream {
    const stream = this.#host.line();
    this.#say({ of: stream.number, ask: 'open', memory: stream.memory, fd });
    return stream;
  }

  /**
   * A stream whose other end `give` is to hand on, by its descriptor, which is closed here behind that. Waits with the thread.
   * @throws what the system says, what `give` throws; TimeoutError
   */
  pair<T>(give: (fd: number) => T): { readonly given: T; readonly stream: CarriedStream } {
    const host = this.#host;
    const stream = host.line();
    const { number, memory } = stream;
    let fd: number | undefined;
    let failed: Error | undefined;
    host.expect(number, {
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
        host.takeNews();
        if (failed !== undefined) throw failed;
        if (performance.now() > untilMs) throw noStart();
      }
      const given = give(fd);
      this.#say({ of: number, ask: 'paired' });
      return { given, stream };
    } catch (error) {
      this.#say({ of: number, ask: 'paired' });
      host.drop(stream);
      throw error;
    } finally {
      host.forgetAsked(number);
    }
  }

  #told(news: News): void {
    if (news.news !== 'accepted') return;
    const stream = this.#host.line(news.line);
    this.#say({ of: news.line, ask: 'take', memory: stream.memory });
    const connected = this.#connected.get(news.of);
    if (connected !== undefined) connected(stream);
    else stream.destroy();
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
