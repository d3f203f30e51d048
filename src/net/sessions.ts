// The sessions of a listener: what resumes finds its own by what it was called, which nobody can guess; and those that have no line are bounded, in number and bytes.
import { UnsupportedError } from '../errors.ts';
import { RESUME_LAST_HOLD_MS } from '../limits.ts';
import type { ResumingStream } from '../transport/network/resuming-stream.ts';

export interface Session {
  readonly stream: ResumingStream;
  /** Who has connected, as the program calls it; only the same one resumes. */
  identity: string | undefined;
  /** Tells whether it has no line. */
  apart: (apart: boolean) => void;
}

export interface SessionBounds {
  readonly maxParked: number;
  readonly maxParkedBytes: number;
  /** Such as have said their last words, and have a line. */
  readonly maxConnections: number;
}

export class Sessions {
  readonly #all = new Map<string, Session>();
  #closed = false;
  /** Those that were waited for as the listener was about to close. */
  readonly #lacking = new Set<Session>();
  #said: (() => void) | undefined;
  /** Those that have no line. */
  readonly #parked: Kept;
  /** Those that have said their last words, and have one. */
  readonly #lasting: Kept;

  constructor(bounds: SessionBounds) {
    const { maxParked, maxParkedBytes, maxConnections } = bounds;
    this.#parked = new Kept(maxParked, maxParkedBytes);
    this.#lasting = new Kept(maxConnections, maxParkedBytes);
  }

  add(session: Session): void {
    this.#all.set(textOf(session.stream.session), session);
  }
  find(name: Uint8Array): Session | undefined {
    return this.#all.get(textOf(name));
  }
  park(session: Session): void {
    if (this.#closed) {
      session.stream.lose(new UnsupportedError('The line has broken, and the listener is closed'));
      return;
    }
    this.#lasting.delete(session);
    this.#keeps(this.#parked, session, 0);
  }
  /** It has said its last words, or the other side has told that it has some of them: who has told nothing for longest goes, where it is too much, but nobody for himself. */
  lasts(session: Session): void {
    if (session.stream.isApart) return;
    this.#lasting.delete(session);
    this.#keeps(this.#lasting, session, 1);
  }
  resumed(session: Session): void {
    this.#parked.delete(session);
    if (session.stream.lasts) this.lasts(session);
  }
  /** When those that have no line for their last words have said them over another one, or have had as long as they hold a process. */
  async lastSaid(): Promise<void> {
    for (const session of this.#parked.all()) if (session.stream.lasts) this.#lacking.add(session);
    if (this.#lacking.size === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#said = resolve;
      timer = setTimeout(resolve, RESUME_LAST_HOLD_MS);
    });
    clearTimeout(timer);
  }
  delete(session: Session, name: Uint8Array | undefined): void {
    this.#parked.delete(session);
    this.#lasting.delete(session);
    this.#all.delete(textOf(name));
    if (this.#lacking.delete(session) && this.#lacking.size === 0) this.#said?.();
  }
  /** Nobody can come back any more. */
  close(): void {
    this.#closed = true;
    for (const session of [...this.#parked.all()]) this.park(session);
  }

  /** One that may have no line keeps more. */
  keptMore(session: Session): void {
    if (this.#parked.has(session)) this.#keeps(this.#parked, session, 0);
  }
  /** Those that have waited longest go, where it is too much. */
  #keeps(kept: Kept, session: Session, atLeast: number): void {
    kept.set(session);
    for (let oldest = kept.tooMuch(atLeast); oldest !== undefined; oldest = kept.tooMuch(atLeast)) {
      const text = `The listener keeps no more than ${kept.most} connections without a line, or with last words, and ${kept.mostBytes} bytes for them (maxParkedSessions, maxConnections, maxParkedBytes)`;
      kept.delete(oldest);
      oldest.stream.lose(new UnsupportedError(text));
    }
  }
}

/** Sessions with what each keeps, the one that has waited longest first. */
class Kept {
  readonly most: number;
  readonly mostBytes: number;
  readonly #each = new Map<Session, number>();
  #bytes = 0;

  constructor(most: number, mostBytes: number) {
    this.most = most;
    this.mostBytes = mostBytes;
  }
  all(): Iterable<Session> {
    return this.#each.keys();
  }
  has(session: Session): boolean {
    return this.#each.has(session);
  }
  set(session: Session): void {
    const { keptBytes } = session.stream;
    this.#bytes += keptBytes - (this.#each.get(session) ?? 0);
    this.#each.set(session, keptBytes);
  }
  delete(session: Session): void {
    this.#bytes -= this.#each.get(session) ?? 0;
    this.#each.delete(session);
  }
  /** Who is to go. */
  tooMuch(atLeast: number): Session | undefined {
    const [oldest] = this.#each.keys();
    const isTooMuch = this.#each.size > this.most || this.#bytes > this.mostBytes;
    return isTooMuch && this.#each.size > atLeast ? oldest : undefined;
  }
}

function textOf(name: Uint8Array | undefined): string {
  return name === undefined ? '' : String.fromCharCode(...name);
}
