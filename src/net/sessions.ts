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
}

export class Sessions {
  readonly #bounds: SessionBounds;
  readonly #all = new Map<string, Session>();
  #closed = false;
  /** Those that were waited for as the listener was about to close. */
  readonly #lacking = new Set<Session>();
  #said: (() => void) | undefined;
  /** Those that have no line, or have said their last, the one that has waited longest first, with what each keeps; and all that together. */
  readonly #parked = new Map<Session, number>();
  #bytes = 0;

  constructor(bounds: SessionBounds) {
    this.#bounds = bounds;
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
    this.#keeps(session);
  }
  /** What its last words take is kept until it is told that they were heard, with or without a line. */
  lasts(session: Session): void {
    this.#keeps(session);
  }
  resumed(session: Session): void {
    if (!session.stream.lasts) this.#forget(session);
  }
  #forget(session: Session): void {
    this.#bytes -= this.#parked.get(session) ?? 0;
    this.#parked.delete(session);
  }
  /** When those that have no line for their last words have said them over another one, or have had as long as they hold a process. */
  async lastSaid(): Promise<void> {
    for (const session of this.#parked.keys())
      if (session.stream.lasts && session.stream.isApart) this.#lacking.add(session);
    if (this.#lacking.size === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#said = resolve;
      timer = setTimeout(resolve, RESUME_LAST_HOLD_MS);
    });
    clearTimeout(timer);
  }
  delete(session: Session, name: Uint8Array | undefined): void {
    this.#forget(session);
    this.#all.delete(textOf(name));
    if (this.#lacking.delete(session) && this.#lacking.size === 0) this.#said?.();
  }
  /** Nobody can come back any more. */
  close(): void {
    this.#closed = true;
    for (const session of [...this.#parked.keys()]) if (session.stream.isApart) this.park(session);
  }

  /** One that may have no line keeps more. */
  keptMore(session: Session): void {
    if (this.#parked.has(session)) this.#keeps(session);
  }
  /** Those that have waited longest go, where it is too much. */
  #keeps(session: Session): void {
    const { maxParked, maxParkedBytes } = this.#bounds;
    const { keptBytes } = session.stream;
    this.#bytes += keptBytes - (this.#parked.get(session) ?? 0);
    this.#parked.set(session, keptBytes);
    for (const [oldest] of this.#parked) {
      if (this.#parked.size <= maxParked && this.#bytes <= maxParkedBytes) return;
      const text = `The line has broken, and the listener keeps no more than ${maxParked} connections without one, or with last words, and ${maxParkedBytes} bytes for them (maxParkedSessions, maxParkedBytes)`;
      this.#forget(oldest);
      oldest.stream.lose(new UnsupportedError(text));
    }
  }
}

function textOf(name: Uint8Array | undefined): string {
  return name === undefined ? '' : String.fromCharCode(...name);
}
