// The calls of one port, in both directions: envelopes out and in, and its end. Who waits for answers stands in calls.ts, who gives them in
// serving.ts, what travels as more than its bytes in values.ts and streams.ts.
import { platform } from '#platform';
import { ofAgent } from '../agent.ts';
import { ClosedError, CodecError, UnsupportedError, UsageError } from '../errors.ts';
import {
  CALLS_BATCH_MAX,
  CALLS_CHECKED_MAX,
  CALLS_GATHER_HOPS,
  CALLS_LOOK_MAX,
  CALLS_LOOK_MS_MAX,
  CALLS_PART,
  CALLS_TURN_MS,
} from '../limits.ts';
import { CLOSED, EMPTY } from '../outcome.ts';
import type { RawListener } from '../port/events.ts';
import { claimReading, type Port } from '../port/port.ts';
import type { EventName, PortEventMap } from '../port/port-events.ts';
import type { Claim, ReceiveOptions } from '../port/receiving.ts';
import { Calls } from './calls.ts';
import { tellCrash } from './crash.ts';
import { protocolError, thrownBy } from './failures.ts';
import type { Manners } from './manners.ts';
import type { Message } from './messages.ts';
import * as kinds from './messages.ts';
import { type CallOptions, type ConnectionOptions, type Resolved, resolved } from './options.ts';
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

/** A message on its way out. */
export interface Outgoing {
  message: Message;
  transfer: readonly unknown[] | undefined;
  /** It could not be sent. True: it is another one now, to be tried again. */
  refused?(error: unknown): boolean;
}

/** Who has put many connections together. */
export interface ConnectionPool {
  /** The connection is over; what waits for it is told behind this. */
  ending(error: ClosedError | UnsupportedError): void;
  /** A call that was given up runs no more over there. */
  over(id: number): void;
  /** A stream is over. */
  streamOver(): void;
}

interface Agent {
  /** By which other threads know this one in the chain of who is blocked. */
  readonly token: number;
  readonly connections: WeakMap<object, Connection>;
  /** Those that are open: a blocked thread looks at all of them. */
  readonly open: Set<WeakRef<Connection>>;
  /** How many blocking calls this thread is in, within each other. */
  blocked: number;
}

function agent(): Agent {
  return ofAgent<Agent>('calls/1', () => {
    const open = new Set<WeakRef<Connection>>();
    tellCrash(open);
    return { token: 1 + Math.floor(Math.random() * 0x7ffffffe), connections: new WeakMap(), open, blocked: 0 };
  });
}

/** What is to run in a microtask is hung on it: on Node `queueMicrotask` makes more objects, and runs more code, which takes time after a rest. */
const settled: Promise<void> = Promise.resolve();
const NOTHING: readonly unknown[] = [];

export class Connection {
  readonly port: CallPort;
  readonly #reads: Omit<Claim, 'release'> & Partial<Claim>;
  readonly options: Resolved;
  /** Of another door; `undefined`: those of millrace/rpc. */
  readonly manners: Manners | undefined;
  readonly #agent: Agent = agent();
  readonly token: number = this.#agent.token;
  readonly values: Values;
  readonly calls: Calls;
  readonly serving: Serving;
  readonly streams: Streams;
  pool: ConnectionPool | undefined;
  /** Why nothing can be called any more. */
  ended: ClosedError | UnsupportedError | undefined;
  /** How functions that the other side gives away are called. */
  readonly invoke: Invoke = invokeAsync;
  /** This thread is blocked in a call over this connection. */
  blocked = 0;
  /** Not there while it is empty: most have one message, and an array that is made for one is a small one. */
  #queue: Outgoing[] | undefined;
  #scheduled = false;
  #awaitsRoom = false;
  /** Microtasks that a stream has put off what is to be sent. */
  #hops = 0;
  #gathers = false;
  #greeted = false;
  #met: (() => void)[] | undefined = [];
  /** Messages that wait and have been asked for by the other side: it need never read one. */
  #replies = 0;
  /** LOST waits to be sent. */
  #saysLost = false;
  /** Of what waits, what does not go out any more. */
  #withdrawn = 0;
  readonly #waitsForRoom: (() => void)[] = [];
  #sent: number;
  #received = 0;
  /** What has come last, and how much of it was heard: what is heard may block, and the rest must be heard meanwhile. */
  #envelope: readonly unknown[] = NOTHING;
  #at = 0;
  #held = true;
  #reholds = false;
  /** What the other side has said that it dies of. */
  #crash: { readonly error: unknown } | undefined;
  readonly #self: WeakRef<Connection> = new WeakRef(this);

  /** @param last the numbers of envelopes, calls, functions and streams go on behind it, and round at the largest */
  constructor(port: CallPort, options: Resolved, manners?: Manners, last = 0) {
    this.#reads = claimReading(port, 'calls') ?? port;
    this.port = port;
    this.options = options;
    this.manners = manners;
    this.#sent = last;
    this.values = new Values(this, last);
    this.calls = new Calls(this, last);
    this.serving = new Serving(this);
    this.streams = new Streams(this, last);
    port.on('message', (envelope: unknown) => this.accept(envelope));
    port.on('messageerror', () => this.lost());
    port.on('close', (reason: unknown) => this.end(String(reason)));
    this.#agent.open.add(this.#self);
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
  readonly #rehold = (): void => {
    this.#reholds = false;
    this.rehold();
  };

  // ---- out ----------------------------------------------------------------------------------------------------

  /** Goes with what else is said in this turn. */
  send(outgoing: Outgoing): void {
    if (this.ended !== undefined) return;
    this.#enqueue(outgoing);
    this.#gathers = false;
    this.#schedule();
  }
  say(...message: Message): void {
    this.send({ message, transfer: undefined });
  }
  /** What the other side has asked for. */
  reply(outgoing: Outgoing): void {
    this.#replies++;
    this.send(outgoing);
  }
  /** Messages that have not gone out. */
  get waiting(): number {
    return this.#queue?.length ?? 0;
  }
  /** It has not gone out, and does not. */
  withdraw(outgoing: Outgoing): void {
    outgoing.message = kinds.NOTHING;
    const queue = this.#queue;
    if (++this.#withdrawn < CALLS_BATCH_MAX || queue === undefined || this.#withdrawn * 2 < queue.length) return;
    this.#withdrawn = 0;
    this.#queue = stillToGo(queue);
  }
  /** Who has more to send, and can wait, does so: the port is full, or what is to be sent is many messages already. */
  get crowded(): boolean {
    return this.blocked === 0 && ((this.#queue?.length ?? 0) >= CALLS_BATCH_MAX || this.port.full);
  }
  /** Once what is to be sent has gone out. */
  whenRoom(go: () => void): void {
    this.#waitsForRoom.push(go);
    this.#schedule();
  }
  /** As `send`, for what more of the same is likely to follow soon. */
  gather(outgoing: Outgoing): void {
    if (this.ended !== undefined) return;
    this.#enqueue(outgoing);
    this.#gathers = true;
    this.#schedule();
  }
  /** More of what was gathered has gone into a message that waits. */
  gathers(): void {
    this.#gathers = true;
  }
  /** A function or reference of the other side's is not held any more. */
  letGo(id: number, count: number): void {
    this.say(kinds.RELEASE, id, count);
  }
  /** Sends one message at once: a part of one that could not be sent. */
  postNow(outgoing: Outgoing): void {
    this.#post([outgoing]);
  }
  #enqueue(outgoing: Outgoing): void {
    // In parts, so that the other side has something to do while this one goes on. Not with the last one: what builds upon that is yet to come.
    if (this.#queue !== undefined && this.#queue.length >= CALLS_PART) this.flush();
    if (this.#queue === undefined) this.#queue = [outgoing];
    else this.#queue.push(outgoing);
  }
  #schedule(): void {
    if (this.#scheduled || this.#awaitsRoom) return;
    this.#scheduled = true;
    void settled.then(this.#turn);
  }
  readonly #turn = (): void => {
    if (this.#gathers && this.#hops++ < CALLS_GATHER_HOPS) {
      // Whoever sends without gathering, or not at all until the next microtask, ends it.
      this.#gathers = false;
      void settled.then(this.#turn);
      return;
    }
    this.#hops = 0;
    this.#scheduled = false;
    this.flush();
  };

  /** Sends what there is. A port that is full is waited for, unless this thread blocks. */
  flush(): void {
    if (this.ended !== undefined || (this.#queue === undefined && this.#waitsForRoom.length === 0)) return;
    if (!this.threadBlocked && this.port.full) {
      if (this.#awaitsRoom) return;
      this.#awaitsRoom = true;
      const go = (): void => {
        this.#awaitsRoom = false;
        this.flush();
      };
      this.port.drained().then(go, go);
      return;
    }
    if (this.#queue !== undefined) this.#greet();
    let queue = this.#queue;
    this.#queue = undefined;
    this.#saysLost = false;
    if (!this.port.full) this.#replies = 0;
    if (this.#withdrawn > 0 && queue !== undefined) queue = stillToGo(queue);
    this.#withdrawn = 0;
    for (let i = 0; queue !== undefined && i < queue.length; i += CALLS_BATCH_MAX) {
      // One that could not be sent may have taken later ones along.
      const batch = queue.length <= CALLS_BATCH_MAX ? queue : stillToGo(queue.slice(i, i + CALLS_BATCH_MAX));
      if (batch !== undefined) this.#post(batch);
    }
    if (this.#waitsForRoom.length > 0) for (const go of this.#waitsForRoom.splice(0)) go();
  }

  /** Says that somebody is here: who has started this side waits for that. */
  greet(): void {
    if (this.#greeted || this.ended !== undefined) return;
    this.#greet();
    this.#schedule();
  }
  #greet(): void {
    if (this.#greeted) return;
    this.#greeted = true;
    const hello: Outgoing = { message: [kinds.HELLO, kinds.VERSION, this.token], transfer: undefined };
    this.#queue = [hello, ...(this.#queue ?? [])];
  }

  #post(batch: readonly Outgoing[]): void {
    const number = kinds.following(this.#sent);
    // At once as long as it is to be: one that grows takes room for more.
    const envelope: unknown[] = [number, batch[0]!.message];
    let transfer: unknown[] | undefined;
    for (let i = 0; i < batch.length; i++) {
      const outgoing = batch[i]!;
      if (i > 0) envelope.push(outgoing.message);
      if (outgoing.transfer !== undefined) (transfer ??= []).push(...outgoing.transfer);
    }
    try {
      this.port.postMessage(envelope, transfer);
      this.#sent = number;
      for (const outgoing of batch) sent(outgoing);
    } catch (error) {
      // Which of them it was is found by sending each alone.
      if (batch.length > 1) {
        for (const outgoing of batch) if (outgoing.message !== kinds.NOTHING) this.#post([outgoing]);
      } else if (batch[0]!.refused?.(error) === true) this.#post(batch);
    }
  }

  // ---- in -----------------------------------------------------------------------------------------------------

  /** Never throws: what makes no sense is told, and the rest goes on. */
  accept(envelope: unknown): void {
    if (this.ended !== undefined) return;
    if (!Array.isArray(envelope) || !kinds.isNumber(envelope[0])) {
      this.faulty('a message');
      return;
    }
    const number = envelope[0];
    const expected = kinds.following(this.#received);
    this.#received = number;
    if (number !== expected) this.lost();
    if (envelope.length > CALLS_BATCH_MAX + 1) {
      this.faulty(`${envelope.length - 1} messages in one`);
      this.lost();
      return;
    }
    this.#envelope = envelope;
    this.#at = 1;
    this.#drain();
  }
  /** Hears what has come. Whoever blocks in the midst of it goes on here, so that all of it was heard when something else is accepted. */
  #drain(): void {
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

  /** The other side has asked for more than it reads the answers of: what it asks is not heard, and it is told so once it reads. */
  #overloaded(): boolean {
    const limit = this.options.maxPending * 2 + CALLS_BATCH_MAX;
    if (this.#replies < limit) return false;
    this.flush();
    if (this.#replies < limit) return false;
    this.#sayLost();
    return true;
  }
  #sayLost(): void {
    if (this.#saysLost) return;
    this.#saysLost = true;
    this.say(kinds.LOST);
  }

  #hear(message: unknown): void {
    if (!Array.isArray(message)) throw protocolError('a message');
    switch (message[0]) {
      case kinds.CALL:
      case kinds.CALL_WITH:
        if (!this.#overloaded()) this.serving.call(message as Message);
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
        if (!this.#overloaded()) this.reply({ message: [kinds.HEARD, message[1]], transfer: undefined });
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
        if (!this.#overloaded()) this.#check(idsOf(message));
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
    this.reply({ message: [kinds.GONE, ...gone], transfer: undefined });
  }

  #hello(version: unknown): void {
    if (version === kinds.VERSION) {
      const met = this.#met ?? [];
      this.#met = undefined;
      for (const tell of met) tell();
      return;
    }
    // A side that has said nothing yet says its version now: the other one ends by it, and waits for no answers.
    this.#greet();
    this.flush();
    this.#over(
      new UnsupportedError(
        `Cannot call: the other side speaks version ${String(version)} of calls, this one ${kinds.VERSION}; have the same version of millrace on both`,
        { feature: 'calls' },
      ),
    );
  }

  /** Something of the other side's did not come, or something of ours did not go out. */
  lost(): void {
    this.#sayLost();
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

  // ---- blocking -----------------------------------------------------------------------------------------------

  /**
   * Blocks until `done`, and serves meanwhile what comes over this connection, and over others what somebody is blocked for. False: the
   * time limit passed first. @throws ClosedError, UnsupportedError
   */
  block(done: () => boolean, timeoutMs: number): boolean {
    const end = performance.now() + timeoutMs;
    const { open } = this.#agent;
    this.blocked++;
    this.#agent.blocked++;
    // Who is called on behalf of this wait is seldom: it is looked for less and less often.
    let slice = CALLS_TURN_MS;
    let look = performance.now() + slice;
    try {
      this.#drain();
      this.flush();
      while (!done()) {
        if (this.ended !== undefined) throw this.ended;
        const now = performance.now();
        if (now >= end) return false;
        const alone = open.size < 2;
        // In turns, also where this one has always something to say.
        if (!alone && now >= look) {
          const heard = this.#others().filter((other) => other.lookIn()).length > 0;
          slice = heard ? CALLS_TURN_MS : Math.min(CALLS_LOOK_MS_MAX, slice * 2);
          look = performance.now() + slice;
          continue;
        }
        const value = this.#next(alone ? end - now : Math.min(end, look) - now);
        if (value === CLOSED) this.end(this.port.reason ?? 'lost');
        else if (value !== EMPTY) this.accept(value);
        this.flush();
      }
      return true;
    } finally {
      this.blocked--;
      this.#agent.blocked--;
      this.#schedule();
      if (!this.threadBlocked) for (const other of open) other.deref()?.serving.resume();
    }
  }
  #next(timeoutMs: number): unknown {
    try {
      return this.#reads.receive({ timeoutMs });
    } catch (error) {
      if (error instanceof CodecError) this.lost();
      // Closed here, by what was served meanwhile.
      else if (error instanceof ClosedError) return CLOSED;
      else throw error;
      return EMPTY;
    }
  }
  /** Another connection of a thread that is blocked: what has come there, and what could not go out. Whether anything was heard. */
  lookIn(): boolean {
    const received = this.#received;
    try {
      this.#drain();
      for (let i = 0; i < CALLS_LOOK_MAX && this.ended === undefined; i++) {
        const value = this.#reads.tryReceive();
        if (value === EMPTY) break;
        if (value === CLOSED) this.end(this.port.reason ?? 'lost');
        else this.accept(value);
      }
    } catch (error) {
      if (error instanceof CodecError) this.lost();
      else this.end(this.port.reason ?? 'lost');
    }
    this.flush();
    this.port.moveOutbox?.();
    return this.#received !== received;
  }
  #others(): Connection[] {
    const others: Connection[] = [];
    for (const open of this.#agent.open) {
      const other = open.deref();
      if (other === undefined) this.#agent.open.delete(open);
      else if (other !== this) others.push(other);
    }
    return others;
  }
  /** Whether this thread is blocked in a call, over whichever connection. */
  get threadBlocked(): boolean {
    return this.#agent.blocked > 0;
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
    this.#queue = undefined;
    this.#waitsForRoom.length = 0;
    this.#agent.open.delete(this.#self);
    this.#reads.release?.();
    this.calls.end(error);
    this.streams.end(error);
    this.serving.end(error);
    this.values.end();
  }

  /** Messages that have not gone out. */
  get queued(): number {
    return this.#queue?.length ?? 0;
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

/** But what was withdrawn; none: nothing. */
function stillToGo(queue: readonly Outgoing[]): Outgoing[] | undefined {
  const left = queue.filter(({ message }) => message !== kinds.NOTHING);
  return left.length > 0 ? left : undefined;
}

function sent(outgoing: Outgoing): void {
  (outgoing as { onSent?(): void }).onSent?.();
}

function nameOf(value: unknown): string {
  if (typeof value === 'function') return `the function ${value.name}`;
  return typeof value === 'object' && value !== null ? Object.prototype.toString.call(value) : String(value);
}

/** That of a port: the first who asks says how it is. @throws UsageError ERR_OPTION; ERR_BUSY if somebody else reads the port */
export function connectionOf(port: unknown, options: ConnectionOptions & CallOptions = {}): Connection {
  const own = resolved(options);
  // A Worker or a native port has some of what a Port has, and says nothing of its end.
  if (typeof port !== 'object' || port === null || typeof (port as CallPort).clearInterrupt !== 'function') {
    const remedy =
      'of a Worker it is that of `spawn(() => worker)`, of what `start` resolves with its `port`; in the place of a MessagePort take a `channel()`';
    throw new UsageError('ERR_OPTION', `Cannot call over ${nameOf(port)}: expected a Port of millrace; ${remedy}`, {
      value: port,
    });
  }
  const { connections } = agent();
  let connection = connections.get(port);
  if (connection === undefined) connections.set(port, (connection = new Connection(port as CallPort, own)));
  return connection;
}
