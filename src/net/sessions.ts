// The sessions of a listener: what resumes finds its own by what it was called, which nobody can guess; and those that have no line are bounded, in number and bytes.
import { UnsupportedError } from '../errors.ts';
import type { StreamLink } from '../port/stream-link.ts';
import type { ResumingStream } from '../transport/network/resuming-stream.ts';

export interface Session {
  readonly stream: ResumingStream;
  /** Who has connected, as the program calls it; only the same one resumes. */
  identity: string;
  link: StreamLink | undefined;
}

export interface SessionBounds {
  readonly maxParked: number;
  readonly maxParkedBytes: number;
}

export class Sessions {
  readonly #bounds: SessionBounds;
  readonly #all = new Map<string, Session>();
  #closed = false;
  /** Those that have no line, the one that has waited longest first. */
  readonly #parked = new Set<Session>();

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
    this.#parked.add(session);
    this.bound();
  }
  resumed(session: Session): void {
    this.#parked.delete(session);
  }
  delete(session: Session, name: Uint8Array | undefined): void {
    this.#parked.delete(session);
    this.#all.delete(textOf(name));
  }
  /** Nobody can come back any more. */
  close(): void {
    this.#closed = true;
    for (const session of [...this.#parked]) this.park(session);
  }

  /** One more is parked, or keeps more. */
  bound(): void {
    const { maxParked, maxParkedBytes } = this.#bounds;
    let bytes = 0;
    for (const { stream } of this.#parked) bytes += stream.keptBytes;
    for (const session of this.#parked) {
      if (this.#parked.size <= maxParked && bytes <= maxParkedBytes) return;
      bytes -= session.stream.keptBytes;
      const text = `The line has broken, and the listener keeps no more than ${maxParked} connections without one, and ${maxParkedBytes} bytes for them (maxParkedSessions, maxParkedBytes)`;
      session.stream.lose(new UnsupportedError(text));
      this.#parked.delete(session);
    }
  }
}

function textOf(name: Uint8Array | undefined): string {
  return name === undefined ? '' : String.fromCharCode(...name);
}
