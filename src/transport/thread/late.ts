// The transport of a port that is there before its channel: `parentPort()` in a thread whose start data is on its way. What
// is posted meanwhile waits here; from the moment the data has come, everything is the real transport's.
import { platform } from '#platform';
import { UnsupportedError, UsageError } from '../../errors.ts';
import { cloneForLater, type HeldValue } from '../../lane/side-channel.ts';
import { checkTransfer } from '../../lane/transfer-list.ts';
import { EARLY_MESSAGES_MAX } from '../../limits.ts';
import type { CloseReason } from '../../outcome.ts';
import { CLOSED, EMPTY } from '../../outcome.ts';
import type { StartInbox } from '../../platform/start-inbox.ts';
import { Spin } from '../../wait/spin.ts';
import type { Mark, Stats, Transport, TransportEvents } from '../transport.ts';

const NEVER_SPINS = new Spin(0);
const NO_PORTS: readonly unknown[] = [];
const NO_STATS: Stats = {
  sent: 0,
  received: 0,
  sentBytes: 0,
  receivedBytes: 0,
  dropped: 0,
  undelivered: 0,
  undecodable: 0,
  stalls: 0,
  outboxBytes: 0,
  outboxBytesPeak: 0,
  parks: 0,
  wakes: 0,
  capacityBytes: 0,
};

export class LateTransport implements Transport {
  readonly canBlock: boolean = platform.canBlock;
  readonly #inbox: StartInbox;
  readonly #open: (data: unknown) => Transport;
  readonly #events: TransportEvents;
  readonly #timeoutMs: number;
  readonly #since: number = performance.now();
  readonly #stopWaiting: () => void;
  #found: Transport | undefined;
  /** What was posted before the start data came, cloned, with the moved objects in it. */
  #early: HeldValue[] = [];
  /** Marks that were set before, and what they are in the stream of the real transport. */
  readonly #marks = new Map<Mark, Mark | undefined>();
  #closedAs: CloseReason | undefined;
  #failure: Error | undefined;
  #failureTold = false;
  #held = false;
  #interrupt = 0;

  /**
   * @param open makes the real transport out of start data
   * @param timeoutMs to wait for start data
   */
  constructor(inbox: StartInbox, open: (data: unknown) => Transport, timeoutMs: number, events: TransportEvents) {
    this.#inbox = inbox;
    this.#open = open;
    this.#timeoutMs = timeoutMs;
    this.#events = events;
    // Holds the thread: without it, nothing else might until the data has come.
    const timer = setTimeout(() => this.#late(), timeoutMs);
    const stop = inbox.await(() => void this.#real);
    this.#stopWaiting = () => {
      clearTimeout(timer);
      stop();
    };
  }

  get attached(): boolean {
    return this.#real?.attached ?? false;
  }
  get ended(): CloseReason | undefined {
    return this.#real?.ended ?? this.#closedAs ?? (this.#failure && 'lost');
  }
  get endedHere(): boolean {
    return this.#found?.endedHere ?? this.#closedAs !== undefined;
  }
  get error(): unknown {
    return this.#found === undefined ? this.#failure : this.#found.error;
  }
  get spin(): Spin {
    return this.#found?.spin ?? NEVER_SPINS;
  }
  get ports(): readonly unknown[] {
    return this.#found?.ports ?? NO_PORTS;
  }
  get writable(): boolean {
    return this.#real?.writable ?? false;
  }
  get backlog(): number {
    return this.#found?.backlog ?? this.#early.length;
  }
  get ready(): boolean {
    return this.#real?.ready ?? this.#failure !== undefined;
  }
  get awaitsEventLoop(): boolean {
    return this.#found?.awaitsEventLoop ?? false;
  }
  get progressed(): boolean {
    return this.#found?.progressed ?? false;
  }

  trySend(value: unknown, transfer?: readonly unknown[]): boolean {
    return this.#real?.trySend(value, transfer) ?? false;
  }

  post(value: unknown, transfer: readonly unknown[] = NO_PORTS): void {
    const real = this.#real;
    if (real !== undefined) {
      real.post(value, transfer);
      return;
    }
    if (this.#early.length >= EARLY_MESSAGES_MAX) {
      throw new UsageError(
        'ERR_OUTBOX_FULL',
        `Cannot post before the channel is connected: ${EARLY_MESSAGES_MAX} messages wait already; await port.ready`,
        { limit: EARLY_MESSAGES_MAX },
      );
    }
    checkTransfer(transfer, []);
    // As it is now, and moved now, whatever becomes of it until then.
    this.#early.push(cloneForLater(value, transfer));
    // A getter of the value may have found the start data.
    if (this.#found !== undefined) this.#sendEarly(this.#found);
  }

  cork<R>(body: () => R): R {
    const real = this.#real;
    return real === undefined ? body() : real.cork(body);
  }

  tryReceive(): unknown {
    const real = this.#real;
    if (real !== undefined) return real.tryReceive();
    if (this.#failure === undefined) return EMPTY;
    if (this.#failureTold) return CLOSED;
    this.#failureTold = true;
    throw this.#failure;
  }

  /** Counts what waits here, which is the first that the real transport will be given. */
  mark(): Mark {
    const real = this.#real;
    if (real !== undefined) return real.mark();
    const mark: Mark = { accepted: this.#early.length, position: undefined };
    this.#marks.set(mark, undefined);
    return mark;
  }
  takenUpTo(mark: Mark): boolean {
    return this.#real?.takenUpTo(this.#placed(mark)) ?? false;
  }
  passed(mark: Mark): boolean {
    return this.#real?.passed(this.#placed(mark)) ?? false;
  }
  #placed(mark: Mark): Mark {
    return this.#marks.get(mark) ?? mark;
  }
  pump(): boolean {
    return this.#real?.pump() ?? this.#early.length === 0;
  }

  waitReadable(timeoutMs: number, interruptible?: boolean): boolean {
    const start = performance.now();
    if (!this.#wait('receive', timeoutMs)) return this.#failure !== undefined;
    return this.#found?.waitReadable(timeoutMs - (performance.now() - start), interruptible) ?? false;
  }
  waitProgress(done: () => boolean, timeoutMs: number): boolean {
    const start = performance.now();
    if (!this.#wait('send', timeoutMs)) return false;
    return this.#found?.waitProgress(done, timeoutMs - (performance.now() - start)) ?? false;
  }

  /** Once the data has come, `woken` follows. */
  park(data: boolean, space: boolean, taken?: Mark): boolean {
    return this.#real?.park(data, space, taken && this.#placed(taken)) ?? this.#failure === undefined;
  }
  unpark(): void {
    this.#found?.unpark();
  }

  hold(held: boolean): void {
    this.#held = held;
    this.#found?.hold(held);
  }
  /** `parentPort()` keeps its port. */
  keep(): void {}
  interrupt(word: number): void {
    this.#interrupt = word;
    this.#real?.interrupt(word);
  }
  get interrupted(): number {
    return this.#real?.interrupted ?? 0;
  }
  clearInterrupt(word?: number): number {
    return this.#real?.clearInterrupt(word) ?? 0;
  }
  stats(): Stats {
    if (this.#found !== undefined) return this.#found.stats();
    return this.ended === undefined ? NO_STATS : { ...NO_STATS, undelivered: this.#early.length };
  }

  /** Before the data has come: what was posted goes out when it does, and the parent learns of the end then. */
  close(reason: CloseReason): void {
    const real = this.#real;
    if (real === undefined) this.#closedAs ??= reason;
    else real.close(reason);
  }

  get #real(): Transport | undefined {
    if (this.#found === undefined && this.#failure === undefined) {
      const data = this.#inbox.take();
      if (data !== undefined) this.#connect(data);
    }
    return this.#found;
  }

  #connect(data: unknown): void {
    this.#stopWaiting();
    try {
      const real = this.#open(data);
      this.#found = real;
      if (this.#held) real.hold(true);
      if (this.#interrupt !== 0) real.interrupt(this.#interrupt);
      this.#sendEarly(real);
      if (this.#closedAs !== undefined) real.close(this.#closedAs);
    } catch (error) {
      this.#failure = error as Error;
    }
    // Not inside whoever happened to look.
    queueMicrotask(() => this.#events.woken());
  }

  #sendEarly(real: Transport): void {
    let given = 0;
    const place = (): void => {
      for (const [mark, placed] of this.#marks) {
        if (placed === undefined && mark.accepted <= given) this.#marks.set(mark, real.mark());
      }
    };
    place();
    for (const { value, transfer } of this.#early.splice(0)) {
      try {
        real.post(value, transfer);
      } catch (error) {
        this.#events.failed(error);
      }
      given++;
      place();
    }
  }

  /** No start data has come. */
  #late(): void {
    if (this.#real !== undefined || this.#failure !== undefined) return;
    this.#stopWaiting();
    this.#failure = new UsageError(
      'ERR_HANDLE',
      `Cannot open the parent port: no start data has come in ${this.#timeoutMs} ms; either this thread was not started with spawn(), or millrace was loaded after something that takes time, and the message was lost`,
    );
    this.#events.woken();
  }

  /** Blocks until there is a real transport; false at the time limit, or when there will be none. */
  #wait(action: string, timeoutMs: number): boolean {
    if (this.#real === undefined && !this.#inbox.canTake) {
      throw new UnsupportedError(
        `Cannot ${action} with this thread blocked before the channel is connected, which takes the event loop here: \`await port.ready\` first`,
        { feature: 'ready' },
      );
    }
    const still = new Int32Array(new SharedArrayBuffer(4));
    const start = performance.now();
    while (this.#real === undefined) {
      if (this.#failure !== undefined || performance.now() - start >= timeoutMs) return false;
      if (performance.now() - this.#since >= this.#timeoutMs) this.#late();
      else Atomics.wait(still, 0, 0, 1);
    }
    return true;
  }
}
