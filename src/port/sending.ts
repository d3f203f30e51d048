// What a port does to send: at once, through the outbox, or with this thread blocked; and the promises about it.
import type { Outbound } from '../lane/lane.ts';
import type { Transport } from '../transport/transport.ts';
import { blockingOf, sendBlocking } from './blocking.ts';
import type { Ending } from './ending.ts';
import { timeoutOf } from './options.ts';
import { Progress } from './progress.ts';
import type { Pump } from './pump.ts';
import { type Transfer, transferList } from './transfer.ts';

export interface SendOptions {
  /**
   * Milliseconds to wait for room, Infinity by default: for all of the message, or for as much of it as goes in within the
   * limit if it goes in parts. The rest of an accepted message follows by itself.
   */
  readonly timeoutMs?: number | undefined;
  /** Objects that move instead of being cloned. They stay where they are if nothing was sent. */
  readonly transfer?: readonly unknown[] | undefined;
}
const SEND_OPTIONS: readonly string[] = ['timeoutMs', 'transfer'];

/** The members of a port that send; what each promises stands there. */
export class Sending {
  readonly progress: Progress;
  /** Messages that `post` was given after the end. */
  late = 0;
  readonly #transport: Transport;
  readonly #out: Outbound;
  readonly #ending: Ending;
  readonly #pump: Pick<Pump, 'tire' | 'rearm'>;
  readonly #kick: () => void;

  /** @param kick makes the event loop look after what was sent */
  constructor(transport: Transport, ending: Ending, pump: Pick<Pump, 'tire' | 'rearm'>, kick: () => void) {
    this.#transport = transport;
    this.#out = transport.out;
    this.#ending = ending;
    this.#pump = pump;
    this.#kick = kick;
    this.progress = new Progress(transport.out, (action) => ending.refusal(action));
  }

  /** Whether anything here waits for the peer: then a pump looks after it between messages, too. */
  get pressing(): boolean {
    return this.#out.backlog > 0 || this.progress.pending;
  }

  /** Whether anything or anybody here waits for room. */
  get roomAwaited(): boolean {
    return this.#out.backlog > 0 || this.progress.roomAwaited;
  }

  post(value: unknown, transfer: Transfer | undefined): void {
    const list = transferList(transfer);
    if (this.#ending.over) {
      this.late++;
      return;
    }
    if (this.#out.post(value, list)) this.#kick();
  }

  trySend(value: unknown, transfer: Transfer | undefined): boolean {
    const list = transferList(transfer);
    // Behind that, for a getter of the options may have closed this end.
    this.#ending.check('send');
    const sent = this.#out.trySend(value, list);
    if (this.#out.backlog > 0) this.#kick();
    return sent;
  }

  send(value: unknown, options: SendOptions | undefined): boolean {
    const timeoutMs = timeoutOf(options, SEND_OPTIONS);
    const transfer = transferList(options, SEND_OPTIONS);
    this.#ending.check('send');
    let sent = this.#out.trySend(value, transfer);
    if (sent && this.#out.backlog === 0) return true;
    const { blocking } = this.#transport;
    try {
      // Where nobody may block, what was accepted follows by itself.
      if (!sent || blocking !== undefined) {
        const wait = blockingOf(this.#transport, 'send', 'trySend and drained');
        sent = sendBlocking(this.#transport, wait, value, transfer, sent, timeoutMs);
      }
    } finally {
      this.#pump.rearm();
      if (this.#out.backlog > 0) this.#kick();
    }
    // Of what was accepted, too, the end has cut off what had not gone in.
    if (!sent || this.#out.backlog > 0) {
      this.#ending.check('send');
      if (this.#out.unheard === true) throw this.#ending.refusal('send');
    }
    return sent;
  }

  get full(): boolean {
    return !this.#ending.over && !this.#hasRoom() && this.#out.unheard !== true;
  }

  drained(): Promise<void> {
    if (this.#ending.over || this.#out.unheard === true) return refused(this.#ending.refusal('send'));
    try {
      if (this.#hasRoom() && !this.#pump.tire()) return Promise.resolve();
    } catch (error) {
      return refused(error);
    }
    const room = this.progress.room();
    this.#kick();
    return room;
  }

  flush(): Promise<void> {
    if (this.#ending.shut) return refused(this.#ending.refusal('flush'));
    const mark = this.#out.mark();
    try {
      if (this.#out.taken(mark)) return Promise.resolve();
    } catch (error) {
      return refused(error);
    }
    if (this.#ending.over || this.#out.unheard === true) return refused(this.#ending.refusal('flush'));
    const taken = this.progress.taken(mark);
    this.#kick();
    return taken;
  }

  /** Whether a sender need not wait, once what waits has moved on as far as it goes. */
  #hasRoom(): boolean {
    const out = this.#out;
    if (out.writable) return true;
    if (out.backlog > 0) out.pump();
    return out.writable;
  }
}

/** A rejection that kills nobody who does not look at it. */
function refused(error: unknown): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(() => {});
  return promise;
}
