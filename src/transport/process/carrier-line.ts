// One line in the carrier's thread: what comes goes into memory, what is put there goes out. What was taken from there counts as taken when
// the system has it, so that who waits for that waits for the socket.
import { Fifo } from '../../lane/fifo.ts';
import { CARRIER_KEPT_MAX } from '../../limits.ts';
import { DATA, SPACE } from '../../wait/signal.ts';
import { ByteLanes } from './byte-lanes.ts';
import type { SocketUser } from './socket-stream.ts';

/** What a line goes over. */
export interface Carried {
  connect(user: SocketUser): void;
  /** Takes bytes, which are the caller's again when it returns, and says `idle` once all it was given is out. */
  write(bytes: Uint8Array): unknown;
  /** Whether more may come: what comes all the same is kept, up to a bound. */
  flow(flows: boolean): void;
  /** Its last is on its way to it. */
  ending?(): void;
  end(): void;
  destroy(): void;
}

export class Line implements SocketUser {
  readonly #stream: Carried;
  readonly #lanes: ByteLanes;
  readonly #gone: (error: Error | undefined) => void;
  /** What has come and found no room: the first from byte `#at` on, and bytes of all. */
  readonly #kept = new Fifo<Uint8Array>();
  #at = 0;
  #keptBytes = 0;
  /** What was taken is with the stream. */
  #writing = false;
  /** The thread has said its last, and so has the socket. */
  #ended = false;
  #over: { readonly error: Error | undefined } | undefined;
  /** Which the thread was told. */
  #told = false;

  /**
   * @param doorbell wakes the thread
   * @param gone told once the socket is over, before the thread is
   */
  constructor(
    stream: Carried,
    memory: SharedArrayBuffer,
    doorbell: () => void,
    gone: (error: Error | undefined) => void,
  ) {
    this.#stream = stream;
    this.#lanes = new ByteLanes(memory, 1, doorbell, () => this.woken());
    this.#gone = gone;
    stream.connect(this);
    this.woken();
  }

  ending(): void {
    this.#stream.ending?.();
  }
  destroy(): void {
    this.#stream.destroy();
  }

  received(bytes: Uint8Array): void {
    if (this.#over !== undefined) return;
    const done = this.#keptBytes === 0 ? this.#lanes.put(bytes) : 0;
    if (done === bytes.length) return;
    // The runtime may have read more before it heard that it is to stop.
    this.#kept.push(bytes.slice(done));
    this.#keptBytes += bytes.length - done;
    this.#stream.flow(false);
    if (this.#keptBytes > CARRIER_KEPT_MAX) this.#tooMuch();
    this.woken();
  }
  /** The other side says more than it was given credit for, and nobody can stop it. */
  #tooMuch(): void {
    this.#kept.takeAll();
    this.#at = 0;
    this.#keptBytes = 0;
    this.closed('lost', new Error(`the other side has said ${CARRIER_KEPT_MAX} bytes that it was given no credit for`));
    this.#stream.destroy();
  }
  drained(): void {}
  idle(): void {
    this.#lanes.release();
    this.#writing = false;
    this.woken();
  }
  closed(_: unknown, error?: Error): void {
    this.#over ??= { error };
    this.woken();
  }

  /** Something has changed: moves what can be, and sleeps until more can. */
  woken(): void {
    const lanes = this.#lanes;
    lanes.wake();
    do {
      this.#moveIn();
      if (this.#over !== undefined && this.#keptBytes === 0) {
        if (this.#told) return;
        this.#told = true;
        this.#gone(this.#over.error);
        lanes.end();
        return;
      }
      if (!this.#writing) this.#moveOut();
    } while (this.#interest !== 0 && !lanes.rest(this.#interest, () => this.#canMove));
  }
  get #interest(): number {
    return (this.#writing || this.#ended ? 0 : DATA) | (this.#keptBytes === 0 ? 0 : SPACE);
  }
  get #canMove(): boolean {
    const lanes = this.#lanes;
    const out = !this.#writing && !this.#ended && (lanes.hasData || lanes.isOver);
    return out || (this.#keptBytes > 0 && lanes.hasRoom);
  }

  #moveIn(): void {
    if (this.#keptBytes === 0) return;
    for (let first = this.#kept.first; first !== undefined; first = this.#kept.first) {
      const done = this.#lanes.put(first, this.#at);
      this.#keptBytes -= done - this.#at;
      this.#at = done;
      if (done < first.length) return;
      this.#kept.shift();
      this.#at = 0;
    }
    this.#stream.flow(true);
  }
  #moveOut(): void {
    const last = this.#lanes.isOver;
    for (let piece = this.#lanes.next(); piece !== undefined; piece = this.#lanes.next()) {
      this.#writing = true;
      this.#stream.write(piece);
    }
    if (!last || this.#writing || this.#ended) return;
    this.#ended = true;
    this.#stream.end();
  }
}
