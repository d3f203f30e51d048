// Many conversations over one endpoint, which others may use as well. Each `wrap` begins a line of its own: it says HELLO, again and again until
// somebody who exposes has TAKEN it, for what nobody listens to yet is lost over some endpoints. Where memory can be shared the answer brings a
// channel of millrace, and all that follows goes over that: it is faster, and tells of the other thread's end where the endpoint does not.
//
//   [TAG, line, HELLO, share]      begins; share: 1 if it may bring a channel
//   [TAG, line, TAKEN, handle?]    answers
//   [TAG, line, CALLS, envelope]   what millrace/rpc says, where there is no channel
//   [TAG, line, BYE]               ends
import { platform } from '#platform';
import { ClosedError, DataCloneError, UnsupportedError } from '../../errors.ts';
import { COMLINK_DEATH_MS, COMLINK_HELLO_MS, COMLINK_HELLO_MS_MAX } from '../../limits.ts';
import type { RemoteHandle } from '../../memory/handle.ts';
import { CLOSED, type CloseReason, EMPTY } from '../../outcome.ts';
import { memoryAttach as attach, memoryChannel as channel } from '../../port/channel.ts';
import type { RawListener } from '../../port/events.ts';
import type { Port } from '../../port/port.ts';
import type { EventName, PortEventMap } from '../../port/port-events.ts';
import { type Settleable, settleable } from '../../port/waiters.ts';
import type { CallPort } from '../../rpc/connection.ts';
import { type Endpoint, Medium, nodeOf } from './endpoints.ts';

const TAG = 'millrace/comlink';
const HELLO = 0;
const TAKEN = 1;
const CALLS = 2;
const BYE = 3;

/** Who answers lines that begin over there. */
export interface Server {
  /** Whether a message of this origin counts; `undefined`: the endpoint knows none. */
  allows(origin: string | undefined): boolean;
  take(line: Line): void;
  /** All lines are over that there were. */
  left(): void;
}

export class Lines {
  static readonly #all: WeakMap<object, Lines> = new WeakMap();
  readonly #medium: Medium;
  readonly #key: object;
  readonly #lines: Map<string, Line> = new Map();
  #server: Server | undefined;
  #listens = false;
  /** What the other thread dies of. */
  #error: { readonly error: unknown; told: boolean } | undefined;
  /** Somebody over there has said something. */
  #met = false;
  #ended: CloseReason | undefined;

  private constructor(endpoint: Endpoint, key: object) {
    this.#medium = new Medium(endpoint);
    this.#key = key;
  }
  /** @throws UsageError ERR_OPTION for what is no endpoint */
  static of(endpoint: Endpoint): Lines {
    const key: object = nodeOf(endpoint) ?? endpoint;
    const known = Lines.#all.get(key);
    if (known !== undefined) return known;
    const lines = new Lines(endpoint, key);
    Lines.#all.set(key, lines);
    return lines;
  }

  get medium(): Medium {
    return this.#medium;
  }

  /** @returns false if somebody answers already */
  serve(server: Server): boolean {
    if (this.#server !== undefined) return false;
    this.#server = server;
    this.#listen();
    return true;
  }
  begin(): Line {
    this.#listen();
    const line = new Line(this, nameOfLine());
    if (this.#ended === undefined) this.#lines.set(line.name, line);
    else line.over(this.#ended, this.#error?.error);
    return line;
  }
  post(line: string, kind: number, what: unknown, transfer: readonly unknown[] = []): void {
    this.#medium.post([TAG, line, kind, what], transfer);
  }

  #listen(): void {
    if (this.#listens) return;
    this.#listens = true;
    this.#medium.listen({
      message: (data, origin) => this.#hear(data, origin),
      messageerror: () => {
        for (const line of [...this.#lines.values()]) line.lost();
      },
      error: (error) => this.#failed(error),
      end: (reason) => this.#end(reason as CloseReason),
    });
    const { reason } = this.#medium.port ?? {};
    if (reason !== undefined) this.#end(reason);
  }

  #hear(data: unknown, origin: string | undefined): void {
    if (!Array.isArray(data) || data[0] !== TAG || typeof data[1] !== 'string') return;
    const [, name, kind, what] = data as [string, string, unknown, unknown];
    const known = this.#lines.get(name);
    const server = known === undefined ? this.#server : known.server;
    if ((known === undefined || known.served) && server?.allows(origin) !== true) return;
    this.#met = true;
    if (known !== undefined) known.hear(kind, what);
    else if (kind === HELLO && server !== undefined) {
      const line = new Line(this, name, server);
      this.#lines.set(name, line);
      server.take(line);
      line.hear(kind, what);
    }
  }

  /** A thread of Node's ends of it, and its exit tells; what a browser could not load says nothing else. */
  #failed(error: unknown): void {
    this.#error = { error, told: false };
    if (!this.#met) this.#end('crash');
  }
  #end(reason: CloseReason): void {
    if (this.#ended !== undefined) return;
    this.#ended = this.#error !== undefined && reason === 'exit' ? 'crash' : reason;
    for (const line of [...this.#lines.values()]) {
      // What was said before it was closed lies in the channel by now.
      if (reason === 'closed') line.readOn();
      line.over(this.#ended, this.#error?.error);
    }
    // Whoever listens to a worker's errors keeps the runtime from telling of them: where no call has, they are told as they would have been.
    if (this.#error?.told === false && !this.#medium.errorIsHeard) platform.reportError(this.#error.error);
    this.#leave();
  }
  /** How a line is over whose channel is: the endpoint may say more about that, if it does so soon. */
  endOf(line: Line, reason: CloseReason, error: unknown): void {
    if (reason === 'closed' || error !== undefined || !this.#medium.tellsEnd || this.#ended !== undefined) {
      line.over(reason, error);
      return;
    }
    setTimeout(() => line.over(this.#error === undefined ? reason : 'crash', this.#error?.error), COMLINK_DEATH_MS);
  }
  /** Somebody has been told of the error. */
  told(): void {
    if (this.#error !== undefined) this.#error.told = true;
  }

  leave(line: Line): void {
    this.#lines.delete(line.name);
    if (line.served) this.unused(line);
    this.#leave();
  }
  /** Over this line nobody has any more what is exposed here: when that is so of all, it is not exposed any more. */
  unused(line: Line): void {
    line.isUsed = false;
    if ([...this.#lines.values()].some(({ served, isUsed }) => served && isUsed)) return;
    const server = this.#server;
    this.#server = undefined;
    server?.left();
  }
  /** Nobody here has anything to do with the endpoint any more. */
  #leave(): void {
    if (this.#ended === undefined && (this.#lines.size > 0 || this.#server !== undefined)) return;
    const server = this.#server;
    this.#server = undefined;
    server?.left();
    if (!this.#listens) return;
    this.#listens = false;
    this.#medium.leave();
    if (this.#ended === undefined) Lines.#all.delete(this.#key);
  }
}

function nameOfLine(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(3)), (word) => word.toString(36)).join('');
}

type Told = { [K in EventName]: RawListener<PortEventMap[K]>[] };

/** One conversation: what calls use of a port. */
export class Line implements CallPort {
  readonly name: string;
  /** Who answers it; `undefined`: it began here. */
  readonly server: Server | undefined;
  /** Over there somebody has what is exposed here. */
  isUsed: boolean;
  /** Whether somebody waits here who will be told of its end. */
  awaited: (() => boolean) | undefined;
  readonly #lines: Lines;
  readonly #listeners: Told = { message: [], messageerror: [], close: [] };
  /** The channel, where there is one. */
  #port: Port | undefined;
  #taken: Settleable<void> | undefined;
  #isTaken: boolean;
  #answered = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sharing: boolean;
  #reason: CloseReason | undefined;
  #error: unknown;

  constructor(lines: Lines, name: string, server?: Server) {
    this.#lines = lines;
    this.name = name;
    this.server = server;
    this.isUsed = this.#isTaken = this.served;
    this.#sharing = lines.medium.mayShare;
  }
  get served(): boolean {
    return this.server !== undefined;
  }

  // ---- as a port ----------------------------------------------------------------------------------------------

  on<K extends EventName>(type: K, listener: RawListener<PortEventMap[K]>): this {
    (this.#listeners[type] as RawListener<PortEventMap[K]>[]).push(listener);
    return this;
  }
  /** @throws DataCloneError, as a Port does */
  postMessage(envelope: unknown, transfer: readonly unknown[] = []): void {
    if (this.#reason !== undefined) return;
    if (this.#port !== undefined) {
      this.#port.postMessage(envelope, transfer as never);
      return;
    }
    try {
      this.#lines.post(this.name, CALLS, envelope, transfer);
    } catch (error) {
      if ((error as { name?: unknown } | null)?.name !== 'DataCloneError' || error instanceof DataCloneError)
        throw error;
      throw new DataCloneError((error as Error).message, '', error);
    }
  }
  /** What is to be said waits until somebody has taken the line. */
  get full(): boolean {
    if (this.#reason !== undefined) return false;
    if (!this.#isTaken) return true;
    return (this.#port ?? this.#lines.medium.port)?.full ?? false;
  }
  drained(): Promise<void> {
    if (this.#isTaken || this.#reason !== undefined) {
      return (this.#port ?? this.#lines.medium.port)?.drained() ?? Promise.resolve();
    }
    if (this.#taken === undefined) {
      this.#taken = settleable();
      this.#hello(COMLINK_HELLO_MS);
    }
    return this.#taken.promise;
  }
  receive(): typeof CLOSED {
    throw new UnsupportedError(
      'Cannot block here: calls in the manner of Comlink answer by promises; use wrapSync of millrace/rpc',
    );
  }
  tryReceive(): unknown {
    return this.#port?.tryReceive() ?? EMPTY;
  }
  get reason(): CloseReason | undefined {
    return this.#reason;
  }
  get error(): unknown {
    return this.#error;
  }
  get interrupted(): number {
    return this.#port?.interrupted ?? 0;
  }
  interrupt(id?: number): void {
    this.#port?.interrupt(id);
  }
  clearInterrupt(only?: number): number {
    return this.#port?.clearInterrupt(only) ?? 0;
  }
  /** Who listens to an endpoint keeps the program running, as with Comlink, until it lets go. */
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  /** This side is done with it. */
  close(): void {
    if (this.#reason !== undefined) return;
    // Before it was taken, too: it may have been over there.
    if (this.#port === undefined) this.#lines.post(this.name, BYE, undefined);
    this.over('closed', undefined);
  }

  // ---- as a line ----------------------------------------------------------------------------------------------

  #hello(againMs: number): void {
    if (this.#isTaken || this.#reason !== undefined) return;
    this.#lines.post(this.name, HELLO, this.#sharing ? 1 : 0);
    this.#timer = setTimeout(() => this.#hello(Math.min(againMs * 2, COMLINK_HELLO_MS_MAX)), againMs);
  }

  hear(kind: unknown, what: unknown): void {
    if (kind === CALLS && this.#port === undefined) this.#tell('message', what);
    else if (kind === BYE) this.over('closed', undefined);
    else if (kind === HELLO && this.served) this.#answer(what === 1);
    else if (kind === TAKEN && !this.served && !this.#isTaken) this.#take(what);
  }
  /** Asked again: the answer is on its way, or could not be read over there, which then wants no channel. */
  #answer(sharing: boolean): void {
    if (this.#answered && (sharing || this.#port === undefined)) return;
    this.#answered = true;
    const unread = this.#port;
    this.#port = undefined;
    unread?.close();
    if (!sharing || !this.#sharing) {
      this.#lines.post(this.name, TAKEN, undefined);
      return;
    }
    const { port, remote } = channel();
    this.#go(port);
    this.#lines.post(this.name, TAKEN, remote, remote.transfer);
  }
  #take(handle: unknown): void {
    // As texts carry it, nothing is null.
    if (handle !== undefined && handle !== null) {
      try {
        this.#go(attach(handle as RemoteHandle));
      } catch {
        this.#refuse();
        return;
      }
    }
    this.#isTaken = true;
    clearTimeout(this.#timer);
    this.#taken?.resolve();
  }
  /** Memory does not come through: it leads to another process, or to a place that shares none. */
  #refuse(): void {
    this.#sharing = false;
    this.#lines.post(this.name, HELLO, 0);
  }
  /** From now on it goes over this port. */
  #go(port: Port): void {
    this.#port = port;
    port.on('message', (value) => this.#tell('message', value));
    port.on('messageerror', (error) => this.#tell('messageerror', error));
    port.on('close', (reason) => {
      if (this.#port === port) this.#lines.endOf(this, reason, port.error);
    });
  }

  /** What the other side has said over the channel, before this line is over. */
  readOn(): void {
    try {
      let value = this.#port?.tryReceive() ?? EMPTY;
      while (value !== EMPTY && value !== CLOSED) {
        this.#tell('message', value);
        value = this.#port?.tryReceive() ?? EMPTY;
      }
    } catch (error) {
      this.#tell('messageerror', error);
    }
  }

  /** Something that came could not be read: perhaps it was of this line. */
  lost(): void {
    if (!this.#isTaken && this.#taken !== undefined) this.#refuse();
    else if (this.#port === undefined) this.#tell('messageerror', undefined);
  }

  over(reason: CloseReason, error: unknown): void {
    if (this.#reason !== undefined) return;
    if (error !== undefined && this.awaited?.() === true) this.#lines.told();
    this.#reason = reason;
    this.#error = error;
    clearTimeout(this.#timer);
    const taken = this.#taken;
    taken?.promise.catch(() => {});
    taken?.reject(new ClosedError(`Cannot talk: ${reason}`, reason, error));
    this.#tell('close', reason);
    this.#port?.close();
    this.#lines.leave(this);
  }
  #tell<K extends EventName>(type: K, value: PortEventMap[K]): void {
    const listeners = this.#listeners[type] as RawListener<PortEventMap[K]>[];
    for (const listener of listeners) (listener as (value: PortEventMap[K]) => void)(value);
  }
}
