// When a session is over by itself: there was no line for `resumeMs`, or lines that bring nothing through, or the other side does not hear its last words.
// Last words have a time of their own, which begins as they are said, with each new line, and with whatever the other side takes in.
import { platform } from '#platform';
import { TimeoutError } from '../../errors.ts';
import { RESUME_LAST_MOST_MS, RESUME_LAST_MS } from '../../limits.ts';

export interface LineDeadlineOptions {
  readonly resumeMs: number;
  readonly hasLine: () => boolean;
  /** What the last try said. */
  readonly cause: () => Error | undefined;
  readonly passed: (error: TimeoutError) => void;
}

export class LineDeadline {
  readonly #options: LineDeadlineOptions;
  /** While it runs. The timer is long, and keeps nothing that is over before. */
  #running: { deadline: LineDeadline | undefined } | undefined;
  /** Last words are said, or on their way to here, since then. */
  #endingMs: number | undefined;
  /** When the other side has taken in something, or could have for the first time. */
  #takenMs = 0;
  /** How far both had heard as the line that there is, or was, began. */
  #since = -1;
  /** When the first of lines in a row over which nothing has come, though something was to be said, was followed by the next. */
  #barrenMs: number | undefined;

  constructor(options: LineDeadlineOptions) {
    this.#options = options;
  }

  /** There is no line, or last words are said. */
  get runs(): boolean {
    return this.#running !== undefined;
  }
  get isEnding(): boolean {
    return this.#endingMs !== undefined;
  }

  /** There is no line from here on. */
  begin(cause: Error | undefined): void {
    this.#run(this.#options.resumeMs, cause);
  }
  /** Last words are said from here on. */
  ending(): void {
    this.#endingMs ??= performance.now();
  }
  /** Their time begins, if they are said, and no line is waited for beyond it. */
  endLast(cause?: Error): void {
    if (this.#endingMs === undefined) return;
    this.#takenMs = performance.now();
    const withoutMs = Math.min(this.#options.resumeMs, this.#endingMs + RESUME_LAST_MOST_MS - this.#takenMs);
    const ms = this.#options.hasLine() ? this.#leftMs() : Math.min(RESUME_LAST_MS, withoutMs);
    this.#run(Math.max(0, ms), cause);
  }
  /** The other side has taken in something: the rest of it is worth waiting for. */
  taken(): void {
    this.#takenMs = performance.now();
  }
  stop(): void {
    if (this.#running !== undefined) this.#running.deadline = undefined;
    this.#running = undefined;
  }
  /** Milliseconds that last words have left over the line that there is. */
  #leftMs(): number {
    if (this.#endingMs === undefined || !this.#options.hasLine()) return 0;
    return Math.min(this.#takenMs + RESUME_LAST_MS, this.#endingMs + RESUME_LAST_MOST_MS) - performance.now();
  }
  #run(ms: number, cause: Error | undefined): void {
    this.stop();
    const running: { deadline: LineDeadline | undefined } = { deadline: this };
    this.#running = running;
    platform.later(() => {
      const { deadline } = running;
      if (deadline !== undefined) deadline.#passed(ms, cause);
    }, ms);
  }
  #passed(timeoutMs: number, first: Error | undefined): void {
    const moreMs = this.#leftMs();
    if (moreMs > 0) {
      this.#run(moreMs, first);
      return;
    }
    const cause = this.#options.cause() ?? first;
    const text = `The line has broken${because(first)}, and no other one was there in ${timeoutMs} ms${cause === first ? '' : because(cause)}`;
    this.#options.passed(new TimeoutError(text, { timeoutMs, cause }));
  }

  /**
   * A new line begins: what there is to say where lines break for so long, with what is said over them, that another one is no better.
   * @param heard how far both have heard, together
   * @param hasAll the other side has heard all there was
   */
  barren(heard: number, hasAll: boolean): TimeoutError | undefined {
    const now = performance.now();
    if (heard !== this.#since || hasAll) this.#barrenMs = undefined;
    else this.#barrenMs ??= now;
    this.#since = heard;
    const { resumeMs: timeoutMs } = this.#options;
    if (this.#barrenMs === undefined || now - this.#barrenMs <= timeoutMs) return undefined;
    const cause = this.#options.cause();
    const text = `One line after the other breaks${because(cause)}, and nothing has come through in ${timeoutMs} ms`;
    return new TimeoutError(text, { timeoutMs, cause });
  }
}

function because(cause: Error | undefined): string {
  return cause === undefined ? '' : ` (${cause.message})`;
}
