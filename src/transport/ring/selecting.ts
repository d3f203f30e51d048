// One end of a region among many that a thread waits for at once: link/selector.ts.
import type { TimeoutError } from '../../errors.ts';
import type { SleepsBy } from '../../link/own-agent.ts';
import type { Selectable, Watch } from '../../link/selector.ts';
import type { ParkPlace } from '../../wait/park-place.ts';
import { ABOVE, ANYTHING, announce, DATA, withdraw } from '../../wait/signal.ts';
import type { Selecting, SelectPlace } from '../transport.ts';
import { notOpened } from './blocking.ts';
import type { Damage } from './damage.ts';
import type { Awaited } from './interests.ts';
import type { Reading } from './reading.ts';
import type { Peer, Together } from './tie.ts';
import type { SendingLane, Writing } from './writing.ts';

export interface RingSelectingParts {
  readonly together: Together;
  readonly peer: Pick<Peer, 'linked' | 'moved' | 'peerGone' | 'sleepsBy'>;
  /** Where this side sleeps. */
  readonly sleeps: ParkPlace;
  readonly awaited: Awaited;
  readonly out: SendingLane;
  readonly writing: Writing;
  readonly reading: Reading;
  readonly damage: Damage;
  /** As RingBlockingParts. */
  readonly atWill: boolean;
  readonly attached: () => boolean;
  readonly startTimeoutMs: number;
}

export class RingSelecting implements Selecting, Selectable {
  readonly #parts: RingSelectingParts;
  #watch: Watch | undefined;
  corks = 0;
  readonly #pump = (): boolean => {
    this.#parts.writing.pump();
    return false;
  };

  constructor(parts: RingSelectingParts) {
    this.#parts = parts;
  }

  get place(): SelectPlace {
    return this.#parts.together.place;
  }
  get watch(): Watch {
    if (this.#watch === undefined) {
      const { together, awaited } = this.#parts;
      const watch = together.place.watch(this);
      this.#watch = watch;
      awaited.disturbed = () => watch.disturbed();
      together.selected((blocked) => {
        // What the event loop has taken the mark of is asked for anew: a line would keep the port.
        if (blocked) watch.marked();
        else watch.disturbed();
        return !blocked || awaited.parked;
      });
    }
    return this.#watch;
  }
  get startMs(): number {
    const { attached, startTimeoutMs } = this.#parts;
    return attached() ? Number.POSITIVE_INFINITY : startTimeoutMs;
  }
  notOpened(): TimeoutError {
    return notOpened(this.#parts.startTimeoutMs);
  }
  changed(): void {
    if (this.#watch === undefined) return;
    this.#watch.disturbed();
    this.place.kept = undefined;
  }

  /** What only the event loop can take in counts: whoever receives is told so. */
  get ready(): boolean {
    const { reading, atWill } = this.#parts;
    return reading.whole || (!atWill && reading.awaitsSide);
  }

  /** No mark tells of what is on its way beside the ring either. */
  get linked(): boolean {
    const { peer, reading } = this.#parts;
    return peer.linked && peer.moved !== true && !reading.awaitsSide;
  }

  arm(): boolean {
    const { together, awaited, sleeps, out } = this.#parts;
    let moves = this.moves();
    if (!this.linked) {
      if (this.ready) return false;
      // Nobody would say which channel it was: it is looked at between slices. But the look may have brought it to a link.
      if (!this.linked) return true;
    }
    // What the event loop has announced is overwritten.
    if (awaited.parked) together.later();
    for (;;) {
      announce(sleeps, ABOVE, moves ? ANYTHING : DATA);
      if (this.ready) break;
      // Room that was made before the announcement rings no more (W1).
      if (!moves || !out.progressed) return true;
      moves = this.moves();
    }
    withdraw(sleeps);
    return false;
  }

  get restless(): boolean {
    return this.corks > 0 || this.#parts.out.backlog > 0;
  }
  moves(): boolean {
    const { out, damage } = this.#parts;
    // Inside cork too: the answer may be to what the peer cannot see yet.
    if (out.backlog > 0) damage.looked(this.#pump);
    out.sink.publish();
    // In a getter of a value that is being written nothing moves, however much room there is: to wait for room would find it for ever.
    return out.backlog > 0 && !out.busy;
  }

  get sleepsBy(): SleepsBy | undefined {
    return this.#parts.peer.sleepsBy;
  }
  /** Asks whether the other agent lives. If it is gone, that is told as always. */
  probe(): void {
    this.#parts.peer.peerGone();
  }
}
