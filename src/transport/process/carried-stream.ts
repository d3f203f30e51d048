// A connection's bytes over a socket that the carrier has: a thread that blocks takes what comes without its event loop, and what it says goes out
// while it blocks. Both directions are bounded by the memory between the two threads.
import { platform } from '#platform';
import { UsageError } from '../../errors.ts';
import { SOCKET_WAITING_BYTES } from '../../limits.ts';
import type { EndReason } from '../../outcome.ts';
import { DATA, SPACE } from '../../wait/signal.ts';
import type { ByteStream, StreamConnection } from '../stream/connection.ts';
import { ByteLanes } from './byte-lanes.ts';
import type { WhyGone } from './socket-stream.ts';

const LOST: WhyGone = (tell) => tell('lost');

/** Pieces that are taken before the event loop has a turn. */
const PIECES_A_TURN = 64;

/** What a line needs of its carrier. */
interface CarrierOfLine {
  ring(of: number): void;
  destroy(of: number): void;
  ends(of: number): void;
  forget(of: number): void;
  hold(held: boolean): void;
  takeNews(): void;
}

export class CarriedStream implements ByteStream {
  readonly number: number;
  readonly memory: SharedArrayBuffer;
  readonly #carrier: CarrierOfLine;
  readonly #lanes: ByteLanes;
  #connection: StreamConnection | undefined;
  #whyGone: WhyGone = LOST;
  /** What was said and found no room, `#waiting[0]` from byte `#at` on. */
  readonly #waiting: Uint8Array[] = [];
  #at = 0;
  #waitingBytes = 0;
  #full = false;
  /** This side has said its last; the carrier knows. */
  #ended = false;
  #endTold = false;
  #over = false;
  #error: Error | undefined;
  /** Of one whose carrier tells when the other side has its last words, which hold the process until then. */
  lastSaid: Promise<void> | undefined;
  #tellLastSaid: (() => void) | undefined;
  /** Nobody waits any more for what waits here. */
  #isSaid = false;
  #held = false;
  #holds = false;
  /** What has come is being handed over. */
  #inside = false;
  /** The event loop is to be asked to wake this side, once it has its turn. */
  #restDue = false;

  /** @param memory from `allocateMemory` */
  constructor(carrier: CarrierOfLine, number: number, memory: SharedArrayBuffer) {
    this.number = number;
    this.memory = memory;
    this.#carrier = carrier;
    this.#lanes = new ByteLanes(
      memory,
      0,
      () => carrier.ring(number),
      () => this.woken(),
    );
  }

  /** From here on what comes goes to `connection`. */
  connect(connection: StreamConnection, whyGone: WhyGone = LOST): void {
    this.#connection = connection;
    this.#whyGone = whyGone;
    this.#restSoon();
  }

  // ---- out -------------------------------------------------------------------------------------------------------

  write(bytes: Uint8Array): boolean {
    if (this.#over) return true;
    const done = this.#waiting.length === 0 ? this.#lanes.put(bytes) : 0;
    if (done < bytes.length) {
      this.#waiting.push(bytes.slice(done));
      this.#waitingBytes += bytes.length - done;
      this.#full ||= this.#waitingBytes > SOCKET_WAITING_BYTES;
      this.#rehold();
      this.#restSoon();
    }
    return !this.#full;
  }
  /** Moves what waits as far as there is room. */
  #moveOut(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const done = this.#lanes.put(first, this.#at);
      this.#waitingBytes -= done - this.#at;
      this.#at = done;
      if (done < first.length) return;
      this.#waiting.shift();
      this.#at = 0;
    }
    if (this.#ended && !this.#endTold) {
      this.#endTold = true;
      this.#lanes.end();
    }
  }
  #relieve(): void {
    this.#moveOut();
    this.#rehold();
    if (!this.#full || this.#waitingBytes > SOCKET_WAITING_BYTES / 2) return;
    this.#full = false;
    this.#connection?.drained();
  }
  end(): void {
    this.#ended = true;
    this.#moveOut();
    this.#rehold();
    this.#restSoon();
    // What it cannot take yet, for the other side takes nothing, is not to keep it from counting the time.
    if (this.#tellLastSaid !== undefined) this.#carrier.ends(this.number);
  }
  /** Ends it at once. */
  destroy(): void {
    if (!this.#over) this.#carrier.destroy(this.number);
  }
  flushSync(timeoutMs: number): boolean {
    const untilMs = performance.now() + timeoutMs;
    const left = (): number => Math.max(0, untilMs - performance.now());
    const out = (): boolean => this.#over || (this.#waiting.length === 0 && this.#lanes.allTaken);
    const moved = (): boolean => {
      this.#moveOut();
      return this.#lanes.isOver || out();
    };
    if (!this.#lanes.wait(SPACE, moved, left())) return false;
    this.#full = false;
    // What is unread over there is taken back by a line that goes before the other side has ended.
    return !this.#ended || this.#over || this.#lanes.wait(DATA, () => this.#readOut(), left());
  }
  /** Nobody hears any more what comes; whether nothing does. */
  #readOut(): boolean {
    const over = this.#lanes.isOver;
    while (this.#lanes.next() !== undefined);
    this.#lanes.release();
    return over;
  }

  expectLast(): void {
    this.lastSaid = new Promise((resolve) => {
      this.#tellLastSaid = resolve;
    });
  }
  lastIsSaid(): void {
    this.#tellLastSaid?.();
    this.#tellLastSaid = undefined;
    this.#isSaid = true;
    this.#rehold();
  }
  /** Whether what was said last is not to go with the process. */
  get #lasts(): boolean {
    return this.#ended && (this.lastSaid === undefined ? !this.#over : this.#tellLastSaid !== undefined);
  }
  hold(held: boolean): void {
    this.#held = held;
    this.#rehold();
  }
  #rehold(): void {
    // What waits here would go with the process, and so does a line whose other side has not ended.
    const holds = this.#lasts || (!this.#over && (this.#held || (this.#waiting.length > 0 && !this.#isSaid)));
    if (holds === this.#holds) return;
    this.#carrier.hold(holds);
    this.#holds = holds;
  }

  // ---- in --------------------------------------------------------------------------------------------------------

  receiveSync(timeoutMs: number): boolean {
    if (this.#over) return false;
    if (this.#inside) {
      if (timeoutMs === 0) return false;
      throw new UsageError('ERR_BUSY', 'Cannot wait for what comes: this call is in the middle of what has come');
    }
    // To sleep with the thread takes back what the event loop has announced.
    if (timeoutMs > 0) this.#restSoon();
    const interest = DATA | (this.#waiting.length > 0 ? SPACE : 0);
    if (!this.#lanes.wait(interest, this.#stirs, timeoutMs)) return false;
    this.#move(true);
    return true;
  }

  /** The carrier has rung. */
  woken(): void {
    if (this.#over || this.#inside) return;
    this.#lanes.wake();
    this.#move(false);
    this.#rest();
  }
  /** What the line has ended of; that it has is said next. */
  broke(error: Error): void {
    this.#error = error;
  }
  /** There is no carrier any more. */
  lost(error: Error): void {
    this.#error ??= error;
    this.#close(false);
  }

  readonly #stirs = (): boolean =>
    this.#lanes.hasData || this.#lanes.isOver || (this.#waiting.length > 0 && this.#lanes.hasRoom);

  /** @param now this thread blocks */
  #move(now: boolean): void {
    const over = this.#lanes.isOver;
    this.#inside = true;
    try {
      if (this.#waiting.length > 0) this.#relieve();
      let pieces = 0;
      for (let piece = this.#lanes.next(); piece !== undefined; piece = this.#lanes.next()) {
        this.#connection?.received(piece);
        if (++pieces === PIECES_A_TURN) break;
      }
    } finally {
      this.#lanes.release();
      this.#inside = false;
    }
    if (over && !this.#lanes.hasData) this.#close(now);
  }
  #close(now: boolean): void {
    if (this.#over) return;
    if (this.#error === undefined) this.#carrier.takeNews();
    this.#over = true;
    this.#waiting.length = 0;
    this.#carrier.forget(this.number);
    this.#rehold();
    const connection = this.#connection;
    const tell = (reason: EndReason): void => connection?.closed(reason, reason === 'lost' ? this.#error : undefined);
    if (now && this.#whyGone.now !== undefined) tell(this.#whyGone.now());
    else this.#whyGone(tell);
  }

  // ---- the event loop --------------------------------------------------------------------------------------------

  /** Only once there is one: a thread that never comes back to it would be sent a message for each piece, and read none. */
  #restSoon(): void {
    if (this.#restDue) return;
    queueMicrotask(() => {
      this.#restDue = false;
      this.#rest();
    });
    this.#restDue = true;
  }
  #rest(): void {
    if (this.#over || this.#connection === undefined) return;
    const interest = DATA | (this.#waiting.length > 0 ? SPACE : 0);
    if (!this.#lanes.rest(interest, this.#stirs)) platform.turn(() => this.woken());
  }
}
