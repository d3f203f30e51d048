// The reader's side of kept-pieces.ts: which pieces it has, and how it waits for the next with its thread.
import { platform } from '#platform';
import { UnsupportedError } from '../../errors.ts';
import { NATIVE_LOOK_MS, NATIVE_TELL_BYTES, NATIVE_TELL_PIECES, SYNC_READ_MS_MAX } from '../../limits.ts';
import { BESIDE, readPieces } from './kept-pieces.ts';

type FetchSync = NonNullable<typeof platform.fetchSync>;

/** The other side has no page any more: nothing comes. */
export const GONE: unique symbol = Symbol('gone');

export class SyncReads {
  readonly #address: string;
  readonly #fetch: FetchSync;
  /** Pieces that this side has, whichever way they came. */
  #taken = 0;
  /** Pieces that the native port has brought. */
  #came = 0;
  #told = 0;
  #untoldBytes = 0;
  #turnDue = false;
  #lookedMs = 0;

  /** @param address as in KeptPieces */
  constructor(address: string, fetchSync: FetchSync) {
    this.#address = address;
    this.#fetch = fetchSync;
  }

  /** The native port has brought one: whether it is new here. */
  arrived(bytes: number): boolean {
    if (++this.#came <= this.#taken) return false;
    this.#taken = this.#came;
    this.#untoldBytes += bytes;
    return true;
  }
  /** How many this side has, where the other one keeps more than a few and is to be told. */
  due(): number | undefined {
    const due = this.#taken - this.#told >= NATIVE_TELL_PIECES || this.#untoldBytes >= NATIVE_TELL_BYTES;
    return due ? this.#tell() : undefined;
  }
  #tell(): number {
    this.#told = this.#taken;
    this.#untoldBytes = 0;
    return this.#taken;
  }

  /** Whether the native port has still to bring what this side knows of. */
  get ahead(): boolean {
    return this.#came < this.#taken;
  }

  /**
   * Whether to look without waiting. That costs a request, which a thread whose event loop turns can do without: it is brought everything.
   */
  get looks(): boolean {
    const now = performance.now();
    if (!this.#turnDue) {
      this.#turnDue = true;
      this.#lookedMs = now;
      platform.turn(() => {
        this.#turnDue = false;
      });
      return false;
    }
    if (now - this.#lookedMs < NATIVE_LOOK_MS) return false;
    this.#lookedMs = now;
    return true;
  }

  /**
   * Waits with the thread for the next piece, so many milliseconds at the most, and hands over what there is. Whether something has changed.
   * @param take a piece; bytes are the caller's again when it returns
   * @throws UnsupportedError where no service worker answers
   */
  read(timeoutMs: number, take: (piece: Uint8Array | null | typeof GONE) => void): boolean {
    const untilMs = performance.now() + timeoutMs;
    for (let left = timeoutMs; ; left = untilMs - performance.now()) {
      if (left < 0) return false;
      const pieces = this.#ask(this.#tell(), left);
      if (pieces === undefined) {
        take(GONE);
        return true;
      }
      this.#lookedMs = performance.now();
      for (const piece of pieces) {
        this.#taken++;
        // What is beside the bytes comes natively; the bytes say where it belongs.
        if (piece !== BESIDE) take(piece);
      }
      if (pieces.length > 0) return true;
      if (timeoutMs === 0) return false;
    }
  }

  /** Waits with the thread, for nothing. @throws as read */
  rest(timeoutMs: number): void {
    const untilMs = performance.now() + timeoutMs;
    for (let left = timeoutMs; left > 0; left = untilMs - performance.now()) this.#ask(-1, left);
  }

  #ask(from: number, leftMs: number): ReturnType<typeof readPieces> {
    const url = `${this.#address}&first=${from}&wait=${Math.ceil(Math.min(leftMs, SYNC_READ_MS_MAX))}`;
    // A service worker that is replaced breaks off what it was asked.
    const answer = this.#fetch(url) ?? this.#fetch(url);
    if (answer?.ours && answer.status === 410) return undefined;
    const pieces = answer?.ours ? readPieces(answer.bytes) : undefined;
    if (pieces !== undefined) return pieces;
    throw new UnsupportedError(
      `Cannot block this thread: no service worker of millrace answers at ${this.#address} (status ${answer?.status ?? 'none'}); is this worker's script in its scope, does it call serve({ blocking: true }) before other listeners answer, and does a content security policy allow it (connect-src 'self')?`,
      { feature: 'blocking' },
    );
  }
}
