// One socket in the carrier's thread: what comes goes into memory, what is put there goes out. What was taken from there counts as taken when
// the system has it, so that who waits for that waits for the socket.
import { DATA, SPACE } from '../../wait/signal.ts';
import { ByteLanes } from './byte-lanes.ts';
import type { SocketStream, SocketUser } from './socket-stream.ts';

export class Line implements SocketUser {
  readonly #stream: SocketStream;
  readonly #lanes: ByteLanes;
  readonly #gone: (error: Error | undefined) => void;
  /** What has come and found no room. */
  #kept: Uint8Array | undefined;
  /** What was taken is with the stream. */
  #writing = false;
  /** The thread has said its last, and so has the socket. */
  #ended = false;
  #over: { readonly error: Error | undefined } | undefined;

  /**
   * @param doorbell wakes the thread
   * @param gone told once the socket is over, before the thread is
   */
  constructor(
    stream: SocketStream,
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

  destroy(): void {
    this.#stream.destroy();
  }

  received(bytes: Uint8Array): void {
    const done = this.#kept === undefined ? this.#lanes.put(bytes) : 0;
    if (done === bytes.length) return;
    // The runtime may have read more before it heard that it is to stop.
    this.#kept = joined(this.#kept, bytes.subarray(done));
    this.#stream.flow(false);
    this.woken();
  }
  drained(): void {}
  idle(): void {
    this.#lanes.release();
    this.#writing = false;
    this.woken();
  }
  closed(_: unknown, error?: Error): void {
    this.#over = { error };
    this.woken();
  }

  /** Something has changed: moves what can be, and sleeps until more can. */
  woken(): void {
    const lanes = this.#lanes;
    lanes.wake();
    do {
      this.#moveIn();
      if (this.#over !== undefined && this.#kept === undefined) {
        this.#gone(this.#over.error);
        lanes.end();
        return;
      }
      if (!this.#writing) this.#moveOut();
    } while (this.#interest !== 0 && !lanes.rest(this.#interest, () => this.#canMove));
  }
  get #interest(): number {
    return (this.#writing || this.#ended ? 0 : DATA) | (this.#kept === undefined ? 0 : SPACE);
  }
  get #canMove(): boolean {
    const lanes = this.#lanes;
    const out = !this.#writing && !this.#ended && (lanes.hasData || lanes.isOver);
    return out || (this.#kept !== undefined && lanes.hasRoom);
  }

  #moveIn(): void {
    const kept = this.#kept;
    if (kept === undefined) return;
    const done = this.#lanes.put(kept);
    this.#kept = done < kept.length ? kept.subarray(done) : undefined;
    if (this.#kept === undefined) this.#stream.flow(true);
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

function joined(first: Uint8Array | undefined, second: Uint8Array): Uint8Array {
  if (first === undefined) return second.slice();
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
