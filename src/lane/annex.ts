// Room beside a ring for its larger messages: shared memory of the sender's, made for the first of them, which a record in the ring
// names. A ring that holds three messages makes its two sides wake each other for each; one that holds fifty is walked through by
// small messages, too, and never warm. And what is longer than a record may be needs no parts here, each copied twice
// (docs/decisions/0030-large-messages-lie-in-an-annex.md).
//
// The ring stays the way of a message that finds room in it: one that comes alone is 10 % quicker there. As soon as one has found none,
// those that follow go here, until the reader has caught up.
//
// A1. From the commit of its record until the reader has taken that over (SYNC taken, SYNC room-visible of ring/producer.ts), the
//     bytes of a message are not written. The positions of the ring are all that says so: the annex has no words of its own.
// A2. Messages lie in the order of their records, each in one piece. When all are taken, the next one begins at the start: while the
//     reader keeps up, the room in use is small and warm.
import { ELSEWHERE_BYTES, KIND_ELSEWHERE } from '../frame/header.ts';
import { ANNEX_BYTES, ANNEX_MESSAGE_MIN, ANNEX_RING_MIN } from '../limits.ts';
import { type Views, viewsOf } from '../memory/region.ts';
import { FULL } from '../ring/producer.ts';
import { Fifo } from './fifo.ts';
import type { Lending } from './lending.ts';
import type { AnnexLuggage } from './luggage.ts';
import type { RecordSink } from './records.ts';

/** Messages start at multiples of a cache line. */
const ALIGN = 64;

interface Lodger {
  /** The reader is done with it when it has passed this position of the ring. */
  readonly position: number;
  /** The room behind it. */
  readonly end: number;
}

/** What an annex needs of its lane's ring. */
export type AnnexSink = Pick<
  RecordSink,
  'views' | 'tryClaim' | 'claimable' | 'commit' | 'abort' | 'publish' | 'position' | 'releasedUpTo' | 'lookAtHead'
>;

export class Annex {
  readonly #sink: AnnexSink;
  readonly #lending: Pick<Lending, 'lend' | 'held'>;
  #views: Views | undefined;
  /** There is no memory for it. */
  #refused = false;
  readonly #lodgers = new Fifo<Lodger>();
  /** Messages lie from `#from` to `#to`; if that is not behind it, to the end and on from the start. */
  #from = 0;
  #to = 0;
  /** Where the room begins that was found last, and how much it is. */
  #found = 0;
  #room = 0;
  /** Where the record of the open claim stands in the ring. */
  #record = 0;
  /** Bytes of messages that may lie here unpublished. */
  #unpublished = 0;

  constructor(sink: AnnexSink, lending: Pick<Lending, 'lend' | 'held'>) {
    this.#sink = sink;
    this.#lending = lending;
  }

  /** What goes along when this end goes over to another thread; undefined while there is no memory. */
  get luggage(): AnnexLuggage | undefined {
    if (this.#views === undefined) return undefined;
    const { position } = this.#sink;
    return {
      memory: this.#views.bytes.buffer as SharedArrayBuffer,
      from: this.#from,
      to: this.#to,
      // Positions count from where each sink began.
      lodgers: this.#lodgers.all().map((lodger) => [position - lodger.position, lodger.end]),
    };
  }
  /** The reader has the memory already. */
  resume({ memory, from, to, lodgers }: AnnexLuggage): void {
    this.#views = viewsOf(memory);
    this.#from = from;
    this.#to = to;
    const { position } = this.#sink;
    for (const [behind, end] of lodgers) this.#lodgers.push({ position: position - behind, end });
  }

  /** Whether a message of so many bytes may lie here. */
  suits(bytes: number): boolean {
    return bytes >= ANNEX_MESSAGE_MIN && bytes <= ANNEX_BYTES / 2;
  }
  /** The same, where there is memory. Makes it for the first that suits. */
  takes(bytes: number): boolean {
    return this.suits(bytes) && this.open();
  }
  /** Whether messages lie here that the reader has not taken. @throws LayoutError */
  get busy(): boolean {
    if (this.#lodgers.length > 0) this.#reclaim();
    return this.#lodgers.length > 0;
  }

  /** Makes the memory, once; whether there is any that the reader has by now. */
  open(): boolean {
    if (this.#views === undefined && !this.#refused) {
      this.#views = this.#lending.lend(ANNEX_BYTES, 0, 0);
      this.#refused = this.#views === undefined;
    }
    return !this.#refused && this.#lending.held;
  }

  get views(): Views {
    return this.#views as Views;
  }
  /** Bytes in one piece from where the last claim begins. */
  get claimed(): number {
    return this.#room;
  }

  /** Whether `claim` would succeed. If not, what the reader gives back from now on is progress. @throws LayoutError */
  fits(bytes: number): boolean {
    if (this.#look(bytes)) return true;
    // First what was given back up to here is of no more use, then it is made use of: in this order nothing is missed.
    this.#sink.lookAtHead();
    if (this.#look(bytes)) return true;
    // A reader that sees nothing makes no room.
    this.#sink.publish();
    return false;
  }

  /**
   * Claims at least `bytes` in one piece, and the record that will name them. Where they begin, or FULL; `claimed` tells how many.
   * One claim may be open; the ring's belongs to it.
   * @throws LayoutError
   */
  claim(bytes: number): number {
    if (!this.fits(bytes)) return FULL;
    this.#record = this.#sink.tryClaim(ELSEWHERE_BYTES);
    return this.#record === FULL ? FULL : this.#found;
  }

  /** Makes `length` bytes of the claim at `offset` a message of kind `kind`. */
  commit(offset: number, length: number, kind: number): void {
    const sink = this.#sink;
    const { words } = sink.views;
    const at = this.#record >>> 2;
    words[at] = length;
    words[at + 1] = kind;
    words[at + 2] = 0;
    words[at + 3] = offset;
    sink.commit(ELSEWHERE_BYTES, KIND_ELSEWHERE);
    this.#to = offset + ((length + ALIGN - 1) & -ALIGN);
    this.#lodgers.push({ position: sink.position, end: this.#to });
    // Inside cork its record alone would never be a quarter of the ring.
    this.#unpublished += length;
    if (this.#unpublished * 4 < this.views.bytes.length) return;
    this.#unpublished = 0;
    sink.publish();
  }

  abort(): void {
    this.#sink.abort();
  }

  /** Copies in a message that is encoded already; false: no room. @throws LayoutError */
  put(kind: number, bytes: Uint8Array): boolean {
    const offset = this.claim(bytes.length);
    if (offset === FULL) return false;
    this.views.blocks.copyIn(bytes, offset);
    this.commit(offset, bytes.length, kind);
    return true;
  }

  #look(bytes: number): boolean {
    this.#reclaim();
    return this.#find(bytes) && this.#sink.claimable(ELSEWHERE_BYTES) >= ELSEWHERE_BYTES;
  }

  /** Finds `bytes` in one piece. */
  #find(bytes: number): boolean {
    const size = this.views.bytes.length;
    const wrapped = this.#lodgers.length > 0 && this.#to <= this.#from;
    const behind = (wrapped ? this.#from : size) - this.#to;
    const atEnd = behind >= bytes;
    this.#found = atEnd ? this.#to : 0;
    this.#room = atEnd ? behind : wrapped ? 0 : this.#from;
    return this.#room >= bytes;
  }

  /** Frees what was taken. */
  #reclaim(): void {
    for (let first = this.#lodgers.first; first !== undefined; first = this.#lodgers.first) {
      if (!this.#sink.releasedUpTo(first.position)) return;
      this.#from = first.end;
      this.#lodgers.shift();
    }
    this.#from = 0;
    this.#to = 0;
  }
}

/** The annex of a lane whose reader can be handed memory; none for a small ring: who chose that has chosen little memory. */
export function annexOf(
  sink: AnnexSink & Pick<RecordSink, 'capacity'>,
  lending: Pick<Lending, 'lend' | 'held'> | undefined,
): Annex | undefined {
  return lending === undefined || sink.capacity < ANNEX_RING_MIN ? undefined : new Annex(sink, lending);
}
