/// <reference lib="esnext.disposable" preserve="true" />
// A port: MessagePort's manners over any transport. What it promises stands here; how it sends and receives in sending.ts
// and receiving.ts. Here, too, is what runs it on its event loop and ends it. Owns its transport; has no queue. Its length is that
// of the docstrings, which are the reference of every public method.

import { platform } from '#platform';
import { refuseToClone } from '../codec/classify.ts';
import { UsageError } from '../errors.ts';
import type { Mark } from '../lane/lane.ts';
import type { OverflowPolicy } from '../lane/outbox.ts';
import type { MovingHandle } from '../memory/handle.ts';
import { CLOSED, type CloseReason, EMPTY, type EndReason } from '../outcome.ts';
import type { Stats, Transport, TransportEvents, Travels } from '../transport/transport.ts';
import { Ending } from './ending.ts';
import { factsOf } from './facts.ts';
import { PortEvents } from './port-events.ts';
import type { PortLink } from './port-link.ts';
import { Pump } from './pump.ts';
import { type Claim, type ReceiveAsyncOptions, type ReceiveOptions, Receiving } from './receiving.ts';
import { type SelectedPort, selectChanged } from './selecting.ts';
import { Sending, type SendOptions } from './sending.ts';
import { showAs } from './show.ts';
import { type Moving, portsMoveBy, type Transfer } from './transfer.ts';
import { type Settleable, settleable } from './waiters.ts';

let inside: (port: object) => SelectedPort | undefined;

/** For `select`: what a port is inside; `undefined` for anything else. */
export function selectedPort(port: unknown): SelectedPort | undefined {
  return typeof port === 'object' && port !== null ? inside(port) : undefined;
}

/** For what goes over a port and reads it: from then on nobody else does. Of what is no Port: `undefined`. @throws UsageError ERR_BUSY */
export function claimReading(port: unknown, claimants: string): Claim | undefined {
  return selectedPort(port)?.receiving.claim(claimants);
}

/** What becomes of messages that this end of it finds no room for, as far as it is known; of what is no Port `undefined`. */
export function overflowOf(port: unknown): OverflowPolicy | undefined {
  return selectedPort(port)?.transport.out.overflow;
}

/**
 * One end of a channel. `In` is what arrives, `Out` what is sent. An `EventTarget` with the web's manners, Node's
 * `on/once/off/ref/unref`, and reading and writing without the event loop.
 *
 * A value received is never `EMPTY` or `CLOSED`: these two symbols say "nothing there (yet)" and "the peer is gone and
 * everything it sent was read", so that `null`, `undefined`, `0` and `false` stay messages.
 */
export class Port<In = unknown, Out = unknown> extends PortEvents<In> {
  /** The connection to another process that this port is a channel of. Between threads there is none. */
  readonly link: PortLink | undefined;
  readonly #transport: Transport;
  readonly #ending: Ending;
  // Made when there is something to send or to receive for the first time: of ten thousand ports few are busy at a time.
  #pump: Pump | undefined;
  #sending: Sending | undefined;
  #receiving: Receiving | undefined;
  #referenced = true;
  #held = false;
  /** This port has something to do, and must not be garbage. */
  #needed = false;
  /** Somebody listens to something. */
  #heard = false;
  /** Messages are to be handed to listeners. */
  #listens = false;
  #closeEmitted = false;
  #ready: Settleable<void> | undefined;
  #awaitsReady = false;
  /** Who waits for this port among others, with the event loop. */
  #awaiting: Set<() => void> | undefined;
  #selected: SelectedPort | undefined;
  /** This port was transferred: its counters by then. The words of the channel are another one's. */
  #left: Stats | undefined;

  static {
    inside = (port) => (#transport in port ? (port as Port).#asSelected : undefined);
    portsMoveBy(Port.prototype, (port) => (#transport in port ? (port as Port).#asMoving : NO_PORT));
    showAs(Port.prototype, 'Port', (port) => (#transport in port ? port.#facts() : undefined));
  }

  /** Ports come from `channel`, `attach`, `spawn` and `parentPort`, and from `connect` and `listen` of `millrace/process`. */
  constructor(open: (events: TransportEvents) => Transport, link?: PortLink) {
    super();
    this.link = link;
    if (typeof open !== 'function') {
      throw new UsageError('ERR_OPTION', 'Cannot make a Port: ports come from channel, attach, spawn and parentPort');
    }
    this.#transport = open({ woken: () => this.#woken(), failed: (error) => this.#tellFailure(error) });
    this.#ending = new Ending(this.#transport);
    if (this.#transport.dormant !== true) this.#begin();
  }

  #begin(): { readonly pump: Pump; readonly sending: Sending; readonly receiving: Receiving } {
    const transport = this.#transport;
    const pump = new Pump(transport, {
      wantsData: () => this.#wantsData,
      wantsSpace: () => this.#wantsSpace,
      wantsTaken: () => this.#wantsTaken,
      wantsReady: () => this.#awaitsReady,
      deliver: () => this.#deliver(receiving),
      settle: () => this.#settle(),
      presses: () => sending.pressing || this.#awaitsReady,
    });
    const kick = (): void => this.#kick();
    const sending = new Sending(transport, this.#ending, pump, () => {
      if (transport.out.backlog > 0) selectChanged(transport);
      kick();
    });
    const receiving = new Receiving(transport, this.#ending, pump, { kick, left: () => this.#rehold() });
    this.#pump = pump;
    this.#sending = sending;
    this.#receiving = receiving;
    return { pump, sending, receiving };
  }
  get #sends(): Sending {
    return this.#sending ?? this.#begin().sending;
  }
  get #receives(): Receiving {
    return this.#receiving ?? this.#begin().receiving;
  }
  get #runs(): Pump {
    return this.#pump ?? this.#begin().pump;
  }

  // ---- sending ------------------------------------------------------------------------------------------------

  /**
   * Sends a value. Never waits for room: what does not fit the ring waits in the outbox, whose policy has a name. A message
   * longer than the ring it feeds, for 5 ms at the most, to a reader that is taking it in, unless spinning is off.
   *
   * After the end, of either side, it does nothing, as with a MessagePort: the value is not looked at, nothing in `transfer`
   * moves, `stats().undelivered` counts it, and `closed` tells why.
   * @param transfer objects that move instead of being cloned: ArrayBuffers, MessagePorts, Ports (of channels between threads,
   *   through one of those)
   * @throws DataCloneError if a part of the value cannot be cloned; UsageError ERR_TOO_LARGE, ERR_TRANSFER, ERR_OPTION,
   *   ERR_BUSY, ERR_OUTBOX_FULL. Nothing was sent or moved then. LayoutError if the memory is damaged (the channel ends)
   */
  postMessage(value: Out, transfer?: Transfer): void {
    (this.#sending ?? this.#begin().sending).post(value, transfer);
  }

  /**
   * Sends now or not at all: false when full. Never blocks.
   * @throws ClosedError once either side has ended; else as postMessage. Nothing was sent or moved then
   */
  trySend(value: Out, transfer?: Transfer): boolean {
    return (this.#sending ?? this.#begin().sending).trySend(value, transfer);
  }

  /**
   * Sends, blocking this thread while there is no room. What arrives meanwhile is set aside, not lost. False: the time limit
   * passed first, and nothing was sent or moved. True: the message was accepted and cannot be taken back. It stands in the
   * ring; or, if it goes in parts, what had not gone in by the time limit waits in the outbox and follows by itself.
   * @throws UnsupportedError where this thread may not block; ClosedError once either side has ended, also if the end comes
   *   before all of the message stood in the ring (`stats().undelivered` counts it if it was accepted);
   *   UsageError ERR_DEADLOCK if the peer is blocked in `send`, too, and neither takes in any more: receive, then send again;
   *   else as postMessage
   */
  send(value: Out, options?: SendOptions): boolean {
    return this.#sends.send(value, options);
  }

  /**
   * Publishes everything sent inside `body` together, with one wake-up, and returns what `body` returns. May nest. After the
   * end `body` runs all the same: what it posts counts as undelivered.
   * @throws UsageError ERR_OPTION if `body` is no function; what `body` throws
   */
  cork<R>(body: () => R): R {
    if (typeof body !== 'function') {
      throw new UsageError('ERR_OPTION', 'Cannot cork: expected a function, which posts what goes together');
    }
    const { out, selecting } = this.#transport;
    if (typeof selecting !== 'object') return out.cork(body);
    selecting.corks++;
    try {
      selecting.changed();
      return out.cork(body);
    } finally {
      selecting.corks--;
    }
  }

  /**
   * Whether a sender should wait: the outbox is at its mark (`highWaterMarkBytes`, or `outboxBytes` where that is less), or
   * what was refused last would not fit yet. True exactly while `drained()` would be pending; false after the end.
   * @throws LayoutError if the memory is damaged (the channel ends)
   */
  get full(): boolean {
    return this.#sends.full;
  }

  /**
   * Resolves when there is room again; at once if there is (to a loop that never pauses, in a later turn of its event loop:
   * timers and others want theirs). Who ignores the promise need not catch its rejection.
   * ```ts
   * import { attach, channel } from 'millrace';
   * const { port, remote } = channel({ capacityBytes: 1024 });
   * const far = attach(remote);
   * while (port.trySend('as much as fits'));
   * console.log(port.full);                                  // true
   * setTimeout(() => far.receiveMany(100), 1);
   * await port.drained();
   * console.log(port.full, port.trySend('goes in again'));   // false true
   * port.close();
   * ```
   * @throws (rejects) ClosedError if either side ends first, or has ended; LayoutError if the memory is damaged
   */
  drained(): Promise<void> {
    return this.#sends.drained();
  }

  /**
   * Resolves when the peer has taken over everything sent before: from then on its death loses nothing of it to us. Who
   * ignores the promise need not catch its rejection.
   * ```ts
   * import { attach, channel } from 'millrace';
   * const { port, remote } = channel();
   * const far = attach(remote);
   * port.postMessage('kept');
   * const flushed = port.flush();
   * far.tryReceive();               // taking it over settles the promise
   * await flushed;
   * port.close();
   * ```
   * @throws (rejects) ClosedError if the channel ends first, or this end was closed; LayoutError if the memory is damaged
   */
  flush(): Promise<void> {
    return this.#sends.flush();
  }

  /**
   * Moves what waits in the outbox into the ring as far as it fits, without the event loop; whether it is empty. For a
   * thread that goes on to block on something else: while blocked in this port's own calls the outbox moves by itself.
   */
  moveOutbox(): boolean {
    if (this.#ending.over || this.#sending === undefined) return true;
    const { out } = this.#transport;
    return out.backlog === 0 || out.pump();
  }

  // ---- receiving ----------------------------------------------------------------------------------------------

  /**
   * The next message, `EMPTY`, or `CLOSED`. Never waits.
   * @throws CodecError for a message that could not be decoded (the next call goes on behind it); LayoutError if the
   *   memory is damaged (the channel ends); ClosedError after this end's own close(); UsageError ERR_BUSY if calls or streams
   *   of `millrace/rpc` go over this port
   */
  tryReceive(): In | typeof EMPTY | typeof CLOSED {
    return (this.#receiving ?? this.#begin().receiving).tryReceive() as In;
  }

  /**
   * The next message; blocks this thread until there is one. `EMPTY` when the time limit passed or, if that is wanted, an
   * interrupt is there and no message; `CLOSED` when the peer is gone and everything was read.
   * ```ts
   * import { attach, channel, CLOSED, EMPTY } from 'millrace';
   * const { port, remote } = channel();
   * const far = attach(remote);
   * console.log(port.receive({ timeoutMs: 10 }) === EMPTY);   // true
   * far.postMessage(undefined);
   * far.close();
   * console.log(port.receive(), port.receive() === CLOSED);   // undefined true
   * ```
   * @throws UnsupportedError where this thread may not block, and, without a limit, where the next message travels beside
   *   the ring and only the event loop could take it in (browsers); else as tryReceive
   */
  receive(): In | typeof CLOSED;
  receive(options: ReceiveOptions): In | typeof EMPTY | typeof CLOSED;
  receive(options?: ReceiveOptions): In | typeof EMPTY | typeof CLOSED {
    return this.#receives.receive(options) as In | typeof EMPTY | typeof CLOSED;
  }

  /**
   * Up to `max` messages in order; blocks for the first one up to the time limit, which is 0 by default. An empty array
   * stands for `EMPTY` as well as for `CLOSED`, which `tryReceive` tells apart.
   * @throws as receive; an error that comes behind messages is thrown by the next call
   */
  receiveMany(max: number, options?: ReceiveOptions): In[] {
    return this.#receives.receiveMany(max, options) as In[];
  }

  /**
   * A promise of the next message, `EMPTY` (time limit) or `CLOSED`. Several may be pending; they are served in order,
   * before listeners.
   * @throws (rejects) the signal's reason; else as tryReceive
   */
  receiveAsync(options?: ReceiveAsyncOptions): Promise<In | typeof EMPTY | typeof CLOSED> {
    return this.#receives.receiveAsync(options) as Promise<In>;
  }

  /** `for await (const value of port)`: until the peer is gone and everything was read, or this end is closed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<In, void, void> {
    while (!this.#ending.shut) {
      const value = await this.receiveAsync();
      if (value === CLOSED || value === EMPTY) return;
      yield value;
    }
  }

  /** `for (const value of port.blocking())`: blocks between messages; ends with the peer, or when this end is closed. */
  *blocking(): Generator<In, void, void> {
    while (!this.#ending.shut) {
      const value = this.receive();
      if (value === CLOSED) return;
      yield value;
    }
  }

  // ---- beside the queue ---------------------------------------------------------------------------------------

  /**
   * Sets the peer's interrupt word, which a peer that computes can read without touching the queue; wakes one that is blocked
   * in `receive({ interruptible: true })`, and no other. Let the word be the id of the job that is to end: an interrupt that
   * comes late is then one of another job. After the end there is nobody to interrupt, and it does nothing.
   * ```ts
   * import { attach, channel, EMPTY } from 'millrace';
   * const { port, remote } = channel();
   * const far = attach(remote);
   * port.interrupt(7);
   * console.log(far.interrupted === 7);                             // true: job 7 is to end
   * console.log(far.receive({ interruptible: true }) === EMPTY);    // true
   * console.log(far.clearInterrupt(), far.interrupted);             // 7 0
   * port.close();
   * ```
   * @param id a whole number from 1 to 2^31 - 1; a later one replaces an earlier one that was not cleared
   * @throws UsageError ERR_OPTION for any other number
   */
  interrupt(id = 1): void {
    checkInterrupt(id);
    if (!this.#ending.over) this.#transport.interrupts?.raise(id);
  }

  /** The interrupt word that the peer has set, 0 if none. One atomic load. */
  get interrupted(): number {
    return this.#left === undefined ? (this.#transport.interrupts?.word ?? 0) : 0;
  }

  /**
   * Takes the interrupt word: returns what it is and sets it back to 0.
   * @param only the id to take: another one, for a job that is still to come, stays
   * @throws UsageError ERR_OPTION for what can be no id
   */
  clearInterrupt(only?: number): number {
    if (only !== undefined) checkInterrupt(only);
    return this.#left === undefined ? (this.#transport.interrupts?.clear(only) ?? 0) : 0;
  }

  /** Counters of this end. */
  stats(): Stats {
    const stats = this.#left ?? this.#transport.inspect().stats();
    return { ...stats, undelivered: stats.undelivered + (this.#sending?.late ?? 0) };
  }

  // ---- life ---------------------------------------------------------------------------------------------------

  /**
   * A promise of the moment when both ends are open. Rejects with ClosedError if the channel ends before (`cause` is what the
   * peer's thread died of, where that is known), with UsageError ERR_HANDLE if `parentPort()` was called in a thread that
   * `spawn` did not start. Whoever does not look at it need not.
   *
   * In browsers it is also the moment from which each side would hear of the other one's end (docs/guides/browser.md): a worker awaits it
   * before its first blocking call, and whoever terminates one by hand before that, or nobody may ever hear of it. It waits ten seconds
   * for that at the most: five for the link of the two threads, five for the lock.
   */
  get ready(): Promise<void> {
    if (this.#ready === undefined) {
      this.#ready = settleable();
      this.#ready.promise.catch(() => {});
      this.#awaitsReady = true;
      this.#kick();
      this.#settleReady();
    }
    return this.#ready.promise;
  }

  /**
   * A promise of why the channel ended. Never rejects. What the peer sent before may still be read then. A port that was asked
   * for it is kept until the channel ends; one that nobody holds, listens to or waits for is garbage, and the peer is told.
   */
  get closed(): Promise<CloseReason> {
    const { closed } = this.#ending;
    this.#rehold();
    return closed;
  }

  /**
   * Why the channel ended, for code that cannot await `closed`; `undefined` while it is open. Known as soon as the end is:
   * a thread that `receive` has just told `CLOSED` finds it here. One atomic load while the channel is open.
   * ```ts
   * import { attach, channel, CLOSED } from 'millrace';
   * const { port, remote } = channel();
   * const far = attach(remote);
   * far.close();
   * console.log(port.receive() === CLOSED, port.reason);   // true closed
   * ```
   */
  get reason(): CloseReason | undefined {
    return this.#ending.reason;
  }

  /**
   * What the channel ended of, where that is known. After the reason `crash` what the peer's thread died of: for a worker that
   * `spawn` started, also to a thread that blocks. An Error has the name, message, stack and code of the one that was thrown.
   */
  get error(): unknown {
    return this.#transport.inspect().error;
  }

  /** Whether a listener or a pending call of this port keeps the process alive. */
  hasRef(): boolean {
    return this.#held;
  }
  ref(): this {
    this.#referenced = true;
    this.#rehold();
    return this;
  }
  unref(): this {
    this.#referenced = false;
    this.#rehold();
    return this;
  }

  /**
   * Ends this side. Everything posted before still reaches the peer, also what was in the outbox. Whoever waits here
   * is settled: receives with `CLOSED`, `drained` and `flush` with ClosedError. Calling it again changes nothing.
   */
  close(): void {
    this.closeAs('closed');
  }
  /** @internal Where an end is told on. */
  closeAs(reason: EndReason): void {
    if (this.#ending.shut) return;
    let done = false;
    // Also where the stack ends in the middle: whoever waits here would not be told, nor the process let go.
    queueMicrotask(() => {
      if (!done) this.#settleShut();
    });
    try {
      if (this.#receiving !== undefined) selectChanged(this.#transport);
      this.#transport.close(reason);
    } finally {
      this.#settleShut();
      done = true;
    }
  }
  /** Where the stack has ended before anything was, it is open, and `close` may be called again. */
  #settleShut(): void {
    this.#ending.shut = this.#transport.ended !== undefined;
    if (this.#ending.shut) this.#settle();
  }
  [Symbol.dispose](): void {
    this.close();
  }
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#ending.over) await this.flush().catch(() => {});
    this.close();
  }

  get [Symbol.toStringTag](): string {
    return 'Port';
  }

  /** For console.log. */
  #facts(): object {
    return factsOf(this, this.#transport.inspect().attached, this.#receiving?.readers.length ?? 0);
  }

  // ---- inside -------------------------------------------------------------------------------------------------

  /** Somebody began or ceased to listen. */
  protected override listenersChanged(): void {
    this.#heard = this.listened;
    this.#listens = this.listening;
    this.#rehold();
    // Behind the end, too, and not at once: whoever listens to messages later in this turn is handed what is unread before it.
    if (this.#wantsData || this.#ending.over) this.#runs.kick();
  }
  /** Whether something may come to be read, or lie there. */
  get #hasMore(): boolean {
    return !this.#ending.shut && this.#receiving?.readOut !== true;
  }
  get #wantsData(): boolean {
    return this.#hasMore && (this.#listens || (this.#receiving?.readers.length ?? 0) > 0 || this.#awaited);
  }
  get #wantsSpace(): boolean {
    return this.#sending !== undefined && this.#transport.ended === undefined && this.#sending.roomAwaited;
  }
  get #wantsTaken(): Mark | undefined {
    return this.#transport.ended === undefined ? this.#sending?.progress.takenAwaited : undefined;
  }
  /** Whether a `selectAsync` waits for this port among others. */
  get #awaited(): boolean {
    return (this.#awaiting?.size ?? 0) > 0;
  }
  /** Whether anything or anybody here waits for the peer. */
  get #waiting(): boolean {
    return this.#wantsData || this.#wantsSpace || this.#wantsTaken !== undefined || this.#awaitsReady;
  }

  #woken(): void {
    if (this.#pump !== undefined) this.#pump.woken();
    // The transport may ring while it is being opened.
    else if (this.#ending !== undefined) this.#settle();
  }
  #kick(): void {
    this.#rehold();
    this.#runs.kick();
  }

  /** Hands out one message; false when there is none. Called by the pump. */
  #deliver(receiving: Receiving): boolean {
    const { readers } = receiving;
    if (this.#awaited && readers.length === 0 && !this.#listens) {
      // Nobody takes anything: it is there for whoever is told.
      if (receiving.whole) this.#tellReady();
      return false;
    }
    let value: unknown;
    try {
      value = receiving.take();
    } catch (error) {
      if (readers.length > 0) readers.first().reject(error);
      else this.tell('messageerror', error, []);
      return true;
    }
    if (value === EMPTY) return false;
    if (value === CLOSED) {
      // The pump settles next, and tells of the end.
      receiving.readOut = true;
      return false;
    }
    if (readers.length > 0) {
      readers.first().resolve(value);
      // Whoever listens is still there; whoever read may have been the last to wait.
      if (readers.length === 0) this.#rehold();
    } else this.tell('message', value, this.#transport.in.ports);
    return true;
  }

  #tellReady(): void {
    for (const tell of [...(this.#awaiting ?? [])]) tell();
    this.#rehold();
  }
  /** Whether there is something that nobody else here is waiting for. */
  get #isReady(): boolean {
    const receiving = this.#receives;
    // An end that has left, or was closed, is not looked at: to look takes parts in, which are somebody else's by now.
    const taken = this.#ending.shut || receiving.readers.length > 0 || this.#listens;
    return receiving.readOut || (!taken && receiving.whole);
  }
  get #asSelected(): SelectedPort {
    const self = this;
    this.#selected ??= {
      transport: this.#transport,
      ending: this.#ending,
      receiving: this.#receives,
      turn: 0,
      get ready(): boolean {
        return self.#isReady;
      },
      tire: () => this.#runs.tire(),
      whenReady: (tell) => {
        this.#awaiting ??= new Set();
        this.#awaiting.add(tell);
        this.#kick();
      },
      leave: (tell) => {
        this.#awaiting?.delete(tell);
        this.#rehold();
      },
    };
    return this.#selected;
  }

  get #asMoving(): Moving {
    const { travels } = this.#transport;
    const refusal = (): string | undefined => {
      if (this.#ending.shut) return this.reason === 'detached' ? 'it was transferred before' : 'it was closed';
      return travels === undefined ? NOT_HERE : travels.staysFor;
    };
    return { memory: travels?.memory, refusal, leave: () => this.#leave(travels as Travels) };
  }
  /** This end goes over to another thread. Nobody here hears of the channel any more. */
  #leave(travels: Travels): MovingHandle {
    this.#pump?.stop();
    this.#ending.shut = true;
    if (this.#receiving !== undefined) selectChanged(this.#transport);
    this.#left = this.#transport.inspect().stats();
    try {
      return travels.leave(this.#receiving?.takeOwed());
    } catch (error) {
      this.#left = undefined;
      throw error;
    } finally {
      queueMicrotask(() => this.#settle());
    }
  }

  #settleReady(): void {
    if (!this.#awaitsReady) return;
    const { attached, error } = this.#transport.inspect();
    if (!attached && !this.#ending.over) return;
    this.#awaitsReady = false;
    const { whenWatched } = this.#transport;
    if (!attached) this.#ready?.reject(error instanceof UsageError ? error : this.#ending.refusal('connect'));
    else if (whenWatched === undefined) this.#ready?.resolve();
    else whenWatched.call(this.#transport, () => this.#ready?.resolve());
    this.#rehold();
  }

  /** Settles what waits for progress or for the end. */
  #settle(): void {
    this.#settleReady();
    if (this.#transport.ended === undefined) this.#settleProgress();
    const { ended } = this.#transport;
    if (ended === undefined) this.#rehold();
    else this.#settleEnd(ended);
  }
  #settleEnd(ended: CloseReason): void {
    this.#ending.tell(ended);
    this.#sending?.progress.end(this.#ending.shut, (action) => this.#ending.refusal(action));
    if (!this.#wantsData) this.#tellEnd();
    this.#rehold();
  }

  #settleProgress(): void {
    try {
      this.#sending?.progress.settle();
    } catch (error) {
      // Damaged memory: the transport has ended by this.
      this.tell('messageerror', error, []);
    }
  }

  /**
   * A message of ours that waited cannot be sent any more. Whoever listens is told, and `stats().undelivered` counts it;
   * nobody did anything wrong, so it is no uncaught error where nobody listens.
   */
  #tellFailure(error: unknown): void {
    queueMicrotask(() => {
      if (this.listenerCount('messageerror') > 0) this.tell('messageerror', error, []);
    });
  }

  /** Nobody waits for messages any more, or there are none: the end is news now. */
  #tellEnd(): void {
    const readers = this.#receiving?.readers;
    while (readers !== undefined && readers.length > 0) readers.first().resolve(CLOSED);
    this.#tellReady();
    this.#rehold();
    this.#tellClose();
  }
  /** Once, to whoever asks for it: somebody may only begin to listen now, for what is unread, and is told behind that. */
  #tellClose(): void {
    const none = this.#closeEmitted || this.#transport.ended === undefined || this.listenerCount('close') === 0;
    if (none) return;
    const tell = (): void => {
      // Who asked may have ceased to listen, and who listens to messages or waits for one now is told behind them.
      const later = this.listenerCount('close') === 0 || this.#wantsData;
      // Looked up now: an end that has moved meanwhile is told `detached`.
      const reason = this.#transport.ended as CloseReason;
      if (later) this.#closeEmitted = false;
      else this.tell('close', reason, [], reason);
    };
    // In a turn of its own: whoever takes one message after the other asks for the next one before it, and a loop or an async function
    // in between hands on the last one in several microtasks. Who has closed this end, or moved it, reads no more.
    if (this.#ending.shut) queueMicrotask(tell);
    else platform.turn(tell);
    // Not before: where the stack has ended nobody would be told.
    this.#closeEmitted = true;
  }

  /**
   * Keeps the process alive exactly while something here is waited for (G8); and this port, though nobody may hold it,
   * also while somebody wants to be told of the end.
   */
  #rehold(): void {
    const open = this.#transport.ended === undefined;
    const waiting = this.#waiting;
    const needed = waiting || (open && (this.#ending.awaited || this.#heard));
    if (needed !== this.#needed) {
      this.#transport.keep(needed ? this : undefined);
      this.#needed = needed;
    }
    // Also behind the end: what the peer has left over may come by way of a thread that this end has left.
    const held = this.#referenced && waiting;
    if (held === this.#held) return;
    this.#transport.hold(held);
    // Not before: where the stack has ended on the way there, it is to be said again.
    this.#held = held;
  }
}

const NOT_HERE = 'its channel is not connected yet, or is one that no other thread can go on with';

/** What has the manners of a Port, and is none. */
const NO_PORT: Moving = {
  memory: undefined,
  refusal: () => 'it is none',
  leave: () => {
    throw new UsageError('ERR_TRANSFER', 'Cannot transfer what is no Port');
  },
};

function checkInterrupt(id: number): void {
  if (Number.isSafeInteger(id) && id >= 1 && id <= 0x7fffffff) return;
  throw new UsageError('ERR_OPTION', `An interrupt cannot be ${String(id)}: it takes 1 to 2147483647`, { value: id });
}

// It would arrive as an empty object; a native port throws too.
refuseToClone(Port.prototype, 'put it into the transfer list, too, and it moves');
