// The calls of one port, in both directions: what comes in, and its end. What goes out stands in envelopes.ts, who waits for answers in calls.ts, who gives them
// in serving.ts, what travels as more than its bytes in values.ts and streams.ts, and a thread that blocks in blocking.ts.
import { platform } from '#platform';
import { ClosedError, UnsupportedError, UsageError } from '../errors.ts';
import { CALLS_BATCH_MAX, CALLS_CHECKED_MAX } from '../limits.ts';
import type { RawListener } from '../port/events.ts';
import { claimReading, type Port } from '../port/port.ts';
import type { EventName, PortEventMap } from '../port/port-events.ts';
import type { Claim, ReceiveOptions } from '../port/receiving.ts';
import { agent, Blocking } from './blocking.ts';
import { Calls } from './calls.ts';
import { Envelopes } from './envelopes.ts';
import { protocolError, thrownBy } from './failures.ts';
import type { Manners } from './manners.ts';
import type { Message } from './messages.ts';
import * as kinds from './messages.ts';
import { type CallOptions, type ConnectionOptions, checkSame, type Resolved, resolved, shown } from './options.ts';
import { type Invoke, invokeAsync } from './proxy.ts';
import { Serving } from './serving.ts';
import { Streams } from './streams.ts';
import { Values } from './values.ts';

/** What calls use of a port. */
export type CallPort = Pick<Port, 'postMessage' | 'full' | 'drained' | 'reason' | 'error' | 'close'> &
  Pick<Port, 'interrupt' | 'interrupted' | 'clearInterrupt'> &
  Partial<Pick<Port, 'moveOutbox'>> & {
    on<K extends EventName>(type: K, listener: RawListener<PortEventMap[K]>): unknown;
    ref(): unknown;
    unref(): unknown;
    tryReceive(): unknown;
    receive(options: ReceiveOptions): unknown;
  };

/** Who has put many connections together. */
export interface ConnectionPool {
  /** The connection is over; what waits for it is told behind this. */
  ending(error: ClosedError | UnsupportedError): void;
  /** A call that was given up runs no more over there. */
  over(id: number): void;
  /** A stream is over. */
  streamOver(): void;
}

/** What is to run in a microtask is hung on it: on Node `queueMicrotask` makes more objects, and runs more code, which takes time after a rest. */
const settled: Promise<void> = Promise.resolve();
const NOTHING: readonly unknown[] = [];

export class Connection {
  readonly port: CallPort;
  readonly options: Resolved;
  /** Of another door; `undefined`: those of millrace/rpc. */
  readonly manners: Manners | undefined;
  /** By which other threads know this one in the chain of who is blocked. */
  readonly token: number = agent().token;
  readonly out: Envelopes;
  readonly blocking: Blocking;
  readonly values: Values;
  readonly calls: Calls;
  readonly serving: Serving;
  readonly streams: Streams;
  pool: ConnectionPool | undefined;
  /** Of another door: looks whether this connection is of any use still, after less is held, called or read over it. */
  onLess: (() => void) | undefined;
  /** Why nothing can be called any more. */
  ended: ClosedError | UnsupportedError | undefined;
  /** How functions that the other side gives away are called. */
  readonly invoke: Invoke = invokeAsync;
  #met: (() => void)[] | undefined = [];
  /** The number of the last envelope that has come. */
  received = 0;
  /** What has come last, and how much of it was heard: what is heard may block, and the rest must be heard meanwhile. */
  #envelope: readonly unknown[] = NOTHING;
  #at = 0;
  #held = true;
  #reholds = false;
  /** What the other side has said that it dies of. */
  #crash: { readonly error: unknown } | undefined;
  readonly #claim: Claim | undefined;
  readonly #self: WeakRef<Connection> = new WeakRef(this);

  /** @param last the numbers of envelopes, calls, functions and streams go on behind it, and round at the largest */
  constructor(port: CallPort, options: Resolved, manners?: Manners, last = 0) {
    this.#claim = claimReading(port, 'calls');
    this.port = port;
    this.options = options;
    this.manners = manners;
    this.out = new Envelopes(this, port, last);
    this.blocking = new Blocking(this, this.#claim ?? port);
    this.values = new Values(this, last);
    this.calls = new Calls(this, last);
    this.serving = new Serving(this);
    this.streams = new Streams(this, last);
    port.on('message', (envelope: unknown) => this.accept(envelope));
    port.on('messageerror', () => this.lost());
    port.on('close', (reason: unknown) => this.end(String(reason)));
    agent().open.add(this.#self);
    if (port.reason !== undefined) this.end(port.reason);
    this.rehold();
  }

  /** The process is kept while something of ours is pending, or something is exposed. */
  rehold(): void {
    const held = this.calls.size > 0 || this.streams.awaited || this.serving.exposes;
    if (held === this.#held) return;
    this.#held = held;
    if (held) this.port.ref();
    else this.port.unref();
  }

  /** The same, once those who await what has come have had their turn. */
  reholdSoon(): void {
    if (this.#reholds) return;
    this.#reholds = true;
    void settled.then(this.#rehold);
  }
  less(): void {
    if (this.onLess !== undefined) this.reholdSoon();
  }
  readonly #rehold = (): void => {
    this.#reholds = false;
    this.rehold();
    this.onLess?.();
  };

  // ---- in -----------------------------------------------------------------------------------------------------

  /** Never throws: what makes no sense is told, and the rest goes on. */
  accept(envelope: unknown): void {
    if (this.ended !== undefined) return;
    if (!Array.isArray(envelope) || !kinds.isNumber(envelope[0])) {
      this.faulty('a message');
      return;
    }
    const number = envelope[0];
    const expected = kinds.following(this.received);
    this.received = number;
    if (number !== expected) this.lost();
    if (envelope.length > CALLS_BATCH_MAX + 1) {
      this.faulty(`${envelope.length - 1} messages in one`);
      this.lost();
      return;
    }
    this.#envelope = envelope;
    this.#at = 1;
    this.drain();
  }
  /** Hears what has come. Whoever blocks in the midst of it goes on here, so that all of it was heard when something else is accepted. */
  drain(): void {
    // What follows a greeting that ends it is another version's, and not to be believed.
    while (this.#at < this.#envelope.length && this.ended === undefined) {
      try {
        this.#hear(this.#envelope[this.#at++]);
      } catch (error) {
        this.faulty(error);
      }
    }
    this.#envelope = NOTHING;
  }

  #hear(message: unknown): void {
    if (!Array.isArray(message)) throw protocolError('a message');
    switch (message[0]) {
      case kinds.CALL:
      case kinds.CALL_WITH:
        if (!this.out.overloaded()) this.serving.call(message as Message);
        return;
      case kinds.RESULT:
        this.calls.result(message[1], message[2]);
        return;
      case kinds.RESULT_WITH:
        this.calls.resultWith(message[1], message[2], message[3]);
        return;
      case kinds.FAILED:
        this.calls.failed(message[1], message[2]);
        return;
      case kinds.ABORT:
        this.serving.abort(message[1]);
        if (!this.out.overloaded()) this.out.reply({ message: [kinds.HEARD, message[1]], transfer: undefined });
        return;
      case kinds.RELEASE:
        if (typeof message[1] === 'number' && message[1] < 0) this.serving.release(-message[1], message[2]);
        else this.values.release(message[1], message[2]);
        return;
      case kinds.CREDIT:
        this.streams.credit(message[1], message[2]);
        return;
      case kinds.ITEMS:
        this.streams.items(message as Message);
        return;
      case kinds.ITEM_WITH:
        this.streams.itemWith(message[1], message[2], message[3]);
        return;
      case kinds.END:
        this.streams.ended(message as Message);
        return;
      case kinds.CANCEL:
        this.streams.cancel(message[1]);
        return;
      case kinds.HELLO:
        this.#hello(message[1]);
        return;
      case kinds.LOST:
        this.#lostThere();
        return;
      case kinds.CHECK:
        if (!this.out.overloaded()) this.#check(idsOf(message));
        return;
      case kinds.GONE:
        this.calls.gone(idsOf(message));
        return;
      case kinds.HEARD:
        this.calls.heard(message[1]);
        return;
      case kinds.BLAME:
        this.serving.blame(message as Message);
        return;
      case kinds.POOLED:
        this.serving.pooled(message[1], message[2]);
        return;
      case kinds.OVER:
        this.calls.over(message[1]);
        return;
      case kinds.CRASHED:
        this.#crash = { error: thrownBy(message[1]) };
        return;
      default:
        throw protocolError(typeof message[0] === 'number' ? `a message of kind ${message[0]}` : 'a message');
    }
  }

  #check(ids: readonly number[]): void {
    const gone = ids.filter((id) => !this.serving.knows(id));
    this.out.reply({ message: [kinds.GONE, ...gone], transfer: undefined });
  }

  #hello(version: unknown): void {
    if (version === kinds.VERSION) {
      const met = this.#met ?? [];
      this.#met = undefined;
      for (const tell of met) tell();
      return;
    }
    // A side that has said nothing yet says its version now: the other one ends by it, and waits for no answers.
    this.out.greet();
    this.out.flush();
    this.#over(
      new UnsupportedError(
        `Cannot call: the other side speaks version ${shown(version)} of calls, this one ${kinds.VERSION}; have the same version of millrace on both`,
        { feature: 'calls' },
      ),
    );
  }

  /** Something of the other side's did not come, or something of ours did not go out. */
  lost(): void {
    this.out.sayLost();
    this.serving.lost();
    this.#lostThere();
  }
  #lostThere(): void {
    this.streams.lost();
    this.calls.check();
  }

  /** One message makes no sense: whoever wants to know is told, and nothing else is hurt. */
  faulty(what: unknown): void {
    const error = what instanceof Error ? what : protocolError(String(what));
    try {
      this.options.onError?.(error);
    } catch (thrown) {
      // The rest of what has come is nobody's fault.
      platform.reportError(thrown);
    }
  }

  // ---- the end ------------------------------------------------------------------------------------------------

  end(reason: string): void {
    const { error } = (reason === 'crash' ? this.#crash : undefined) ?? this.port;
    const how = reason === 'closed' ? 'the port was closed' : `the other side is gone (${reason})`;
    const said = error instanceof Error && reason === 'crash' ? `: ${error.message}` : '';
    this.#over(new ClosedError(`No call is answered any more: ${how}${said}`, reason, error));
  }
  #over(error: ClosedError | UnsupportedError): void {
    if (this.ended !== undefined) return;
    this.ended = error;
    this.pool?.ending(error);
    this.out.end();
    agent().open.delete(this.#self);
    this.#claim?.release();
    this.calls.end(error);
    this.streams.end(error);
    this.serving.end(error);
    this.values.end();
  }

  /** The other side has exposed something, or called. */
  get met(): boolean {
    return this.#met === undefined;
  }
  /** Tells once the other side exposes something, or calls. */
  whenMet(tell: () => void): void {
    if (this.#met === undefined) tell();
    else this.#met.push(tell);
  }
}

/** @throws CodecError ERR_PROTOCOL */
function idsOf(message: readonly unknown[]): number[] {
  if (message.length > CALLS_CHECKED_MAX + 1) throw protocolError('a question for so many calls');
  return message.slice(1).filter(kinds.isNumber);
}

/** That of a port: the first who asks says how it is. @throws UsageError ERR_OPTION; ERR_BUSY if somebody else reads the port */
export function connectionOf(port: unknown, options: ConnectionOptions & CallOptions = {}): Connection {
  const own = resolved(options);
  // A Worker or a native port has some of what a Port has, and says nothing of its end.
  if (typeof port !== 'object' || port === null || typeof (port as CallPort).clearInterrupt !== 'function') {
    const remedy =
      'of a Worker it is that of `spawn(() => worker)`, of what `start` resolves with its `port`; in the place of a MessagePort take a `channel()`';
    throw new UsageError('ERR_OPTION', `Cannot call over ${shown(port)}: expected a Port of millrace; ${remedy}`, {
      value: port,
    });
  }
  const { connections } = agent();
  let connection = connections.get(port);
  if (connection !== undefined) checkSame(options, connection.options);
  else connections.set(port, (connection = new Connection(port as CallPort, own)));
  return connection;
}
