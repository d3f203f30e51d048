// Promises about what was sent: that there is room for more, that the peer has taken it over.
import type { ClosedError } from '../errors.ts';
import { Fifo } from '../lane/fifo.ts';
import type { Mark, Outbound } from '../lane/lane.ts';
import { type Settleable, settleable } from './waiters.ts';

export class Progress {
  readonly #out: Pick<Outbound, 'pump' | 'writable' | 'taken' | 'unheard'>;
  readonly #refusal: (action: string) => ClosedError;
  #room: Settleable<void> | undefined;
  /** Each comes true no later than those behind it. */
  readonly #flushes: Fifo<{ readonly mark: Mark; readonly done: Settleable<void> }> = new Fifo();

  constructor(
    out: Pick<Outbound, 'pump' | 'writable' | 'taken' | 'unheard'>,
    refusal: (action: string) => ClosedError,
  ) {
    this.#out = out;
    this.#refusal = refusal;
  }

  /** Whether a promise of room is pending. */
  get roomAwaited(): boolean {
    return this.#room !== undefined;
  }
  /** Whether any promise is. */
  get pending(): boolean {
    return this.#room !== undefined || this.#flushes.length > 0;
  }
  /** What has to be taken over before a promise comes true: up to the first of the marks. */
  get takenAwaited(): Mark | undefined {
    return this.#flushes.first?.mark;
  }

  /** Resolves when there is room. The same promise for all who ask until then. */
  room(): Promise<void> {
    this.#room ??= handled();
    return this.#room.promise;
  }

  /** Resolves when the peer has taken over everything up to `mark`. */
  taken(mark: Mark): Promise<void> {
    const done = handled();
    this.#flushes.push({ mark, done });
    return done.promise;
  }

  /**
   * Moves the outbox along and keeps the promises that have come true.
   * @throws LayoutError if the memory is damaged; the transport has ended then
   */
  settle(): void {
    this.#out.pump();
    if (this.#room !== undefined && this.#out.writable) {
      this.#room.resolve();
      this.#room = undefined;
    }
    if (this.#out.unheard === true) {
      this.#room?.reject(this.#refusal('send'));
      this.#room = undefined;
    }
    if (this.#flushes.length > 0) this.#settleFlushes();
  }

  #settleFlushes(): void {
    for (let next = this.#flushes.first; next !== undefined; next = this.#flushes.first) {
      if (this.#out.taken(next.mark)) next.done.resolve();
      else if (this.#out.unheard === true) next.done.reject(this.#refusal('flush'));
      else return;
      this.#flushes.shift();
    }
  }

  /**
   * The channel is over: nothing is pending any more.
   * @param shut whether this end was closed by its user, who gave up what was under way
   */
  end(shut: boolean, refusal: (action: string) => ClosedError): void {
    this.#room?.reject(refusal('send'));
    this.#room = undefined;
    for (let next = this.#flushes.first; next !== undefined; next = this.#flushes.first) {
      if (!shut && this.#takenInTime(next.mark)) next.done.resolve();
      else next.done.reject(refusal('flush'));
      // Not before: where the stack ends in the middle it is told again, and who was told hears nothing.
      this.#flushes.shift();
    }
  }

  /** Whether the peer had taken everything up to `mark` when the channel ended. What we cannot know we deny. */
  #takenInTime(mark: Mark): boolean {
    try {
      return this.#out.taken(mark);
    } catch {
      return false;
    }
  }
}

/** A promise whose rejection kills nobody who does not look at it, as those of the web's streams. */
function handled(): Settleable<void> {
  const made = settleable<void>();
  made.promise.catch(() => {});
  return made;
}
