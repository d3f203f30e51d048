// Waiting with the thread at one end of a region: for something to read, or for room.
import { TimeoutError, UsageError } from '../../errors.ts';
import type { LaneInbound } from '../../lane/inbound.ts';
import type { BlockingWait } from '../../wait/block.ts';
import { ANYTHING, DATA, INTERRUPT, SPACE } from '../../wait/signal.ts';
import type { Blocking, Interrupts } from '../transport.ts';
import type { Damage } from './damage.ts';
import type { Awaited } from './interests.ts';
import type { Jam } from './jam.ts';
import type { Life } from './life.ts';
import type { Reading } from './reading.ts';
import type { SendingLane, Writing } from './writing.ts';

export interface RingBlockingParts {
  readonly wait: BlockingWait;
  readonly awaited: Awaited;
  readonly jam: Jam;
  readonly lanes: { readonly out: SendingLane; readonly in: LaneInbound };
  readonly writing: Writing;
  readonly reading: Reading;
  readonly life: Pick<Life, 'over'>;
  readonly damage: Damage;
  readonly interrupts: Interrupts;
  /** As Beside.atWill: what is on its way comes between two slices of the sleep. */
  readonly atWill: boolean;
  /** Whether a thread has the other end. */
  readonly attached: () => boolean;
  /** Milliseconds that a blocked call waits for the other end to be opened; Infinity where that may take any time. */
  readonly startTimeoutMs: number;
  /** Milliseconds that a blocked sender waits for a batch of room before it takes any. */
  readonly roomPatienceMs: number;
  /** Bytes that are set aside while this thread is blocked in `send`. */
  readonly inboxLimit: number;
}

export class RingBlocking implements Blocking {
  readonly #parts: RingBlockingParts;
  readonly #readable = (): boolean => this.#parts.reading.ready;

  constructor(parts: RingBlockingParts) {
    this.#parts = parts;
  }

  get awaitsEventLoop(): boolean {
    const { reading, atWill } = this.#parts;
    return !atWill && reading.awaitsSide;
  }

  readable(timeoutMs: number, interruptible: boolean): boolean {
    const { lanes, writing, interrupts } = this.#parts;
    // Inside cork too: the answer may be to what the peer cannot see yet.
    lanes.out.sink.publish();
    const moves = lanes.out.backlog > 0;
    if (!moves && !interruptible) return this.#wait(DATA, this.#readable, timeoutMs);
    const look = (): boolean => {
      if (moves) {
        // What waits in the outbox goes on while this thread is blocked.
        writing.pump();
        // Also inside cork: nobody would make room for the rest.
        lanes.out.sink.publish();
      }
      return this.#readable() || (interruptible && interrupts.word !== 0);
    };
    return this.#wait((moves ? ANYTHING : DATA) | (interruptible ? INTERRUPT : 0), look, timeoutMs);
  }

  progress(done: () => boolean, timeoutMs: number): boolean {
    try {
      return this.#progress(done, timeoutMs);
    } finally {
      this.#parts.jam.leave();
    }
  }

  #progress(done: () => boolean, timeoutMs: number): boolean {
    const { lanes, writing, life, damage, jam, awaited } = this.#parts;
    const start = performance.now();
    const tried = (): boolean => {
      writing.look();
      const yes = done();
      // What it moved in, also inside cork: nobody would make room for the rest.
      lanes.out.sink.publish();
      return yes;
    };
    const stashable = (): boolean => lanes.in.stashable;
    // While traffic flows, room comes a quarter of the ring at once; a wake-up for every message would cost more than the
    // messages. But the peer may take one and then wait for us: after a while any room will do.
    let patient = true;
    while (!tried()) {
      // Two threads that send to each other would wait for ever if neither took in what the other has sent.
      const roomAside = this.#stash();
      // Who has a time limit goes on at the end of it, and takes in what is there then.
      const jams = !roomAside && timeoutMs === Number.POSITIVE_INFINITY;
      const next = jams ? jam.next() : 'sleep';
      if (next === 'again') continue;
      if (next === 'jammed') throw deadlock();
      const batches = patient;
      const look = (): boolean => {
        const room = batches ? lanes.out.progressed : tried();
        return room || life.over || (roomAside ? damage.looked(stashable) : jams && jam.news);
      };
      const left = timeoutMs - (performance.now() - start);
      if (left <= 0) return tried();
      const interest = (roomAside ? ANYTHING : SPACE) | (batches ? 0 : awaited.interest(lanes.out.untaken));
      const slice = batches ? Math.min(left, this.#parts.roomPatienceMs) : left;
      if (this.#wait(interest, look, slice)) {
        if (life.over) return tried();
      } else if (slice < left) patient = false;
      else return tried();
    }
    return true;
  }

  /** Sets aside what has arrived; whether there is room for more of it. */
  #stash(): boolean {
    const { lanes, damage, inboxLimit } = this.#parts;
    try {
      while (lanes.in.stashedBytes < inboxLimit) if (!lanes.in.stash()) return true;
      return false;
    } catch (error) {
      throw damage.judged(error);
    }
  }

  /**
   * Blocks; as BlockingWait does it.
   * @throws TimeoutError if the other end has not been opened in time
   */
  #wait(interest: number, look: () => boolean, timeoutMs: number): boolean {
    const { wait, attached, awaited, startTimeoutMs: startMs } = this.#parts;
    awaited.disturbed?.();
    if (timeoutMs <= startMs || attached()) return wait.wait(interest, look, timeoutMs);
    if (wait.wait(interest, look, startMs)) return true;
    if (attached()) return wait.wait(interest, look, timeoutMs - startMs);
    throw notOpened(startMs);
  }
}

/** The worker has not opened its end in that time. */
export function notOpened(startMs: number): TimeoutError {
  return new TimeoutError(
    `Cannot wait any longer: the worker has not opened its end of the channel in ${startMs} ms; see whether its module loads at all (\`await port.ready\` tells), call parentPort() in it before anything that takes long, or raise startTimeoutMs`,
    { timeoutMs: startMs },
  );
}

function deadlock(): UsageError {
  return new UsageError(
    'ERR_DEADLOCK',
    'Cannot send: both sides are blocked in send(), and each has set aside as much as it may of what the other sent; receive first, then send again',
  );
}
