// Values out of records: decoded straight from where they lie, joined from parts, fetched from beside the lane.
// Longer than most files: each way in which a message may lie ends in one hand-out, which counts, gives room back and opens Ports.
import type { DecoderTable, Encoder } from '../codec/codec.ts';
import { CodecError, LayoutError } from '../errors.ts';
import { KIND_ELSEWHERE, KIND_LATEST, KIND_MASK, KIND_SIDE, MARKER_BYTES } from '../frame/header.ts';
import { Join, type PartJoin } from '../frame/join.ts';
import { INBOX_ITEM_BYTES, SIDE_VALUE_BYTES } from '../limits.ts';
import { type Views, viewsOf } from '../memory/region.ts';
import { EMPTY } from '../outcome.ts';
import { NONE } from '../ring/consumer.ts';
import type { Newest } from '../ring/latest-consumer.ts';
import type { Beside, BesideValue } from './beside.ts';
import { Elsewhere } from './elsewhere.ts';
import { type Delivery, type Failure, Inbox } from './inbox.ts';
import { awaitedIn, type SpilledFrame } from './left-over.ts';
import type { Lending } from './lending.ts';
import type { InboundLuggage } from './luggage.ts';
import type { InboundNotes, RecordSource } from './records.ts';
import { packUp, unpack } from './set-aside.ts';
import { watchUnread } from './unread.ts';

const NO_SIDE_VALUE = 'Cannot decode: the value that belongs here never came through the side channel';
const SIDE_VALUE_UNREADABLE = 'Cannot decode: this thread cannot make the value that came through the side channel';
const LEFT_OVER_LOST = 'Cannot decode: what the peer left over was lost with a thread that its reader has left';
const PORT_UNREADABLE = 'Cannot decode: a Port that came with the value cannot be opened';
const TAKEN_BACK = 'Cannot decode: the message that stood here is gone, and nobody has read it';
const NO_PORTS: readonly unknown[] = [];

/** @param luggage of the reader in whose place this one goes on */
type NewestFrom = (luggage?: Newest) => RecordSource & { readonly luggage: Newest };

export interface InboundParts {
  readonly source: RecordSource;
  readonly notes: InboundNotes;
  readonly beside: Beside;
  readonly decoders: DecoderTable;
  /** Bytes, encoded, of the longest message. */
  readonly messageMax: number;
  /** Where memory of the sender's is found, in which it puts what is too long for slot or ring. */
  readonly lending?: Pick<Lending, 'late' | 'borrowed'> | undefined;
  /** Where a reader goes on when its sender says that only the newest message counts, perhaps in the place of another one. */
  readonly latest?: NewestFrom | undefined;
  /** Puts parts together, where the lane's own way does not do. */
  readonly join?: PartJoin;
  /** What the end has taken along that this lane goes on for. */
  readonly luggage?: InboundLuggage | undefined;
}

export class LaneInbound {
  #source: RecordSource;
  readonly #notes: InboundNotes;
  readonly #beside: Beside;
  readonly #decoders: DecoderTable;
  readonly #inbox: Inbox;
  /** Something has waited in the inbox that has another end. */
  #watched = false;
  readonly #join: PartJoin;
  readonly #messageMax: number = 0;
  readonly #lending: Pick<Lending, 'late' | 'borrowed'> | undefined;
  readonly #latest: NewestFrom | undefined;
  /** Made for the first message that lies there. */
  #elsewhere: Elsewhere | undefined;
  /** Where messages lie since the sender has said that only its newest one counts. */
  #newest: { readonly luggage: Newest } | undefined;
  /** Bytes, encoded, of the message taken out of the lane last. */
  #lastBytes = 0;
  /** Whether it has come by now: what stands at the head of the lane by a marker, and had not come when we looked. */
  #awaited: (() => boolean) | undefined;
  /** `whole` has said that there is a message. */
  #promised = false;
  /** Native ports that came inside the value returned last, until the caller is through. */
  ports: readonly unknown[] = NO_PORTS;
  readonly #forgetPorts = (): void => {
    this.ports = NO_PORTS;
  };

  /** @throws LayoutError for luggage that makes no sense */
  constructor(parts: InboundParts) {
    const { source, notes, beside, decoders, messageMax, lending, latest, join, luggage } = parts;
    this.#source = source;
    this.#notes = notes;
    this.#beside = beside;
    this.#inbox = new Inbox(beside.letGo);
    this.#decoders = decoders;
    this.#messageMax = messageMax;
    this.#lending = lending;
    this.#latest = latest;
    this.#join = join ?? new Join(messageMax);
    if (luggage !== undefined) this.#unpack(luggage);
  }

  /** Whether a call of `tryReceive` may find something: a message, or a part of one. Cheap; looks at the ring anew. */
  get ready(): boolean {
    return this.#inbox.length > 0 || this.#inLane;
  }

  /**
   * Whether `tryReceive` will find a message, and nobody waits for what never comes. Parts of one, and one that is not in the
   * ring and may be late, are taken in on the way. What has not come by then does not count as late any more, also if it may be
   * by now; a peer that takes back what was seen has damaged the lane.
   * @throws LayoutError if the lane is damaged
   */
  get whole(): boolean {
    if (this.#inbox.length > 0) return true;
    this.#promised = this.#inLane && this.#willBeFound;
    return this.#promised;
  }
  get #willBeFound(): boolean {
    const source = this.#source;
    // Where nothing is late the newest is left until somebody asks for it: looked at, it is the newest no more.
    if (this.#latestOnly && !this.#mayBeLate) return true;
    if (source.peek() === NONE) return false;
    const { kind } = source;
    if (this.#join.takes(kind)) return this.#takeIn();
    if (kind === KIND_SIDE || kind === KIND_ELSEWHERE) return !this.#mayBeLate || this.#takeIn();
    return kind !== KIND_LATEST || !this.#becomesLatest() || (this.#inLane && this.#willBeFound);
  }
  get #mayBeLate(): boolean {
    return this.#beside.late || this.#lending?.late === true;
  }

  /** Whether `stash` may find something in the lane. */
  get stashable(): boolean {
    return !this.#latestOnly && this.#inLane;
  }

  get #inLane(): boolean {
    return !this.awaitsSide && this.#source.ready;
  }

  /** Whether what comes next is a value or memory that is still on its way beside the lane. Looks anew. */
  get awaitsSide(): boolean {
    return this.#awaited !== undefined && !this.#awaited();
  }
  /** The same as it was at the last look: nothing that has come behind it may be read before it is. */
  get stopped(): boolean {
    return this.#awaited !== undefined;
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
    const promised = this.#promised;
    this.#promised = false;
    const isAside = this.#inbox.length > 0;
    const value = isAside ? this.#unstash(this.#inbox.shift() as Delivery | Failure) : this.#fromLane(promised);
    if (promised && value === EMPTY) throw this.#takenBack();
    return this.ports === NO_PORTS || value === EMPTY ? value : this.#withPorts(value);
  }

  /** Nothing is there that `whole` has seen: a peer does not do that, but for a newest message that a newer one has replaced. */
  #takenBack(): unknown {
    if (!this.#latestOnly) return new LayoutError(TAKEN_BACK);
    // Its memory is on its way by a thread that has a part in a move since: given up, as who asks is not to wait.
    this.#awaited = undefined;
    this.#source.advance();
    return this.#failure(new CodecError('ERR_DECODE', NO_SIDE_VALUE));
  }

  /** The value with Ports in the places of ends that came in it. They are opened for who asks for the message. */
  #withPorts(value: unknown): unknown {
    // Who is handed it looks at once. Kept until the next message they would never be garbage, and nobody would tell of it.
    queueMicrotask(this.#forgetPorts);
    try {
      const opened = this.#beside.opened(value, this.ports);
      this.ports = opened.ports;
      return opened.value;
    } catch (cause) {
      throw this.#failure(new CodecError('ERR_DECODE', `${PORT_UNREADABLE}: ${String(cause)}`, { cause }));
    }
  }

  /**
   * Takes one message out of the ring into the inbox; false when there is none. One that only counts while it is the newest
   * stays where it is: its sender waits for nobody, and here it would grow old.
   */
  stash(): boolean {
    return !this.#becomesLatest() && !this.#latestOnly && this.#takeIn();
  }
  #takeIn(): boolean {
    let content: Delivery | Failure;
    try {
      const value = this.#fromLane();
      if (value === EMPTY) return false;
      content = { value, ports: this.ports };
    } catch (error) {
      if (error instanceof LayoutError) throw error;
      content = { error };
    }
    this.#keep(content, this.#lastBytes + INBOX_ITEM_BYTES);
    return true;
  }

  /** As `awaitedIn` of left-over.ts. */
  awaitedIn(frames: readonly SpilledFrame[]): (() => boolean) | undefined {
    return awaitedIn(frames, this.#beside);
  }
  /** Takes in what an ended peer left in the side channel, behind everything that was in the ring; `undefined` if it is lost. */
  takeLeftOver(frames: readonly SpilledFrame[] | undefined): void {
    if (frames === undefined) {
      this.#keep({ error: this.#failure(new CodecError('ERR_DECODE', LEFT_OVER_LOST)) }, 0);
      return;
    }
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
      this.#keep(content, payload.length);
    }
  }

  /**
   * This end goes over to another thread: what is to go along. Nothing is read here any more.
   * @param encoder a new one, whose payloads are of kind `kind`
   * @param owed stands before everything else
   */
  leave(encoder: Encoder, kind: number, owed?: Failure): InboundLuggage {
    this.#source.release();
    const unread = this.#inbox.takeAll();
    if (owed !== undefined) unread.unshift({ content: owed, bytes: 0 });
    return {
      taught: this.#decoders.taught?.() ?? new Map(),
      aside: packUp(unread, encoder, kind, this.#beside),
      parts: this.#join.begun,
      latest: this.#newest?.luggage,
    };
  }
  #unpack({ aside, parts, latest }: InboundLuggage): void {
    for (const each of aside) this.#keep(unpack(each, this.#decoders), each.weight);
    if (parts !== undefined) this.#join.resume?.(parts);
    if (latest !== undefined) this.#goLatest(latest);
  }

  /** Nobody will ask any more for what was taken in. */
  letGo(): void {
    this.#inbox.letGo();
  }

  #keep(content: Delivery | Failure, bytes: number): void {
    if (!this.#watched && 'ports' in content && content.ports.length > 0) {
      this.#watched = true;
      watchUnread(this, this.#inbox);
    }
    this.#inbox.push(content, bytes);
  }

  #unstash(content: Delivery | Failure): unknown {
    if ('error' in content) throw content.error;
    this.ports = content.ports;
    return content.value;
  }

  /** @param promised nothing counts as late */
  #fromLane(promised = false): unknown {
    const source = this.#source;
    this.#awaited = undefined;
    for (;;) {
      const offset = source.peek();
      if (offset === NONE) {
        source.release();
        return EMPTY;
      }
      const { kind: tag, length } = source;
      if (this.#join.takes(tag)) {
        try {
          if (this.#addPart(tag, offset, length)) return this.#join.take(this.#decodeJoined);
        } finally {
          // Room for the next part, at once: the sender of a large message waits for it.
          source.release();
        }
        continue;
      }
      if (tag === KIND_SIDE) {
        if (length < MARKER_BYTES) throw shortMarker(length);
        const number = source.views.words[offset >>> 2] as number;
        const where = source.views.words[(offset >>> 2) + 1] as number;
        const found = this.#beside.take(number, where);
        // Where a native port cannot be read at will, or an end has moved, the marker may be quicker than the value: it stays in
        // the lane, and the value's arrival makes us look again.
        if (found === undefined && !promised && this.#beside.late) {
          this.#awaited = () => this.#beside.has(number, where) || !this.#beside.late;
          return EMPTY;
        }
        this.#notes.besideTaken(number + 1);
        this.#leave();
        this.#lastBytes = SIDE_VALUE_BYTES;
        return this.#besides(found);
      }
      const decoder = this.#decoders.get(tag);
      if (decoder === undefined) {
        if (this.#becomesLatest()) return this.#fromLane(promised);
        if (tag === KIND_ELSEWHERE) return this.#fromElsewhere(offset >>> 2, length);
        throw new LayoutError(`Cannot decode: no codec has kind ${tag}`, { kind: tag });
      }
      this.ports = NO_PORTS;
      try {
        return decoder.decode(source.views, offset, length);
      } catch (error) {
        this.#askToRelearn();
        throw this.#failure(error);
      } finally {
        this.#leave();
      }
    }
  }

  /** Takes in the part at hand, and moves past it, also if it does not belong there; whether it was the last. */
  #addPart(tag: number, offset: number, length: number): boolean {
    const source = this.#source;
    try {
      return this.#join.add(tag, source.views, offset, length);
    } finally {
      source.advance();
    }
  }

  /** Whether the record at hand says that from here on only the newest message counts; then it is looked for elsewhere. */
  #becomesLatest(): boolean {
    const source = this.#source;
    if (this.#latest === undefined || this.#latestOnly) return false;
    if (source.peek() === NONE || source.kind !== KIND_LATEST) return false;
    source.advance();
    source.release();
    this.#goLatest();
    return true;
  }
  #goLatest(luggage?: Newest): void {
    if (this.#latest === undefined) return;
    const source = this.#latest(luggage);
    this.#newest = source;
    this.#source = source;
  }
  get #latestOnly(): boolean {
    return this.#newest !== undefined;
  }

  /** A message that is too long for slot or ring: it lies in memory that its sender has made for it. */
  #fromElsewhere(at: number, length: number): unknown {
    this.#elsewhere ??= new Elsewhere((number) => this.#lending?.borrowed(number), this.#messageMax);
    const elsewhere = this.#elsewhere;
    let found = elsewhere.look(this.#source.views.words, at, length);
    if (typeof found === 'number') {
      const number = found;
      if (this.#lending?.late === true) {
        this.#awaited = () => elsewhere.memory(number) !== undefined || this.#lending?.late !== true;
        return EMPTY;
      }
      // What the other side said before it ended, as `late` has seen, is there now.
      found = elsewhere.look(this.#source.views.words, at, length);
      if (typeof found === 'number') throw elsewhere.missing(found);
    }
    const { start, length: total, kind } = elsewhere;
    try {
      return this.#decodeAside(kind, found, total, start);
    } finally {
      this.#leave(elsewhere.hold(found));
      this.#lastBytes = total;
    }
  }

  /**
   * Moves past the record at hand, whose value is out; gives room back when the batch ends or a quarter of it is ours.
   * @param much a quarter of what lies beside the lane is
   */
  #leave(much = false): void {
    const source = this.#source;
    source.advance();
    // Before the other side is told of it.
    this.#taken(source.length);
    if (much || source.caughtUp || source.held * 4 >= source.capacity) {
      this.#elsewhere?.released();
      source.release();
    } else source.tell();
  }

  readonly #decodeJoined = (kind: number, whole: Views, length: number): unknown => {
    this.#taken(length);
    return this.#decodeAside(kind, whole, length);
  };

  /** Decodes a message that lies outside the ring. */
  readonly #decodeAside = (kind: number, whole: Views, length: number, start = 0): unknown => {
    this.ports = NO_PORTS;
    if (kind === KIND_SIDE) {
      if (length < MARKER_BYTES) throw shortMarker(length);
      const at = start >>> 2;
      return this.#besides(this.#beside.take(whole.words[at] as number, whole.words[at + 1] as number));
    }
    const decoder = this.#decoders.get(kind);
    if (decoder === undefined) throw new LayoutError(`Cannot decode: no codec has kind ${kind}`, { kind });
    try {
      return decoder.decode(whole, start, length);
    } catch (error) {
      this.#askToRelearn();
      throw this.#failure(error);
    }
  };

  /** The value that came beside the ring, if it did and could be made. */
  #besides(found: BesideValue | undefined): unknown {
    if (found === undefined) throw this.#failure(new CodecError('ERR_DECODE', NO_SIDE_VALUE));
    const { unreadable } = found;
    if (unreadable !== undefined) {
      const why = 'cause' in unreadable ? SIDE_VALUE_UNREADABLE : NO_SIDE_VALUE;
      throw this.#failure(new CodecError('ERR_DECODE', why, unreadable));
    }
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
    const views = viewsOf(new ArrayBuffer((length + 7) & -8), true);
    // Memory that is shared may grow while we look.
    views.bytes.set(payload.subarray(0, length));
    return this.#decodeAside(kind, views, length);
  }

  /**
   * What the failed payload taught is lost, and later ones may need it. Asked for at every failure, also while an answer
   * is on its way: that could be the one which failed.
   */
  #askToRelearn(): void {
    this.#notes.askToRelearn();
  }

  #failure(error: unknown): unknown {
    if (error instanceof CodecError) this.#notes.undecodable();
    return error;
  }

  #taken(bytes: number): void {
    this.#lastBytes = bytes;
    this.#notes.received();
  }
}

function shortMarker(length: number): LayoutError {
  return new LayoutError(`Cannot decode: the marker of a value in the side channel has ${length} bytes`, { length });
}
