// What a port does to receive when it is asked: at once, with this thread blocked, or by a promise. Listeners are handed
// their messages by the port itself, which takes them here.
import { UsageError } from '../errors.ts';
import type { Failure } from '../lane/inbox.ts';
import type { Inbound } from '../lane/lane.ts';
import { CLOSED, EMPTY } from '../outcome.ts';
import type { Transport } from '../transport/transport.ts';
import { blockingOf, isInterrupted, receiveBlocking } from './blocking.ts';
import type { Ending } from './ending.ts';
import type { AbortSignalLike } from './events.ts';
import { timeoutOf } from './options.ts';
import type { Pump } from './pump.ts';
import { selectChanged } from './selecting.ts';
import { Waiters } from './waiters.ts';

export interface ReceiveOptions {
  /** Milliseconds; 0 looks once, Infinity (the default) waits for ever. */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether to come back with `EMPTY` when `interrupted` is not 0 and no message is there, at once or when an interrupt
   * comes. It stays until it is cleared: so long it comes back at once. False by default.
   */
  readonly interruptible?: boolean | undefined;
}
const RECEIVE_OPTIONS: readonly string[] = ['timeoutMs', 'interruptible'];

export interface ReceiveAsyncOptions {
  /** Milliseconds; 0 looks once, Infinity (the default) waits for ever. */
  readonly timeoutMs?: number | undefined;
  /** Takes the reader out of the line: its promise rejects with the signal's reason, and no message is lost. */
  readonly signal?: AbortSignalLike | undefined;
}
const RECEIVE_ASYNC_OPTIONS: readonly string[] = ['timeoutMs', 'signal'];

/** Who alone takes messages off a port: all others are refused until it is released. Listeners are told as before. */
export interface Claim {
  tryReceive(): unknown;
  receive(options: ReceiveOptions): unknown;
  release(): void;
}

/** What a receiver needs of the port's event loop. */
export interface ReceivingHost {
  /** Somebody waits for messages now. */
  kick(): void;
  /** Somebody who waited has left. */
  left(): void;
}

/** The members of a port that receive; what each promises stands there. */
export class Receiving {
  /** Promises of messages, in the order they were asked for. */
  readonly readers: Waiters = new Waiters();
  /** `CLOSED` has come out of the transport: no message will. Set by who hands messages out on the event loop. */
  readOut = false;
  readonly #transport: Transport;
  readonly #in: Inbound;
  readonly #ending: Ending;
  readonly #pump: Pick<Pump, 'tire' | 'rearm'>;
  readonly #host: ReceivingHost;
  /** An error that a batch met behind its messages; the next receive throws it. */
  #owed: Failure | undefined;
  #claim: Claim | undefined;
  /** Of those who have the claim, in the plural. */
  #claimants = '';

  constructor(transport: Transport, ending: Ending, pump: Pick<Pump, 'tire' | 'rearm'>, host: ReceivingHost) {
    this.#transport = transport;
    this.#in = transport.in;
    this.#ending = ending;
    this.#pump = pump;
    this.#host = host;
  }

  /** The next message, `EMPTY`, or `CLOSED`; also after this end was closed. */
  take(): unknown {
    if (this.#owed === undefined) return this.#in.tryReceive();
    const { error } = this.#owed;
    this.#owed = undefined;
    throw error;
  }

  /** Whether `take` will find something: a message, an error, the end. */
  get whole(): boolean {
    return this.owes || this.#in.whole;
  }
  /** Whether the next receive throws what a batch has met. */
  get owes(): boolean {
    return this.#owed !== undefined;
  }

  /** Hands that over. */
  takeOwed(): Failure | undefined {
    const owed = this.#owed;
    this.#owed = undefined;
    return owed;
  }

  /**
   * For what reads a port for others: a message that somebody else takes is one that those wait for.
   * @param claimants who they are, in the plural
   * @throws UsageError ERR_BUSY if somebody waits for a message here, or has a claim
   */
  claim(claimants: string): Claim {
    const others = this.#claim === undefined ? 'somebody' : this.#claimants;
    if (this.#claim !== undefined || this.readers.length > 0) {
      const remedy = 'give each a channel of its own';
      throw new UsageError('ERR_BUSY', `Cannot have ${claimants} over this port: ${others} read it already; ${remedy}`);
    }
    const claim: Claim = {
      tryReceive: () => this.tryReceive(claim),
      receive: (options) => this.receive(options, undefined, claim),
      release: () => {
        this.#claim = undefined;
      },
    };
    this.#claim = claim;
    this.#claimants = claimants;
    return claim;
  }
  /** @throws UsageError ERR_BUSY */
  checkUnclaimed(action: string): void {
    if (this.#claim !== undefined) throw this.#refusal(action);
  }
  #refusal(action: string): Error {
    if (this.#ending.shut) return this.#ending.refusal(action);
    const why = `${this.#claimants} go over this port, and would miss what is taken`;
    return new UsageError('ERR_BUSY', `Cannot ${action}: ${why}; send other messages over a channel of their own`);
  }

  /** @param claim of who asks */
  tryReceive(claim?: Claim): unknown {
    if (this.#ending.shut || this.#claim !== claim) throw this.#refusal('receive');
    return this.take();
  }

  receive(options: ReceiveOptions | undefined, fallbackMs: number = Number.POSITIVE_INFINITY, claim?: Claim): unknown {
    // Before a message is taken: a wrong call must lose none.
    const timeoutMs = timeoutOf(options, RECEIVE_OPTIONS, fallbackMs);
    const interruptible = options?.interruptible === true;
    const first = this.tryReceive(claim);
    if (first !== EMPTY || timeoutMs === 0 || (interruptible && isInterrupted(this.#transport))) return first;
    const blocking = blockingOf(this.#transport, 'receive', 'receiveAsync or onmessage');
    try {
      return receiveBlocking(this.#transport, blocking, timeoutMs, interruptible);
    } finally {
      this.#pump.rearm();
    }
  }

  receiveMany(max: number, options: ReceiveOptions | undefined): unknown[] {
    if (!(Number.isSafeInteger(max) && max >= 1)) {
      throw new UsageError('ERR_OPTION', `max cannot be ${String(max)}: it takes a whole number from 1`, {
        value: max,
      });
    }
    const values: unknown[] = [];
    let value = this.receive(options, 0);
    while (value !== EMPTY && value !== CLOSED) {
      values.push(value);
      if (values.length === max) break;
      try {
        value = this.tryReceive();
      } catch (error) {
        this.#owed = { error };
        selectChanged(this.#transport);
        break;
      }
    }
    return values;
  }

  receiveAsync(options: ReceiveAsyncOptions | undefined): Promise<unknown> {
    try {
      const timeoutMs = timeoutOf(options, RECEIVE_ASYNC_OPTIONS);
      options?.signal?.throwIfAborted();
      if (this.#ending.shut || this.#claim !== undefined) throw this.#refusal('receive');
      // A loop over messages that are there already would keep everybody else from running.
      const mayTake = this.readers.length === 0 && (timeoutMs === 0 || this.readOut || !this.#pump.tire());
      if (mayTake) {
        const value = this.take();
        if (value !== EMPTY || timeoutMs === 0) return Promise.resolve(value);
      }
      const pending = this.readers.add(timeoutMs, EMPTY, options?.signal, () => this.#host.left());
      this.#host.kick();
      return pending;
    } catch (error) {
      return Promise.reject(error);
    }
  }
}
