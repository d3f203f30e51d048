// The lane of a pipe, in: what a LaneInbound makes of its records. A reader of a pipe may be one of several that take turns,
// and its memory may be damaged: this one goes on behind what another one has read, and where the ring is whole again.
import type { Decoder, DecoderTable } from '../../codec/codec.ts';
import { json } from '../../codec/json.ts';
import { PackedDecoder } from '../../codec/packed.ts';
import { CodecError, LayoutError } from '../../errors.ts';
import { KIND_JSON, KIND_PACKED } from '../../frame/header.ts';
import type { Beside } from '../../lane/beside.ts';
import { LaneInbound } from '../../lane/inbound.ts';
import type { InboundNotes } from '../../lane/records.ts';
import { MESSAGE_BYTES_MAX } from '../../limits.ts';
import { TAIL } from '../../memory/layout.ts';
import { EMPTY } from '../../outcome.ts';
import type { Bell } from '../../ring/producer.ts';
import type { PipeMemory } from './layout.ts';
import { LongMessage } from './long-message.ts';
import { PipeSource } from './pipe-source.ts';
import { ShapeLogReader } from './shape-log.ts';

/** Nobody counts here, and what a payload taught stands in the log. */
const NO_NOTES: InboundNotes = { askToRelearn() {}, besideTaken() {}, received() {}, undecodable() {} };

export class PipeInbound {
  readonly #memory: PipeMemory;
  /** Rung for a writer that waits for room, when the ring is empty and at every quarter of it. */
  readonly #bell: Bell;
  readonly #beside: Beside;
  readonly #decoders: DecoderTable;
  readonly #join = new LongMessage();
  #source!: PipeSource;
  #lane!: LaneInbound;
  /** A TAIL that makes no sense, and was reported. The writer's next publication mends it. */
  #badTail: number | null = null;

  constructor(memory: PipeMemory, bell: Bell, beside: Beside) {
    this.#memory = memory;
    this.#bell = bell;
    this.#beside = beside;
    this.#decoders = decodersOf(memory);
    this.#begin();
  }

  /** Whether there is anything: a message, a part of one, or a place. @throws LayoutError once, as `take` */
  get ready(): boolean {
    try {
      this.#catchUp();
      return this.#lane.ready;
    } catch (error) {
      this.#recover(error);
      return false;
    }
  }
  /** Whether the first parts of a message are here and the rest must come. */
  get midway(): boolean {
    return this.#join.open;
  }
  /** The rest will not come: whoever wrote the first parts is gone, and the message was never sent. */
  breakOff(): void {
    this.#join.drop();
  }

  /**
   * The next message, or `EMPTY`. Never waits.
   * @throws CodecError, LayoutError: what cannot be read is thrown once, in its turn; what comes behind it can be read
   */
  take(): unknown {
    try {
      this.#catchUp();
      let value = this.#lane.tryReceive();
      // What belongs to a place may not be had; that does not hold up what comes behind it.
      while (value === EMPTY && this.#lane.ready) value = this.#lane.tryReceive();
      return value;
    } catch (error) {
      this.#recover(error);
      return EMPTY;
    }
  }

  #begin(): void {
    const source = new PipeSource(this.#memory, this.#bell);
    this.#source = source;
    this.#lane = new LaneInbound({
      source,
      notes: NO_NOTES,
      beside: this.#beside,
      decoders: this.#decoders,
      messageMax: MESSAGE_BYTES_MAX,
      join: this.#join,
    });
  }

  /** Goes on behind what another reader has taken from this pipe: two that take turns may do so. */
  #catchUp(): void {
    const head = this.#source.headNow;
    if (head !== this.#source.head) this.#follow(head);
  }
  #follow(head: number): void {
    const source = this.#source;
    const further = (head & 7) === 0 && ((head - source.head) | 0) > 0;
    if (further && this.#ahead(head) <= source.capacity) {
      this.#join.drop();
      this.#begin();
    } else source.mend(source.head);
  }
  /** Bytes from `head` to TAIL; more than there can be if one of them makes no sense. */
  #ahead(head: number): number {
    const tail = this.#tail;
    return (tail & 7) !== 0 ? Number.POSITIVE_INFINITY : (tail - head) >>> 0;
  }
  get #tail(): number {
    const { words, block } = this.#memory.lane;
    return Atomics.load(words, block + TAIL);
  }

  /**
   * What is damaged beyond one message: goes on where the ring is whole again. Where records end cannot be known behind one
   * whose header is damaged, so that is TAIL.
   * @throws what was thrown, unless that was a TAIL without sense which was reported before
   */
  #recover(error: unknown): void {
    if (!(error instanceof LayoutError)) throw error;
    const source = this.#source;
    const tail = this.#tail;
    if (this.#ahead(source.headNow) > source.capacity) {
      if (tail === this.#badTail) return;
      this.#badTail = tail;
      throw error;
    }
    source.mend(tail);
    this.#join.lose();
    this.#begin();
    this.#bell.ring();
    throw error;
  }
}

function decodersOf({ views, log }: PipeMemory): DecoderTable {
  const text = json.createDecoder();
  const decoder = new PackedDecoder({ knownTexts: 0 });
  const reader = new ShapeLogReader(views, log, decoder);
  const packed: Decoder = {
    decode(memory, offset, length) {
      // What a payload needs that others taught stands in the log.
      reader.catchUp();
      return decoder.decode(memory, offset, length);
    },
  };
  return {
    get(kind) {
      if (kind === KIND_PACKED) return packed;
      return kind === KIND_JSON ? text : { decode: () => damaged(kind) };
    },
  };
}

/** The record is lost, and no other. */
function damaged(kind: number): never {
  throw new CodecError('ERR_DECODE', `Cannot read a message of kind ${kind}`);
}
