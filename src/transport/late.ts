// The transport of a port that is there before its channel: `parentPort()` in a thread whose start data is on its way, or a channel of
// a connection that is asked for in one call. What is posted meanwhile waits here; from the moment the real transport is there,
// everything is its own.
import { platform } from '#platform';
import { UnsupportedError, UsageError } from '../errors.ts';
import type { Beside, HeldValue } from '../lane/beside.ts';
import type { Inbound, Mark, Outbound } from '../lane/lane.ts';
import type { OverflowPolicy } from '../lane/outbox.ts';
import { EARLY_MESSAGES_MAX, OUTBOX_ITEM_BYTES } from '../limits.ts';
import { CLOSED, type CloseReason, EMPTY, type EndReason } from '../outcome.ts';
import { Spin } from '../wait/spin.ts';
import type {
  Blocking,
  Interrupts,
  LoopWait,
  Selecting,
  Snapshot,
  Stats,
  Transport,
  TransportEvents,
  Travels,
} from './transport.ts';

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

/** Where the real transport comes from. */
export interface Coming {
  /** Whether `take` sees it as soon as it is there, though this thread is blocked; else the event loop has to bring it. */
  readonly canTake: boolean;
  /** The real transport, once there is one. Never waits. @throws what the port ends with, if there will be none, or it is too late */
  take(): Transport | undefined;
  /** Calls `arrived` when something may be taken, or it is too late, until the returned function is called. */
  await(arrived: () => void): () => void;
}

export class LateTransport implements Transport {
  readonly out: Outbound;
  readonly in: Inbound;
  readonly loop: LoopWait;
  get blocking(): Blocking | undefined {
    const found = this.#found;
    return found === undefined ? this.#waiting : found.blocking;
  }
  get travels(): Travels | undefined {
    return this.#real?.travels;
  }
  readonly interrupts: Interrupts;
  readonly #coming: Coming;
  readonly #beside: Pick<Beside, 'holdBack' | 'letGo'>;
  readonly #events: TransportEvents;
  readonly #waiting: Blocking | undefined;
  readonly #stopWaiting: () => void;
  #found: Transport | undefined;
  /** What was posted before, cloned, with the moved objects in it. */
  #early: HeldValue[] = [];
  readonly #bytesMax: number | undefined;
  #earlyBytes = 0;
  /** Marks that were set before, and what they are in the stream of the real transport. */
  readonly #marks = new Map<Mark, Mark | undefined>();
  #closedAs: EndReason | undefined;
  #failure: Error | undefined;
  #failureTold = false;
  #held = false;
  #interrupt = 0;

  /**
   * @param beside what becomes of values meanwhile
   * @param bytesMax of what waits; without it the number of messages is bounded
   */
  constructor(coming: Coming, beside: Pick<Beside, 'holdBack' | 'letGo'>, events: TransportEvents, bytesMax?: number) {
    this.#bytesMax = bytesMax;
    this.#coming = coming;
    this.#beside = beside;
    this.#events = events;
    this.out = this.#makeOut();
    this.in = this.#makeIn();
    this.loop = this.#makeLoop();
    this.#waiting = platform.canBlock ? this.#makeBlocking() : undefined;
    this.interrupts = this.#makeInterrupts();
    this.#stopWaiting = coming.await(() => void this.#real);
  }

  get ended(): CloseReason | undefined {
    return this.#real?.ended ?? this.#closedAs ?? (this.#failure && 'lost');
  }
  get follows(): boolean {
    return this.#real?.follows === true;
  }

  get selecting(): Selecting | 'later' | undefined {
    const real = this.#real;
    return real === undefined && this.#failure === undefined ? 'later' : real?.selecting;
  }

  #makeOut(): Outbound {
    const self = this;
    return {
      get writable(): boolean {
        return self.#real?.out.writable ?? false;
      },
      get overflow(): OverflowPolicy | undefined {
        return self.#real?.out.overflow;
      },
      get backlog(): number {
        return self.#found?.out.backlog ?? self.#early.length;
      },
      get unheard(): boolean {
        return self.#found?.out.unheard === true;
      },
      trySend: (value, transfer) => self.#real?.out.trySend(value, transfer) ?? false,
      post: (value, transfer = NO_PORTS) => self.#post(value, transfer),
      cork(body) {
        const real = self.#real;
        return real === undefined ? body() : real.out.cork(body);
      },
      /** Counts what waits here, which is the first that the real transport will be given. */
      mark() {
        const real = self.#real;
        if (real !== undefined) return real.out.mark();
        const mark: Mark = { accepted: self.#early.length, position: undefined };
        self.#marks.set(mark, undefined);
        return mark;
      },
      taken: (mark) => self.#real?.out.taken(self.#placed(mark)) ?? false,
      pump: () => self.#real?.out.pump() ?? self.#early.length === 0,
    };
  }

  #makeIn(): Inbound {
    const self = this;
    return {
      get ready(): boolean {
        return self.#real?.in.ready ?? self.#failure !== undefined;
      },
      get whole(): boolean {
        return self.#real?.in.whole ?? self.#failure !== undefined;
      },
      get ports(): readonly unknown[] {
        return self.#found?.in.ports ?? NO_PORTS;
      },
      tryReceive(): unknown {
        const real = self.#real;
        if (real !== undefined) return real.in.tryReceive();
        if (self.#failure === undefined) return EMPTY;
        if (self.#failureTold) return CLOSED;
        self.#failureTold = true;
        throw self.#failure;
      },
    };
  }

  /** Once the data has come, `woken` follows. */
  #makeLoop(): LoopWait {
    const self = this;
    return {
      get spin(): Spin {
        return self.#found?.loop.spin ?? NEVER_SPINS;
      },
      stirs(data, space, taken) {
        const real = self.#real;
        if (real === undefined) return data && self.#failure !== undefined;
        return real.loop.stirs(data, space, taken && self.#placed(taken));
      },
      park(data, space, taken) {
        return self.#real?.loop.park(data, space, taken && self.#placed(taken)) ?? self.#failure === undefined;
      },
      unpark: () => self.#found?.loop.unpark(),
    };
  }

  /** Until there is a real one, and for who has begun to wait before. */
  #makeBlocking(): Blocking {
    const self = this;
    const waited = (action: string, timeoutMs: number, wait: (real: Blocking, leftMs: number) => boolean) => {
      const start = performance.now();
      if (!self.#wait(action, timeoutMs)) return undefined;
      const { blocking } = self;
      if (blocking === undefined) throw notBlocked(action);
      return wait(blocking, timeoutMs - (performance.now() - start));
    };
    return {
      get awaitsEventLoop(): boolean {
        return self.#found?.blocking?.awaitsEventLoop ?? false;
      },
      readable: (timeoutMs, interruptible) =>
        waited('receive', timeoutMs, (real, left) => real.readable(left, interruptible)) ?? self.#failure !== undefined,
      progress: (done, timeoutMs) => waited('send', timeoutMs, (real, left) => real.progress(done, left)) ?? false,
    };
  }

  #makeInterrupts(): Interrupts {
    const self = this;
    return {
      get word(): number {
        return self.#real?.interrupts?.word ?? 0;
      },
      raise(word) {
        self.#interrupt = word;
        self.#real?.interrupts?.raise(word);
      },
      clear: (word) => self.#real?.interrupts?.clear(word) ?? 0,
    };
  }

  #post(value: unknown, transfer: readonly unknown[]): boolean {
    const real = this.#real;
    if (real !== undefined) return real.out.post(value, transfer);
    const bytesMax = this.#bytesMax;
    if (bytesMax === undefined ? this.#early.length >= EARLY_MESSAGES_MAX : this.#earlyBytes >= bytesMax)
      throw full(this.#early.length);
    // As it is now, and moved now, whatever becomes of it until then.
    const held = this.#beside.holdBack(value, transfer);
    this.#early.push(held);
    this.#earlyBytes += OUTBOX_ITEM_BYTES + (held.bytes ?? 0);
    // A getter of the value may have found the channel.
    if (this.#found !== undefined) this.#sendEarly(this.#found);
    return this.out.backlog > 0;
  }

  #placed(mark: Mark): Mark {
    return this.#marks.get(mark) ?? mark;
  }

  hold(held: boolean): void {
    this.#held = held;
    this.#found?.hold(held);
  }
  /** `parentPort()` keeps its port. */
  keep(_: object | undefined): void {}

  whenWatched(then: () => void): void {
    const real = this.#real;
    if (real?.whenWatched === undefined) then();
    else real.whenWatched(then);
  }
  inspect(): Snapshot {
    const real = this.#real;
    if (real !== undefined) return real.inspect();
    return {
      attached: false,
      endedHere: this.#closedAs !== undefined,
      error: this.#failure,
      stats: () => (this.ended === undefined ? NO_STATS : { ...NO_STATS, undelivered: this.#early.length }),
    };
  }

  /** Before the data has come: what was posted goes out when it does, and the parent learns of the end then. */
  close(reason: EndReason): void {
    const real = this.#real;
    if (real === undefined) this.#closedAs ??= reason;
    else real.close(reason);
  }

  get #real(): Transport | undefined {
    if (this.#found === undefined && this.#failure === undefined) this.#look();
    return this.#found;
  }

  #look(): void {
    try {
      const real = this.#coming.take();
      if (real === undefined) return;
      this.#stopWaiting();
      this.#found = real;
      if (this.#held) real.hold(true);
      if (this.#interrupt !== 0) real.interrupts?.raise(this.#interrupt);
      this.#sendEarly(real);
      if (this.#closedAs !== undefined) real.close(this.#closedAs);
    } catch (error) {
      this.#stopWaiting();
      this.#fail(error as Error);
    }
    // Not inside whoever happened to look.
    queueMicrotask(() => this.#events.woken());
  }

  #sendEarly(real: Transport): void {
    let given = 0;
    const place = (): void => {
      for (const [mark, placed] of this.#marks) {
        if (placed === undefined && mark.accepted <= given) this.#marks.set(mark, real.out.mark());
      }
    };
    place();
    for (const { value, transfer } of this.#early.splice(0)) {
      try {
        real.out.post(value, transfer);
      } catch (error) {
        this.#beside.letGo(value, transfer);
        this.#events.failed(error);
      }
      given++;
      place();
    }
  }

  /** There will be no channel: what was posted goes nowhere. */
  #fail(failure: Error): void {
    this.#failure = failure;
    for (const { value, transfer } of this.#early) this.#beside.letGo(value, transfer);
  }

  /** Blocks until there is a real transport; false at the time limit, or when there will be none. */
  #wait(action: string, timeoutMs: number): boolean {
    if (this.#real === undefined && !this.#coming.canTake) throw notBlocked(action);
    const still = new Int32Array(new SharedArrayBuffer(4));
    const start = performance.now();
    while (this.#real === undefined) {
      if (this.#failure !== undefined || performance.now() - start >= timeoutMs) return false;
      Atomics.wait(still, 0, 0, 1);
    }
    return true;
  }
}

function full(count: number): UsageError {
  return new UsageError(
    'ERR_OUTBOX_FULL',
    `Cannot post before the channel is connected: ${count} messages wait already; await port.ready`,
    { limit: count },
  );
}

function notBlocked(action: string): UnsupportedError {
  return new UnsupportedError(
    `Cannot ${action} with this thread blocked before the channel is connected, which takes the event loop here: \`await port.ready\` first`,
    { feature: 'ready' },
  );
}
