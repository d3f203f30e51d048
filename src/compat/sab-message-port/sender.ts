// The writing half of a pipe: messages into the ring, at once when there is room, through the queue when there is not.
//
//     postMessage -> packed into a claim of the ring ------------------------------------> commit
//                 -> what JSON would change: JSON text -> a record, or parts of it ------> commit
//                 -> no room: packed aside, or JSON text -> queue -> pump, when there is -> commit
//
// JSON decides what arrives. A value that comes out of JSON as it went in travels packed, which takes about half the
// time; every other value travels as its JSON text.
import { NO_ROOM, REFUSED } from '../../codec/codec.ts';
import { HEADER_RESET, HEADER_TRAILER } from '../../codec/packed-format.ts';
import { KIND_JSON, KIND_PACKED, KIND_SIDE, MARKER_BYTES } from '../../frame/header.ts';
import { writeParts } from '../../lane/parts.ts';
import { HEAD, TAIL } from '../../memory/layout.ts';
import type { LaneMemory, Views } from '../../memory/region.ts';
import { Scratch } from '../../memory/scratch.ts';
import { type Settleable, settleable } from '../../port/waiters.ts';
import { type Bell, FULL, Producer } from '../../ring/producer.ts';
import { type Backlog, forgetBacklog, noteBacklog } from './backlogs.ts';
import { createJsonEncoder } from './json-writer.ts';
import type { PipeMemory } from './layout.ts';
import { checkLimit, type OverflowCallback, trim } from './live-queue.ts';
import { REST } from './long-message.ts';
import { disposedError } from './read-line.ts';
import { ShapeLog } from './shape-log.ts';

/** A message as it will travel: JSON text, packed bytes, or the number of a value that goes another way. */
type Snapshot = string | Uint8Array | number;

export interface SenderOwner extends Backlog {
  kick(): void;
}

/** Bytes that a code unit of text takes in UTF-8 at the most. */
const UTF8_BYTES_MAX = 3;

/** Bytes of room that are worth a pad before the end of the ring: most messages are smaller. */
const ROOM_WANTED = 1024;
/** Bytes of a packed message that waits; a longer one waits as text. */
const WAITING_BYTES_MAX = 64 * 1024;

const utf8 = new TextEncoder();
const WRITTEN: Promise<void> = Promise.resolve();

export class Sender {
  readonly #views: Views;
  readonly #lane: LaneMemory;
  readonly #words: Int32Array;
  readonly #tailWord: number = 0;
  readonly #bell: Bell;
  #producer: Producer;
  readonly #encoder = createJsonEncoder({ knownTexts: 0 });
  readonly #log: ShapeLog;
  readonly #scratch = new Scratch();
  /** A message is being packed, whose getters may post another. */
  #packing = false;
  /** Told when the queue has to be moved on, soon (not inside the caller) or when there is room. */
  readonly #owner: SenderOwner;
  /** Messages that wait, oldest first: the live queue that the overflow callback is shown. */
  readonly #queue: unknown[] = [];
  /** What they were when they were posted, in step, so that later changes to them do not show. */
  #snapshots: Snapshot[] = [];
  /** Settles when everything in the queue, and the message under way, is written. */
  #batch: Settleable<void> | null = null;
  /** A message that has left the queue and is on its way in parts, and its kind. */
  #bytes: Uint8Array | null = null;
  #kind = KIND_JSON;
  /** Bytes of it that are in the ring. */
  #moved = 0;
  /** Kind of a message that was given up on its way, until the reader is told that no more of it comes; 0: none. */
  #cut = 0;
  #limit: number | null;
  #overflow: OverflowCallback = null;

  constructor(memory: PipeMemory, bell: Bell, queueLimit: number | null, owner: SenderOwner) {
    this.#views = memory.views;
    this.#lane = memory.lane;
    this.#words = memory.lane.words;
    this.#tailWord = memory.lane.block + TAIL;
    this.#bell = bell;
    this.#producer = new Producer(memory.lane, bell);
    this.#log = new ShapeLog(memory.views, memory.log);
    this.#limit = queueLimit;
    this.#owner = owner;
  }

  get queueLimit(): number | null {
    return this.#limit;
  }
  set queueLimit(limit: number | null) {
    this.#limit = checkLimit(limit);
    this.#trim();
  }
  get onQueueOverflow(): OverflowCallback {
    return this.#overflow;
  }
  set onQueueOverflow(callback: OverflowCallback) {
    this.#overflow = callback ?? null;
  }

  /** Whether a message has not gone into the ring yet. */
  get waiting(): boolean {
    return this.#batch !== null;
  }
  /** Whether anything has not. */
  get backlog(): boolean {
    return this.#batch !== null || this.#cut !== 0;
  }

  /** A writer before this one may have left a message half written: the reader need not wait for the rest. */
  takeOver(): void {
    this.#cut = KIND_JSON;
    if (!this.#writeCut()) this.#owner.kick();
  }

  /** Whether the reader has made room since the last look that found too little. */
  get headMoved(): boolean {
    return this.#producer.headMoved;
  }

  /**
   * Goes on behind what another writer has written to this pipe. Two that take turns may do so; a message that was under
   * way is broken by that.
   */
  #catchUp(): void {
    // Whoever makes sure that they take turns has ordered this; a plain load will do.
    const tail = this.#words[this.#tailWord] as number;
    if (tail !== this.#producer.position) this.#follow(tail);
  }
  #follow(tail: number): void {
    const { words, block, capacity } = this.#lane;
    // One that makes no sense is damage, which our next publication mends.
    const further = (tail & 7) === 0 && ((tail - this.#producer.position) | 0) > 0;
    if (!further || (tail - Atomics.load(words, block + HEAD)) >>> 0 > capacity) return;
    this.#producer = new Producer(this.#lane, this.#bell);
    if (this.#bytes === null || this.#moved === 0) return;
    this.dispose(disposedError);
    this.#cut = 0;
  }

  /** Never blocks. The promise resolves when the message, and what waits with it, is written or dropped. */
  post(message: unknown): Promise<void> {
    try {
      this.#catchUp();
      const outcome = this.#direct ? this.#writeInPlace(message) : NO_ROOM;
      if (outcome > 0) return WRITTEN;
      return this.#send(message, outcome === REFUSED ? toJson(message) : this.#snapshot(message));
    } catch (error) {
      // The original let one such value stop the pipe for ever. It is this message's affair alone.
      return Promise.reject(error);
    }
  }

  /** Keeps the place of a value that goes another way: the reader finds `number` where the value belongs. */
  postBeside(message: unknown, number: number): void {
    void this.#send(message, number);
  }

  /**
   * Whether a message may go straight into the ring. Not where there is a limit: it counts what was posted in one turn,
   * so the messages of a turn gather first.
   */
  get #direct(): boolean {
    return this.#batch === null && this.#limit === null && this.#cut === 0 && !this.#packing;
  }

  #send(message: unknown, snapshot: Snapshot): Promise<void> {
    if (this.#direct && this.#write(snapshot) === 'written') return WRITTEN;
    this.#queue.push(message);
    this.#snapshots.push(snapshot);
    if (this.#batch === null) {
      this.#batch = settleable();
      noteBacklog(this.#owner);
    }
    const { promise } = this.#batch;
    this.#trim();
    if (this.#limit !== null || !this.pump()) this.#owner.kick();
    return promise;
  }

  /** Moves the queue into the ring as far as it fits; whether it is empty now. */
  pump(): boolean {
    if (this.backlog) this.#catchUp();
    if (this.#cut !== 0 && !this.#writeCut()) return false;
    if (this.#batch === null) return true;
    if (this.#packing) return false;
    let done = 0;
    try {
      for (;;) {
        if (this.#bytes !== null && !this.#writeMore(this.#bytes)) return false;
        if (done === this.#snapshots.length) break;
        const snapshot = this.#snapshots[done] as Snapshot;
        const outcome = this.#write(snapshot);
        if (outcome === 'full') return false;
        if (outcome === 'long') this.#beginParts(snapshot as string | Uint8Array);
        done++;
      }
    } finally {
      this.#snapshots.splice(0, done);
      this.#queue.splice(0, done);
    }
    const batch = this.#batch;
    this.#batch = null;
    forgetBacklog(this.#owner);
    batch.resolve();
    return true;
  }

  /** What waits is given up; whoever waits for it learns, and so does a reader that has a part of it. */
  dispose(error: () => Error): void {
    const batch = this.#batch;
    if (batch === null) return;
    this.#batch = null;
    forgetBacklog(this.#owner);
    if (this.#bytes !== null && this.#moved > 0) this.#cut = this.#kind;
    this.#bytes = null;
    this.#queue.length = 0;
    this.#snapshots.length = 0;
    // Posting without looking at the promise is documented use, so nobody need be listening.
    batch.promise.catch(() => {});
    batch.reject(error());
  }

  // ---- packing --------------------------------------------------------------------------------------------------

  /** Packs a message straight into the ring; its length, `NO_ROOM` or `REFUSED`. */
  #writeInPlace(message: unknown): number {
    const producer = this.#producer;
    const room = producer.claimable(ROOM_WANTED);
    if (room <= 0) return NO_ROOM;
    const offset = producer.tryClaim(room);
    if (offset === FULL) return NO_ROOM;
    let length = NO_ROOM;
    try {
      length = this.#pack(message, this.#views, offset, room);
    } finally {
      if (length <= 0) producer.abort();
    }
    if (length > 0) producer.commit(length, KIND_PACKED);
    return length;
  }

  /** What a message is now, for later. */
  #snapshot(message: unknown): Snapshot {
    if (this.#packing) return toJson(message);
    const views = this.#scratch.take(WAITING_BYTES_MAX);
    const length = this.#pack(message, views, 0, WAITING_BYTES_MAX);
    const bytes = length > 0 ? views.bytes.slice(0, length) : null;
    this.#scratch.give(views, WAITING_BYTES_MAX);
    return bytes ?? toJson(message);
  }

  #pack(message: unknown, views: Views, offset: number, room: number): number {
    const log = this.#log;
    this.#packing = true;
    try {
      const length = this.#encoder.encodeInto(message, views, offset, room, log.open);
      if (length <= 0) return length;
      const header = views.words[offset >>> 2] as number;
      if ((header & HEADER_TRAILER) === 0) return length;
      // It brings keys that are new. Every reader to come must find them in the log.
      if (log.open && (header & HEADER_RESET) === 0) {
        if (log.append(views.bytes.subarray(offset, offset + length))) return length;
      }
      log.open = false;
      this.#encoder.discard();
      return REFUSED;
    } finally {
      this.#packing = false;
    }
  }

  // ---- records --------------------------------------------------------------------------------------------------

  /** Writes a message that one record takes. */
  #write(snapshot: Snapshot): 'written' | 'full' | 'long' {
    if (typeof snapshot === 'string') return this.#writeText(snapshot);
    if (typeof snapshot === 'number') return this.#writePlace(snapshot);
    return this.#writeBytes(snapshot, KIND_PACKED);
  }

  #writeText(text: string): 'written' | 'full' | 'long' {
    const producer = this.#producer;
    const most = text.length * UTF8_BYTES_MAX;
    if (most <= producer.maxPayload) {
      const offset = producer.tryClaim(most);
      if (offset !== FULL) {
        producer.commit(this.#views.text.utf8Write(text, offset, most), KIND_JSON);
        return 'written';
      }
      if (producer.claimable(text.length) < text.length) return 'full';
    } else if (text.length > producer.maxPayload) return 'long';
    // Only its real length tells.
    return this.#writeBytes(utf8.encode(text), KIND_JSON);
  }

  #writeBytes(bytes: Uint8Array, kind: number): 'written' | 'full' | 'long' {
    if (bytes.length > this.#producer.maxPayload) return 'long';
    const offset = this.#producer.tryClaim(bytes.length);
    if (offset === FULL) return 'full';
    this.#views.blocks.copyIn(bytes, offset);
    this.#producer.commit(bytes.length, kind);
    return 'written';
  }

  #writePlace(number: number): 'written' | 'full' {
    const offset = this.#producer.tryClaim(MARKER_BYTES);
    if (offset === FULL) return 'full';
    this.#views.words[offset >>> 2] = number;
    this.#views.words[(offset >>> 2) + 1] = 0;
    this.#producer.commit(MARKER_BYTES, KIND_SIDE);
    return 'written';
  }

  #beginParts(snapshot: string | Uint8Array): void {
    const isText = typeof snapshot === 'string';
    this.#bytes = isText ? utf8.encode(snapshot) : snapshot;
    this.#kind = isText ? KIND_JSON : KIND_PACKED;
    this.#moved = 0;
  }

  /** Writes the next parts of the message under way; whether it is all there. */
  #writeMore(bytes: Uint8Array): boolean {
    this.#moved = writeParts(this.#views, this.#producer, this.#kind, bytes, this.#moved, this.#kind | REST);
    if (this.#moved < bytes.length) return false;
    this.#bytes = null;
    return true;
  }

  #writeCut(): boolean {
    if (this.#producer.tryClaim(0) === FULL) return false;
    this.#producer.commit(0, this.#cut | REST);
    this.#cut = 0;
    return true;
  }

  #trim(): void {
    if (this.#limit === null || this.#queue.length <= this.#limit) return;
    const before = this.#overflow === null ? null : [...this.#queue];
    trim(this.#queue, this.#limit, this.#overflow);
    if (before === null) {
      this.#snapshots = this.#snapshots.slice(this.#snapshots.length - this.#queue.length);
      return;
    }
    // The callback may have taken out, put in or replaced anything.
    const known = new Map(before.map((message, index) => [message, this.#snapshots[index] as Snapshot]));
    this.#snapshots = this.#queue.map((message) => known.get(message) ?? this.#snapshot(message));
  }
}

/** What has no JSON of its own (undefined, functions, symbols) travels as null, as in an array. */
function toJson(message: unknown): string {
  return JSON.stringify(message) ?? 'null';
}
