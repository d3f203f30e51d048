// How a line through a server comes to be: who wants one listens where nobody else does, and asks who listens for ports, by its name, or by its own for a
// connection that it has.
import { AddressError, ClosedError, UnsupportedError } from '../errors.ts';
import { ENGINE_ASKING_MAX, ENGINE_LAST_MS } from '../limits.ts';
import { settleable } from '../port/waiters.ts';
import type { Line } from '../transport/network/line.ts';
import { OPEN, WebSocketLine } from '../transport/network/web-socket-line.ts';
import type { Driver, Subscription } from './driver.ts';
import { EngineSocket, HEAD_BYTES, message, OPENED } from './engine-socket.ts';
import { settledInTime } from './in-time.ts';
import { isId, type Names, randomId } from './names.ts';

const VERSION = 1;

/** What asks for a line: u8 version, then where the answer goes, in ASCII. */
function asking(id: string): Uint8Array {
  const bytes = new TextEncoder().encode(` ${id}`);
  bytes[0] = VERSION;
  return bytes;
}
/** The id of who asks; `undefined` for anything else. */
function askedBy(bytes: Uint8Array): string | undefined {
  const id = new TextDecoder().decode(bytes.subarray(1));
  return bytes[0] === VERSION && isId(id) ? id : undefined;
}

function lineOver(socket: EngineSocket, driver: Driver): Line {
  return new WebSocketLine(socket, { maxBytes: driver.maxBytes - HEAD_BYTES });
}

/** Asks for a line after the other, to one listener: the one that has answered first. */
export class Dialer {
  readonly #driver: Driver;
  readonly #names: Names;
  readonly #name: string;
  #listener: string | undefined;

  constructor(driver: Driver, names: Names, name: string) {
    this.#driver = driver;
    this.#names = names;
    this.#name = name;
  }

  /** @throws (rejects) AddressError ERR_UNREACHABLE where nobody listens; the signal's reason */
  async dial(signal: AbortSignal): Promise<Line> {
    const [driver, names] = [this.#driver, this.#names];
    if (driver.closed) throw new UnsupportedError(`Cannot connect to ${this.#where}: this engine is closed`);
    const answered = settleable<void>();
    const givenUp = settleable<never>();
    const aborted = (): void => givenUp.reject(signal.reason);
    signal.addEventListener('abort', aborted);
    const forget = driver.onDown(() => {
      const [what, reason] = driver.closed ? ['this engine is closed', 'closed'] : ['the server is lost', 'lost'];
      givenUp.reject(new ClosedError(`Cannot connect to ${this.#where}: ${what}`, reason));
    });
    for (const { promise } of [answered, givenUp]) promise.catch(() => {});
    // Of what a server that hangs may never answer, whoever gives up waits for none.
    const orGivenUp = <R>(promise: Promise<R>): Promise<R> => Promise.race([promise, givenUp.promise]);
    const id = randomId();
    let subscribing: Promise<Subscription> | undefined;
    let subscription: Subscription | undefined;
    let socket: EngineSocket | undefined;
    let line: Line | undefined;
    try {
      signal.throwIfAborted();
      await orGivenUp(driver.ready());
      subscribing = driver.subscribe(names.line(id, 'a'), (bytes) => {
        if (socket !== undefined) socket.heard(bytes);
        else if (bytes[0] === OPENED) {
          socket = new EngineSocket(driver, names.line(id, 'b'), () => subscription?.close());
          // It may end in the same turn, of which whoever has the line is to hear.
          line = lineOver(socket, driver);
          const listener = new TextDecoder().decode(bytes.subarray(HEAD_BYTES));
          if (isId(listener)) this.#listener ??= listener;
          answered.resolve();
        }
      });
      subscription = await orGivenUp(subscribing);
      const heard = await orGivenUp(
        this.#listener === undefined
          ? driver.tellOne(names.port(this.#name), asking(id))
          : driver.tell(names.listener(this.#listener), asking(id)),
      );
      if (!heard) throw this.#nobody();
      await orGivenUp(answered.promise);
      return line as unknown as Line;
    } catch (error) {
      socket?.close();
      subscribing?.then(
        (late) => late.close(),
        () => {},
      );
      throw error;
    } finally {
      signal.removeEventListener('abort', aborted);
      forget();
    }
  }
  get #where(): string {
    return `${this.#driver.where} as ${this.#name}`;
  }
  #nobody(): AddressError {
    const address = this.#where;
    return new AddressError('ERR_UNREACHABLE', `Cannot connect to ${address}: nobody listens there`, { address });
  }
}

/** Gives lines to who asks for them. */
export class Answering {
  readonly #driver: Driver;
  readonly #names: Names;
  readonly #id = randomId();
  readonly #connected: (line: Line) => void;
  #own: Subscription | undefined;
  #byName: Subscription | undefined;
  /** Lines that are being made. */
  #asking = 0;
  #left = false;
  #closed = false;

  private constructor(driver: Driver, names: Names, connected: (line: Line) => void) {
    this.#driver = driver;
    this.#names = names;
    this.#connected = connected;
  }
  /** @throws (rejects) AddressError ERR_LISTEN */
  static async at(driver: Driver, names: Names, name: string, connected: (line: Line) => void): Promise<Answering> {
    const answering = new Answering(driver, names, connected);
    const asked = (bytes: Uint8Array): void => void answering.#asked(bytes, undefined);
    // The server has given it to this side, which hears no more: another one may be there.
    const handOn = (bytes: Uint8Array): void => void driver.tellOne(names.port(name), bytes).catch(() => {});
    answering.#own = await driver.subscribe(names.listener(answering.#id), asked);
    try {
      answering.#byName = await driver.share(names.port(name), (bytes) => {
        if (answering.#left) handOn(bytes);
        else void answering.#asked(bytes, () => handOn(bytes));
      });
    } catch (error) {
      answering.close();
      throw error;
    }
    return answering;
  }
  /** Whoever asks for one of the name is another one's; connections that there are may come back. */
  async leave(): Promise<void> {
    this.#left = true;
    if (this.#byName !== undefined) await settledInTime(this.#byName.drain(), ENGINE_LAST_MS);
  }
  /** Nobody comes any more. */
  close(): void {
    this.#closed = true;
    for (const subscription of [this.#own, this.#byName]) subscription?.close();
  }

  /** @param handOn in the place of an answer, where this side has left meanwhile */
  async #asked(bytes: Uint8Array, handOn: (() => void) | undefined): Promise<void> {
    const id = askedBy(bytes);
    // Who is one too many hears nothing, and asks again.
    if (id === undefined || this.#closed || this.#asking >= ENGINE_ASKING_MAX) return;
    this.#asking++;
    try {
      await this.#answer(id, handOn);
    } finally {
      this.#asking--;
    }
  }
  async #answer(id: string, handOn: (() => void) | undefined): Promise<void> {
    const [driver, names] = [this.#driver, this.#names];
    let subscription: Subscription | undefined;
    const socket = new EngineSocket(driver, names.line(id, 'a'), () => subscription?.close());
    const line = lineOver(socket, driver);
    try {
      subscription = await driver.subscribe(names.line(id, 'b'), (heard) => socket.heard(heard));
    } catch {
      // The server is lost, or allows no more: who asked asks again.
      socket.close();
      return;
    }
    if (this.#left && handOn !== undefined) {
      socket.close();
      handOn();
      return;
    }
    driver.publish(names.line(id, 'a'), message(OPENED, 0, new TextEncoder().encode(this.#id)));
    if (socket.readyState === OPEN) this.#connected(line);
    else subscription.close();
  }
}
