// Waiting with the thread at one end of a channel, where the medium can wait for what comes. What comes is taken in for all channels of the connection;
// what waits in the outbox of this one goes on.
import { UsageError } from '../../errors.ts';
import type { Outbound } from '../../lane/lane.ts';
import type { LaneOutbound } from '../../lane/outbound.ts';
import { INBOX_BYTES_DEFAULT } from '../../limits.ts';
import type { Blocking, Interrupts } from '../transport.ts';
import type { StreamChannel } from './channel.ts';
import type { StreamConnection } from './connection.ts';
import type { Reading } from './reading.ts';

export interface StreamBlockingParts {
  readonly lane: LaneOutbound;
  readonly out: Outbound;
  readonly reading: Reading;
  readonly interrupts: Interrupts;
}

export class StreamBlocking implements Blocking {
  readonly #connection: StreamConnection;
  readonly #channel: StreamChannel;
  readonly #parts: StreamBlockingParts;

  constructor(connection: StreamConnection, channel: StreamChannel, parts: StreamBlockingParts) {
    this.#connection = connection;
    this.#channel = channel;
    this.#parts = parts;
  }

  /** What stands beside the stream comes to an event loop only. */
  get awaitsEventLoop(): boolean {
    return this.#parts.reading.awaitsSide;
  }

  readable(timeoutMs: number, interruptible: boolean): boolean {
    const { reading, interrupts } = this.#parts;
    return this.#until(() => {
      this.#moveOut();
      if (reading.ready || (interruptible && interrupts.word !== 0)) return true;
      // Who waits for ever would not know.
      return timeoutMs === Number.POSITIVE_INFINITY && this.awaitsEventLoop;
    }, timeoutMs);
  }

  progress(done: () => boolean, timeoutMs: number): boolean {
    const { lane, reading } = this.#parts;
    let yes = false;
    this.#until(() => {
      yes = done();
      // Also inside cork: nobody would make room for the rest.
      lane.sink.publish();
      if (yes || this.#channel.ended !== undefined) return true;
      // Two that send to each other would wait for ever if neither took in what the other has sent.
      while (reading.stashedBytes < INBOX_BYTES_DEFAULT) if (!reading.stash()) return false;
      // Who has a time limit goes on at the end of it, and takes in what is there then.
      if (timeoutMs === Number.POSITIVE_INFINITY) throw deadlock();
      return false;
    }, timeoutMs);
    return yes;
  }

  /** What waits in the outbox goes on while this thread is blocked. */
  #moveOut(): void {
    const { lane, out } = this.#parts;
    if (lane.backlog > 0 && this.#channel.ended === undefined) out.pump();
    // Inside cork too: the answer may be to what the peer cannot see yet.
    lane.sink.publish();
  }

  #until(look: () => boolean, timeoutMs: number): boolean {
    const untilMs = performance.now() + timeoutMs;
    while (!look()) {
      const left = untilMs - performance.now();
      // Nothing comes any more, or not in time: something may have changed on the way there.
      if (left <= 0 || !this.#connection.receiveSync(left)) return look();
    }
    return true;
  }
}

function deadlock(): UsageError {
  return new UsageError(
    'ERR_DEADLOCK',
    `Cannot send: there is no room, and this side has set aside ${INBOX_BYTES_DEFAULT} bytes of what the other one sent meanwhile; receive first, then send again`,
  );
}
