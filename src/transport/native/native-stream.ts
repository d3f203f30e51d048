// A connection's bytes over a native message port, for two threads that have no memory in common: a page without the headers that isolate it, a SharedWorker, a
// frame of another origin. What is said in a turn goes as one message. Values that no codec carries go over the same port (native-values.ts), so that one
// is there before the record that keeps its place.
//
//     bytes (a Uint8Array)     frames of docs/protocol/stream.md
//     [number, value, ports]   a value beside them; native ports in it stand in the list
//     null                     nothing follows
//     number                   so many of these have come, where the other side keeps them for a reader that blocks (kept-pieces.ts)
//     text, true, false        how the end of its thread is heard of (native-watch.ts)
import { platform } from '#platform';
import { UsageError } from '../../errors.ts';
import type { BesideValue } from '../../lane/beside.ts';
import { NATIVE_GATHER_FIRST, NATIVE_GONE_MS, NATIVE_MOVED_MIN, NATIVE_QUIET_MS, NATIVE_WHY_MS } from '../../limits.ts';
import type { EndReason } from '../../outcome.ts';
import type { NativePort } from '../../platform/contract.ts';
import type { ByteStream, StreamConnection } from '../stream/connection.ts';
import { BESIDE, type KeptPieces } from './kept-pieces.ts';
import { lockSpace } from './lock-space.ts';
import { NativeWatch } from './native-watch.ts';
import { GONE, type SyncReads } from './sync-reads.ts';
import { threadLock } from './thread-lock.ts';

/** Whom values that come are given to. */
export interface ValueTaker {
  arrived(number: number, value: BesideValue): void;
  /** One has come that cannot be made here: it is the next. */
  unreadable(): void;
}

/** Pairs of native ports that were made in this thread, as long as they stay, and how many of the two ends are open here. */
const madeHere: WeakMap<NativePort, { open: number }> = /* @__PURE__ */ new WeakMap();

export function nativeChannel(): readonly [NativePort, NativePort] {
  const pair = platform.messageChannel();
  const { agentLocks } = platform;
  if (agentLocks === undefined) return pair;
  lockSpace(agentLocks).show();
  const ends = { open: 0 };
  for (const port of pair) madeHere.set(port, ends);
  return pair;
}

/** Streams that have something to say at the end of this turn, or when this thread blocks before that. */
const gathering: Set<() => void> = /* @__PURE__ */ new Set();

export class NativeStream implements ByteStream {
  readonly port: NativePort;
  /** Where locks tell what native ports do not. */
  readonly watch: NativeWatch | undefined;
  /** As ByteStream: where a service worker brings what comes. */
  readonly receiveSync: ((timeoutMs: number) => boolean) | undefined;
  readonly #reads: SyncReads | undefined;
  readonly #kept: KeptPieces | undefined;
  #received: (bytes: Uint8Array) => void = () => {};
  #brought: () => void = () => {};
  /** What has come is being handed over. */
  #inside = false;
  #gathered = new Uint8Array(NATIVE_GATHER_FIRST);
  #length = 0;
  /** To be asked what goes with the next message. */
  #say: (() => void) | undefined;
  #endSaid = false;
  #endCame = false;
  /** Something has come. */
  heard = false;
  /** How much. */
  #words = 0;
  /** Somebody will say how the thread at the other end has ended (`gone`). */
  endTold = false;
  #over: () => void = () => {};
  /** How it has. */
  #gone: { readonly reason: EndReason; readonly error: Error | undefined } | undefined;

  /**
   * @param reads how this end waits with its thread
   * @param kept what it keeps for the other end, which may
   */
  constructor(port: NativePort, reads?: SyncReads, kept?: KeptPieces) {
    this.port = port;
    this.#reads = reads;
    this.#kept = kept;
    const { agentLocks } = platform;
    if (agentLocks !== undefined) {
      const say = (word: string | boolean): void => void port.postMessage(word);
      this.watch = new NativeWatch(agentLocks, lockSpace(agentLocks), threadLock(agentLocks), say, () => this.#lost());
    }
    if (reads !== undefined) this.receiveSync = (timeoutMs) => this.#read(reads, timeoutMs);
  }
  /** Whether bytes have come that say of values which the native port is still to bring. */
  get late(): boolean {
    return this.#reads?.ahead === true && this.#gone === undefined;
  }

  /**
   * From here on what comes goes to these.
   * @param brought a value has come which bytes may have been waiting for
   */
  connect(connection: Pick<StreamConnection, 'received' | 'closed'>, values: ValueTaker, brought: () => void): void {
    this.#brought = brought;
    const over = (): void => {
      if (!this.#endCame) {
        this.#endCame = true;
        // A thread that ends by itself says so before.
        const { reason, error } = this.#gone ?? { reason: 'terminated' };
        connection.closed(reason, error);
      }
      this.#finish();
    };
    this.#over = over;
    this.#received = (bytes) => {
      this.#inside = true;
      try {
        connection.received(bytes);
      } finally {
        this.#inside = false;
      }
    };
    const ends = madeHere.get(this.port);
    if (ends !== undefined) ends.open++;
    // Of the end of a thread nothing is to be heard in that thread. A port that was made here may yet leave, or its other end.
    const begin = (): void => {
      if (ends?.open !== 2) this.watch?.begin();
    };
    if (ends === undefined) begin();
    platform.listen(this.port, {
      message: (message) => {
        this.heard = true;
        this.#words++;
        begin();
        if (typeof message === 'string' || typeof message === 'boolean') {
          this.watch?.heard(message);
          return;
        }
        if (typeof message === 'number') {
          this.#kept?.confirm(message);
          return;
        }
        const isNew = this.#isNew(message instanceof Uint8Array ? message.length : 0);
        if (isValue(message)) values.arrived(message[0], { value: message[1], ports: message[2] });
        else if (isNew && message instanceof Uint8Array) this.#received(message);
        else if (isNew && message === null) over();
        this.#caughtUp();
      },
      unreadable: () => {
        this.#isNew(0);
        values.unreadable();
        this.#caughtUp();
      },
      closed: () => {
        if (this.endTold && this.#gone === undefined) platform.later(over, NATIVE_WHY_MS);
        else over();
      },
    });
  }

  /**
   * Whoever knows the thread at the other end has learned that it is gone. What it has said before comes first: its port's end says when that is over,
   * where the runtime tells of one.
   */
  gone(reason: EndReason, error: unknown): void {
    this.#gone ??= { reason, error: error instanceof Error ? error : undefined };
    platform.later(() => this.#over(), NATIVE_GONE_MS);
  }

  /** A lock says so: what was said before is over once nothing more has come for a while. */
  #lost(): void {
    const words = this.#words;
    platform.later(() => {
      if (words !== this.#words) {
        this.#lost();
        return;
      }
      this.#gone ??= { reason: 'terminated', error: undefined };
      this.#over();
    }, NATIVE_QUIET_MS);
  }

  /** Not where a service worker was quicker. */
  #isNew(bytes: number): boolean {
    const reads = this.#reads;
    if (reads === undefined) return true;
    const isNew = reads.arrived(bytes);
    const due = reads.due();
    if (due !== undefined) this.port.postMessage(due);
    return isNew;
  }
  /** The native port comes behind what a service worker has brought. */
  #caughtUp(): void {
    if (this.#reads === undefined) return;
    this.#brought();
    if (this.#endCame) this.#finish();
  }
  /** Nothing comes any more: whether or not the other side was told goodbye, nothing goes either. Not while the native port is behind what a service worker has brought. */
  #finish(): void {
    if (!this.late) this.end();
  }
  #read(reads: SyncReads, timeoutMs: number): boolean {
    if (this.#endCame) {
      // What is missing comes to the event loop alone: who has a time limit waits until then.
      if (timeoutMs > 0 && this.late) reads.rest(timeoutMs);
      return false;
    }
    if (timeoutMs <= 0 && (this.#inside || !reads.looks)) return false;
    if (this.#inside) {
      throw new UsageError('ERR_BUSY', 'Cannot wait for what comes: this call is in the middle of what has come');
    }
    // The other sides may be waiting for it.
    for (const post of gathering) post();
    return reads.read(timeoutMs, (piece) => {
      this.heard = true;
      if (piece instanceof Uint8Array) this.#received(piece);
      else {
        if (piece === GONE) this.#gone ??= { reason: 'terminated', error: undefined };
        this.#over();
      }
    });
  }

  /** A value beside the bytes. */
  postValue(value: readonly unknown[], transfer: readonly unknown[]): void {
    this.port.postMessage(value, transfer);
    this.#kept?.push(BESIDE);
  }

  write(bytes: Uint8Array): boolean {
    const length = this.#length + bytes.length;
    if (length > this.#gathered.length) this.#grow(length);
    this.#gathered.set(bytes, this.#length);
    this.#length = length;
    this.#schedule();
    return true;
  }
  /** What was said since the last message: it goes another way. */
  takeGathered(): Uint8Array {
    const bytes = this.#gathered.slice(0, this.#length);
    this.#length = 0;
    return bytes;
  }
  beforeWrite(say: () => void): boolean {
    this.#say = say;
    this.#schedule();
    return true;
  }
  #grow(bytes: number): void {
    let size = this.#gathered.length;
    while (size < bytes) size *= 2;
    const gathered = new Uint8Array(size);
    gathered.set(this.#gathered.subarray(0, this.#length));
    this.#gathered = gathered;
  }
  #schedule(): void {
    if (gathering.has(this.#post)) return;
    gathering.add(this.#post);
    queueMicrotask(this.#post);
  }
  readonly #post = (): void => {
    gathering.delete(this.#post);
    const say = this.#say;
    this.#say = undefined;
    say?.();
    const length = this.#length;
    if (length === 0) return;
    this.#length = 0;
    const bytes = this.#gathered.slice(0, length);
    // Memory for what is seldom so much is not kept.
    if (this.#gathered.length > NATIVE_MOVED_MIN) this.#gathered = new Uint8Array(NATIVE_GATHER_FIRST);
    const stays = length < NATIVE_MOVED_MIN || this.#kept !== undefined;
    this.port.postMessage(bytes, stays ? undefined : [bytes.buffer]);
    this.#kept?.push(bytes);
  };

  /** Some runtimes drop what a port has posted when it is closed: it stays until the other side has said its end, too, or is gone. */
  end(): void {
    if (!this.#endSaid) {
      this.#post();
      this.#endSaid = true;
      this.port.postMessage(null);
      this.#kept?.push(null);
    }
    this.#closeIfDone();
  }
  #closeIfDone(): void {
    if (!this.#endCame || this.late) return;
    this.#kept?.drop();
    this.watch?.end();
    platform.turn(() => this.port.close());
  }
  hold(held: boolean): void {
    platform.hold(this.port, held);
  }
}

function isValue(message: unknown): message is [number: number, value: unknown, ports: readonly unknown[]] {
  return Array.isArray(message) && typeof message[0] === 'number' && Array.isArray(message[2]);
}
