// Values out of a ring: decoded straight from the record, joined from parts, fetched from the side channel.
import { platform } from '#platform';
import type { DecoderTable } from '../codec/codec.ts';
import { CodecError, LayoutError } from '../errors.ts';
import {
  ELSEWHERE_BYTES,
  KIND_ELSEWHERE,
  KIND_LATEST,
  KIND_MASK,
  KIND_SIDE,
  MARKER_BYTES,
  MORE,
} from '../frame/header.ts';
import { Join } from '../frame/join.ts';
import { INBOX_ITEM_BYTES, SIDE_VALUE_BYTES } from '../limits.ts';
import { BAD, RECEIVED, SIDE_TAKEN } from '../memory/layout.ts';
import { type LaneMemory, type Views, viewsOf } from '../memory/region.ts';
import { EMPTY } from '../outcome.ts';
import { type Consumer, NONE } from '../ring/consumer.ts';
import { type Delivery, type Failure, Inbox } from './inbox.ts';
import type { SideChannel, SideValue, SpilledFrame } from './side-channel.ts';

const NO_SIDE_VALUE = 'Cannot decode: the value that belongs here never came through the side channel';
const SIDE_VALUE_UNREADABLE = 'Cannot decode: this thread cannot make the value that came through the side channel';
const NO_PORTS: readonly unknown[] = [];

/** Where records come from: a ring, or the slots that hold only the newest one. */
export type RecordSource = Pick<
  Consumer,
  'capacity' | 'length' | 'kind' | 'ready' | 'caughtUp' | 'held' | 'peek' | 'advance' | 'tell' | 'release'
>;

export class RingInbound {
  readonly #views: Views;
  readonly #lane: LaneMemory;
  #consumer: RecordSource;
  readonly #decoders: DecoderTable;
  readonly #side: SideChannel;
  readonly #relearn: number;
  readonly #inbox = new Inbox();
  readonly #join: Join;
  readonly #messageMax: number;
  readonly #latest: (() => RecordSource) | undefined;
  /** The sender has said that only its newest message counts. */
  #latestOnly = false;
  /** Bytes, encoded, of the message taken out of the ring last. */
  #lastBytes = 0;
  /** Whether it has come by now: what stands at the head of the lane by a marker, and had not come when we looked. */
  #awaited: (() => boolean) | undefined;
  /** Native ports that came inside the value returned last. */
  ports: readonly unknown[] = NO_PORTS;

  /**
   * @param relearn word index of this side's RELEARN
   * @param latest what to go on reading from when the sender says that only its newest message counts
   */
  constructor(
    views: Views,
    lane: LaneMemory,
    consumer: Consumer,
    decoders: DecoderTable,
    side: SideChannel,
    messageMax: number,
    relearn: number,
    latest?: () => RecordSource,
  ) {
    this.#relearn = relearn;
    this.#views = views;
    this.#lane = lane;
    this.#consumer = consumer;
    this.#latest = latest;
    this.#decoders = decoders;
    this.#side = side;
    this.#join = new Join(messageMax);
    this.#messageMax = messageMax;
  }

  /** Whether a call of `tryReceive` may find something: a message, or a part of one. Cheap; looks at the ring anew. */
  get ready(): boolean {
    return this.#inbox.length > 0 || this.#inLane;
  }

  /** Whether `stash` may find something in the ring. */
  get stashable(): boolean {
    return !this.#latestOnly && this.#inLane;
  }

  get #inLane(): boolean {
    return !this.awaitsSide && this.#consumer.ready;
  }

  /**
   * Whether what comes next in the ring is a value that is still on its way beside it, and only the event loop can
   * take it in. Always false where the platform can take from a native port.
   */
  get awaitsSide(): boolean {
    return this.#awaited !== undefined && !this.#awaited();
  }

  /** Bytes set aside in the inbox. */
  get stashedBytes(): number {
    return this.#inbox.bytes;
  }

  /**
   * Returns the next message, or `EMPTY`. Never waits.
   * @throws CodecError for a message that cannot be decoded; the next call goes on behind it
   * @throws LayoutError if the ring is damaged; it cannot go on
   */
  tryReceive(): unknown {
    if (this.#inbox.length > 0) return this.#unstash(this.#inbox.shift() as Delivery | Failure);
    return this.#fromRing();
  }

  /**
   * Takes one message out of the ring into the inbox; false when there is none. One that only counts while it is the newest
   * stays where it is: its sender waits for nobody, and here it would grow old.
   */
  stash(): boolean {
    let content: Delivery | Failure;
    try {
      if (this.#becomesLatest() || this.#latestOnly) return false;
      const value = this.#fromRing();
      if (value === EMPTY) return false;
      content = { value, ports: this.ports };
    } catch (error) {
      if (error instanceof LayoutError) throw error;
      content = { error };
    }
    this.#inbox.push(content, this.#lastBytes + INBOX_ITEM_BYTES);
    return true;
  }

  /** Takes in what an ended peer left in the side channel, behind everything that was in the ring. */
  takeLeftOver(frames: readonly SpilledFrame[]): void {
    for (const [tag, payload] of frames) {
      let content: Delivery | Failure;
      try {
        let value: unknown;
        if (!this.#join.open) value = this.#decodeCopy(tag & KIND_MASK, payload);
        else if (this.#join.add(tag, viewsOf(payload.buffer), payload.byteOffset, payload.length))
          value = this.#join.take(this.#decodeJoined);
        else continue;
        content = { value, ports: this.ports };
      } catch (error) {
        if (error instanceof LayoutError) throw error;
        content = { error };
      }
      this.#inbox.push(content, payload.length);
    }
  }

  #unstash(content: Delivery | Failure): unknown {
    if ('error' in content) throw content.error;
    this.ports = content.ports;
    return content.value;
  }

  #fromRing(): unknown {
    const consumer = this.#consumer;
    for (;;) {
      const offset = consumer.peek();
      if (offset === NONE) {
        consumer.release();
        return EMPTY;
      }
      const { kind: tag, length } = consumer;
      if ((tag & MORE) !== 0 || this.#join.open) {
        const complete = this.#join.add(tag, this.#views, offset, length);
        consumer.advance();
        try {
          if (complete) return this.#join.take(this.#decodeJoined);
        } finally {
          consumer.tell();
          // Room for the next part, at once: the sender of a large message waits for it.
          consumer.release();
        }
        continue;
      }
      if (tag === KIND_SIDE) {
        if (length < MARKER_BYTES) throw shortMarker(length);
        const number = this.#views.words[offset >>> 2] as number;
        const found = this.#side.take(number);
        // Where the port cannot be read at will the marker may be quicker than the value: it stays in the ring, and
        // the value's arrival makes us look again.
        this.#awaited = found === undefined && !platform.canTake ? () => this.#side.has(number) : undefined;
        if (this.#awaited !== undefined) return EMPTY;
        // SYNC side-taken: one value fewer on its way; pairs with SideSender.full.
        Atomics.store(this.#lane.words, this.#lane.block + SIDE_TAKEN, number + 1);
        this.#leave();
        this.#lastBytes = SIDE_VALUE_BYTES;
        return this.#besides(found);
      }
      const decoder = this.#decoders.get(tag);
      if (decoder === undefined) {
        if (this.#becomesLatest()) return this.#fromRing();
        if (tag === KIND_ELSEWHERE && this.#latestOnly) return this.#fromElsewhere(offset >>> 2, length);
        throw new LayoutError(`Cannot decode: no codec has kind ${tag}`, { kind: tag });
      }
      this.ports = NO_PORTS;
      try {
        return decoder.decode(this.#views, offset, length);
      } catch (error) {
        this.#askToRelearn();
        throw this.#failure(error);
      } finally {
        this.#leave();
      }
    }
  }

  /** Whether the record at hand says that from here on only the newest message counts; then it is looked for elsewhere. */
  #becomesLatest(): boolean {
    const consumer = this.#consumer;
    if (this.#latest === undefined || this.#latestOnly) return false;
    if (consumer.peek() === NONE || consumer.kind !== KIND_LATEST) return false;
    consumer.advance();
    consumer.tell();
    consumer.release();
    this.#latestOnly = true;
    this.#consumer = this.#latest();
    return true;
  }

  /** The newest message when it is longer than a slot: it lies in memory that its sender has made for it. */
  #fromElsewhere(at: number, length: number): unknown {
    const { words } = this.#views;
    const total = words[at] as number;
    const kind = words[at + 1] as number;
    const number = words[at + 2] as number;
    const memory = this.#side.shared(number);
    this.#awaited =
      memory === undefined && !platform.canTake ? () => this.#side.shared(number) !== undefined : undefined;
    if (this.#awaited !== undefined) return EMPTY;
    if (
      length < ELSEWHERE_BYTES ||
      memory === undefined ||
      total >>> 0 > Math.min(memory.bytes.length, this.#messageMax)
    ) {
      throw new LayoutError(`Cannot decode: ${total} bytes should lie in memory ${number}, which does not hold them`);
    }
    try {
      return this.#decodeAside(kind, memory, total);
    } finally {
      this.#leave();
      this.#lastBytes = total;
    }
  }

  /** Moves past the record at hand, whose value is out; gives room back when the batch ends or a quarter of the ring is ours. */
  #leave(): void {
    const consumer = this.#consumer;
    consumer.advance();
    consumer.tell();
    if (consumer.caughtUp || consumer.held * 4 >= consumer.capacity) consumer.release();
    this.#taken(consumer.length);
  }

  readonly #decodeJoined = (kind: number, whole: Views, length: number): unknown => {
    this.#taken(length);
    return this.#decodeAside(kind, whole, length);
  };

  /** Decodes a message that lies in memory of our own. */
  readonly #decodeAside = (kind: number, whole: Views, length: number): unknown => {
    this.ports = NO_PORTS;
    if (kind === KIND_SIDE) {
      if (length < MARKER_BYTES) throw shortMarker(length);
      return this.#besides(this.#side.take(whole.words[0] as number));
    }
    const decoder = this.#decoders.get(kind);
    if (decoder === undefined) throw new LayoutError(`Cannot decode: no codec has kind ${kind}`, { kind });
    try {
      return decoder.decode(whole, 0, length);
    } catch (error) {
      this.#askToRelearn();
      throw this.#failure(error);
    }
  };

  /** The value that came beside the ring, if it did and could be made. */
  #besides(found: SideValue | undefined): unknown {
    if (found === undefined) throw this.#failure(new CodecError('ERR_DECODE', NO_SIDE_VALUE));
    const { unreadable } = found;
    if (unreadable !== undefined) throw this.#failure(new CodecError('ERR_DECODE', SIDE_VALUE_UNREADABLE, unreadable));
    this.ports = found.ports;
    return found.value;
  }

  /** Decodes a message that stands anywhere in a buffer: first it must start where codecs expect it. */
  #decodeCopy(kind: number, payload: Uint8Array): unknown {
    const { length } = payload;
    if (length > this.#messageMax) {
      throw new LayoutError(
        `Cannot decode: ${length} bytes were left over, and the channel takes ${this.#messageMax}`,
        {
          length,
          limit: this.#messageMax,
        },
      );
    }
    this.#taken(length);
    const views = viewsOf(new ArrayBuffer((length + 7) & -8));
    // Memory that is shared may grow while we look.
    views.bytes.set(payload.subarray(0, length));
    return this.#decodeAside(kind, views, length);
  }

  /**
   * What the failed payload taught is lost, and later ones may need it. Asked for at every failure, also while an answer
   * is on its way: that could be the one which failed.
   */
  #askToRelearn(): void {
    // SYNC relearn: pairs with RingOutbound.heed, which encodes nothing more that needs what came before.
    Atomics.add(this.#lane.words, this.#relearn, 1);
  }

  #failure(error: unknown): unknown {
    if (error instanceof CodecError) {
      this.#lane.words[this.#lane.block + BAD] = (this.#lane.words[this.#lane.block + BAD] as number) + 1;
    }
    return error;
  }

  #taken(bytes: number): void {
    this.#lastBytes = bytes;
    const at = this.#lane.block + RECEIVED;
    this.#lane.words[at] = (this.#lane.words[at] as number) + 1;
  }
}

function shortMarker(length: number): LayoutError {
  return new LayoutError(`Cannot decode: the marker of a value in the side channel has ${length} bytes`, { length });
}
