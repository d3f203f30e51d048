// This side's ends of the two native ports, and when they are closed. Leads to nobody who uses them: it stays when the
// port above is garbage.
import { platform } from '#platform';
import type { NativePair } from '../memory/handshake.ts';
import type { NativePort } from '../platform/contract.ts';

export class NativeEnds {
  readonly tether: NativePort;
  readonly side: NativePort;
  /** Anything but the page of life was posted on the side port. */
  left = false;
  /** This side has ended. */
  #over = false;
  #closed = false;

  constructor({ tether, side }: NativePair) {
    this.tether = tether;
    this.side = side;
  }

  /** Wakes the other side's event loop. */
  doorbell(): void {
    if (!this.#over) this.tether.postMessage(0);
  }

  /** Keeps the process alive, or lets it go. */
  hold(held: boolean): void {
    if (!this.#over) platform.hold(this.tether, held);
  }

  /**
   * This side is over.
   * @param attached whether a thread has the other side. If not, its handle may be on its way with the other ends of
   *   these ports, which must stay good until it has arrived; then its end closes them
   */
  close(attached: boolean): void {
    this.hold(false);
    this.#over = true;
    if (!attached || this.#closed) return;
    this.#closed = true;
    this.tether.close();
    // A port left open lives as long as its thread: only where closing it would lose what the other end may yet take.
    if (!platform.closeDropsPosted || !this.left) this.side.close();
  }

  /** The other ends are gone: what was left open for their sake is of no use any more. */
  othersGone(): void {
    if (this.#over) this.close(true);
  }
}
