// The writing half of a pipe: its lane, with a queue that is limited by a number of messages, and a promise for all that
// wait. A message goes into the ring at once when there is room; else, as it is then, through the queue.
import { KIND_JSON } from '../../frame/header.ts';
import { type Aside, AsideEncoder } from '../../lane/aside-encoder.ts';
import { Backlog } from '../../lane/backlog.ts';
import { NOTHING_BESIDE } from '../../lane/beside.ts';
import { BesideSender } from '../../lane/beside-sender.ts';
import type { OutboundNotes } from '../../lane/records.ts';
import { MESSAGE_BYTES_MAX } from '../../limits.ts';
import { HEAD, TAIL } from '../../memory/layout.ts';
import { type Settleable, settleable } from '../../port/waiters.ts';
import { type Bell, FULL } from '../../ring/producer.ts';
import { forgetBacklog, noteBacklog, type Waiting } from './backlogs.ts';
import type { PipeMemory } from './layout.ts';
import { LiveOutbox } from './live-outbox.ts';
import { Limited } from './live-queue.ts';
import { REST } from './long-message.ts';
import { PipeEncoder } from './pipe-encoder.ts';
import { PipeSink } from './pipe-sink.ts';
import { disposedError } from './read-line.ts';

export interface SenderOwner extends Waiting {
  kick(): void;
}

/** Nobody counts here, and nobody asks to be taught anew: what was taught stands in the log. */
const NO_NOTES: OutboundNotes = { relearns: 0, besideTaken: 0, sent() {}, stalled() {}, outbox() {} };
const NO_BYTES: Aside = { bytes: new Uint8Array(0), home: undefined };
const WANTED_MORE = 64;
const WRITTEN: Promise<void> = Promise.resolve();

export class Sender extends Limited {
  readonly #memory: PipeMemory;
  readonly #words: Int32Array;
  readonly #tailWord: number = 0;
  readonly #bell: Bell;
  readonly #encoder: PipeEncoder;
  readonly #aside: AsideEncoder;
  readonly #outbox = new LiveOutbox();
  #sink!: PipeSink;
  #backlog!: Backlog;
  /** Told when the queue has to be moved on, soon (not inside the caller) or when there is room. */
  readonly #owner: SenderOwner;
  /** Settles when everything in the queue, and the message under way, is written. */
  #batch: Settleable<void> | null = null;
  /** Bytes the next message is expected to take: a little more than the last one did. */
  #wanted = WANTED_MORE;

  constructor(memory: PipeMemory, bell: Bell, queueLimit: number | null, owner: SenderOwner) {
    super(queueLimit);
    this.#memory = memory;
    this.#words = memory.lane.words;
    this.#tailWord = memory.lane.block + TAIL;
    this.#bell = bell;
    this.#encoder = new PipeEncoder(memory);
    this.#aside = new AsideEncoder(this.#encoder, MESSAGE_BYTES_MAX);
    this.#owner = owner;
    this.#begin();
  }

  /** Whether a message has not gone into the ring yet. */
  get waiting(): boolean {
    return this.#batch !== null;
  }
  /** Whether anything has not. */
  get backlog(): boolean {
    return this.#batch !== null || this.#outbox.length > 0;
  }
  /** Whether the reader has made room since the last look that found too little. */
  get headMoved(): boolean {
    return this.#sink.headMoved;
  }

  /** A writer before this one may have left a message half written: the reader need not wait for the rest. */
  takeOver(): void {
    this.#cut(KIND_JSON);
    if (!this.pump()) this.#owner.kick();
  }

  /** Never blocks. The promise resolves when the message, and what waits with it, is written or dropped. */
  post(message: unknown): Promise<void> {
    try {
      this.#catchUp();
      return this.#send(message);
    } catch (error) {
      // The original let one such value stop the pipe for ever. It is this message's affair alone.
      return Promise.reject(error);
    }
  }

  /** Keeps the place of a value that goes another way: the reader finds `number` where the value belongs. */
  postBeside(message: unknown, number: number): void {
    void this.#send(message, number);
  }

  #send(message: unknown, number?: number): Promise<void> {
    const encoder = this.#encoder;
    try {
      if (number !== undefined) encoder.keepPlace(number);
      // Where there is a limit, it counts what was posted in one turn: so the messages of a turn gather first.
      const direct = this.limit === null && !this.#outbox.shown && this.#outbox.length === 0 && !encoder.busy;
      return direct && this.#writeInPlace(message) ? WRITTEN : this.#queue(message);
    } finally {
      encoder.done();
    }
  }

  #writeInPlace(message: unknown): boolean {
    const sink = this.#sink;
    const encoder = this.#encoder;
    this.#giveUpClaim();
    const offset = sink.claimUpTo(this.#wanted, MESSAGE_BYTES_MAX);
    if (offset === FULL) return false;
    const length = encoder.encodeInto(message, sink.views, offset, sink.claimed);
    if (length <= 0) return false;
    sink.commit(length, encoder.kind);
    this.#wanted = length + WANTED_MORE;
    return true;
  }
  /** No message is being read, so an open claim is that of one which did not fit, or threw, or ran out of stack. */
  #giveUpClaim(): void {
    if (this.#sink.claimed >= 0) this.#sink.abort();
  }

  #queue(message: unknown): Promise<void> {
    this.#snapshot(message);
    this.#outbox.name(message);
    if (this.#batch === null) {
      this.#batch = settleable();
      noteBacklog(this.#owner);
    }
    const { promise } = this.#batch;
    let gone = false;
    try {
      gone = this.limit === null && this.pump();
    } finally {
      if (!gone) this.#owner.kick();
    }
    this.applyLimit();
    return promise;
  }

  /** What a message is now, for later. */
  #snapshot(message: unknown): void {
    const encoder = this.#encoder;
    try {
      // The encoder refuses nothing.
      const aside = this.#aside.encode(message, true) as Aside;
      this.#backlog.add(encoder.kind, aside);
    } finally {
      // The overflow callback may post others.
      encoder.done();
    }
  }

  /** Moves the queue into the ring as far as it fits; whether it is empty now. */
  pump(): boolean {
    if (!this.backlog) return true;
    // A claim is open, or the overflow callback has the queue.
    if (this.#encoder.busy || this.#outbox.shown) return false;
    try {
      this.#giveUpClaim();
      this.#catchUp();
      this.#backlog.pump();
    } finally {
      this.#outbox.tidy();
      this.#settle();
    }
    return this.#outbox.length === 0;
  }

  /** What waits is given up; whoever waits for it learns, and so does a reader that has a part of it. */
  dispose(error: () => Error): void {
    const kind = this.#giveUp(error);
    if (kind !== 0) this.#cut(kind);
  }

  /** Kind of the message of which the reader has a part, if it has any; else 0. */
  #giveUp(error: () => Error): number {
    const batch = this.#batch;
    if (batch === null) return 0;
    const { halfway } = this.#outbox;
    this.#outbox.takeAll();
    this.#batch = null;
    forgetBacklog(this.#owner);
    // Posting without looking at the promise is documented use, so nobody need be listening.
    batch.promise.catch(() => {});
    batch.reject(error());
    return halfway;
  }

  #cut(kind: number): void {
    this.#backlog.add(kind | REST, NO_BYTES);
  }

  #settle(): void {
    const batch = this.#batch;
    if (batch === null || this.#outbox.waiting) return;
    this.#batch = null;
    forgetBacklog(this.#owner);
    batch.resolve();
  }

  protected applyLimit(): void {
    this.#outbox.trim(this.limit, this.overflow, (message) => this.#snapshot(message));
  }

  #begin(): void {
    const sink = new PipeSink(this.#memory, this.#bell);
    const parts = {
      sink,
      notes: NO_NOTES,
      beside: NOTHING_BESIDE,
      outbox: this.#outbox,
      maySpin: false,
      failed() {},
      rest: REST,
    };
    this.#sink = sink;
    this.#backlog = new Backlog(
      parts,
      this.#aside,
      new BesideSender(sink, NO_NOTES, NOTHING_BESIDE, MESSAGE_BYTES_MAX),
    );
  }

  /**
   * Goes on behind what another writer has written to this pipe. Two that take turns may do so; a message that was under
   * way is broken by that.
   */
  #catchUp(): void {
    // Whoever makes sure that they take turns has ordered this; a plain load will do.
    const tail = this.#words[this.#tailWord] as number;
    if (tail !== (this.#sink.position | 0)) this.#follow(tail);
  }
  #follow(tail: number): void {
    const { words, block, capacity } = this.#memory.lane;
    // One that makes no sense is damage, which our next publication mends.
    const further = (tail & 7) === 0 && ((tail - this.#sink.position) | 0) > 0;
    if (!further || this.#encoder.busy || (tail - Atomics.load(words, block + HEAD)) >>> 0 > capacity) return;
    this.#begin();
    if (this.#outbox.halfway !== 0) this.#giveUp(disposedError);
  }
}
