// Looks for another line for a session whose own has broken, or is silent: at once, then in pauses that grow, half of each left to chance.
import { platform } from '#platform';
import { RefusedError } from '../errors.ts';
import { REDIAL_FIRST_MS, REDIAL_MAX_MS, SILENCE_MOST_MS } from '../limits.ts';
import { type FirstWords, FreshLine } from '../transport/network/fresh-line.ts';
import type { Line } from '../transport/network/line.ts';
import type { ResumingStream } from '../transport/network/resuming-stream.ts';
import { CODE_IDENTITY, CODE_NAME } from '../transport/stream/frames.ts';
import type { GreetingField } from '../transport/stream/greeting.ts';
import { orAborted } from './or-aborted.ts';

/** Milliseconds. */
export interface RedialTimes {
  /** For a line to be there. */
  readonly lineMs: number;
  /** For the other side to answer on it, before another one is tried. */
  readonly answerMs: number;
  /** That a session has without a line. */
  readonly resumeMs: number;
}

/** What finds a line, and what is said of oneself on it: where that is the same each time, nothing. */
export interface Finding {
  dial(signal: AbortSignal): Promise<Line>;
  readonly fields?: (() => Promise<readonly GreetingField[]>) | undefined;
}

/** What waits for its time keeps nothing of a session that is over before. */
interface Waits {
  late: (() => void) | undefined;
}

export class Redial {
  readonly #finding: Finding;
  readonly #stream: ResumingStream;
  readonly #times: RedialTimes;
  /** A line that was silent speaks again, and no other one is looked for. */
  readonly #back: () => void;
  #tries = 0;
  /** Counts searches: one that is over ends where it comes to look. */
  #search = 0;
  /** One that has not answered yet. */
  #line: Line | undefined;
  #runs = false;
  /** Lines that opened, and were not answered, one after the other. */
  #unanswered = 0;
  /** Since when another line is looked for, and how far had been heard then. */
  #sinceMs = 0;
  #heard = 0;
  #resumedMs = Number.NEGATIVE_INFINITY;
  #over = false;
  /** Gives up what is under way. */
  #giveUp = new AbortController();

  constructor(finding: Finding, stream: ResumingStream, times: RedialTimes, back: () => void) {
    this.#finding = finding;
    this.#stream = stream;
    this.#times = times;
    this.#back = back;
  }

  /** Its line has broken, or says nothing: does nothing while one is looked for. */
  start(): void {
    if (this.#runs || this.#over) return;
    this.#runs = true;
    // One that has broken at once is no reason to hurry.
    this.#tries = performance.now() - this.#resumedMs < REDIAL_FIRST_MS ? 1 : 0;
    this.#unanswered = 0;
    this.#sinceMs = performance.now();
    this.#heard = this.#stream.heard;
    void this.#next(++this.#search);
  }
  /** Something has come over its line. */
  came(): void {
    if (this.#runs && this.#settled(this.#search)) this.#giveUp.abort(new Error('the line speaks again'));
  }
  /** The session is over. */
  stop(): void {
    this.#over = true;
    this.#giveUp.abort();
    this.#line?.destroy();
  }
  /** Whether there is no need for another one any more. */
  #settled(search: number): boolean {
    if (this.#over || search !== this.#search) return true;
    if (this.#stream.isApart || this.#stream.heard === this.#heard) return false;
    this.#search++;
    this.#runs = false;
    this.#back();
    return true;
  }
  /** Milliseconds that are left in which the other side may be busy, or stand at a breakpoint, as long as nothing says that it is gone. */
  get #silenceMs(): number {
    return this.#stream.isLost ? 0 : this.#sinceMs + SILENCE_MOST_MS - performance.now();
  }

  async #next(search: number): Promise<void> {
    const { lineMs, resumeMs } = this.#times;
    // The other side may have begun to count only now, when it noticed: it is to see some tries in its time.
    const mostMs = Math.min(REDIAL_MAX_MS, resumeMs / 4);
    if (this.#tries++ > 0) await pause(Math.min(REDIAL_FIRST_MS * 2 ** (this.#tries - 2), mostMs));
    if (this.#settled(search)) return;
    const giveUp = new AbortController();
    this.#giveUp = giveUp;
    const timer = setTimeout(() => giveUp.abort(new Error(`nobody has answered in ${lineMs} ms`)), lineMs);
    // Who has last words holds the process as long as those do.
    (timer as { unref?(): void }).unref?.();
    try {
      const { signal } = giveUp;
      const fields = await orAborted(this.#finding.fields?.(), signal);
      const line = await this.#finding.dial(signal);
      if (this.#settled(search)) line.destroy();
      else this.#greet(line, fields);
    } catch (error) {
      if (this.#settled(search)) return;
      this.#line?.destroy();
      this.#line = undefined;
      // Nobody says that nobody is there.
      const isLate = giveUp.signal.aborted || codeOf(error) === 'ETIMEDOUT';
      if (isLate && this.#silenceMs > 0) void this.#next(this.#search);
      else this.#failed(error as Error);
    } finally {
      clearTimeout(timer);
    }
  }
  #failed(error: Error | undefined): void {
    if (this.#over) return;
    this.#stream.lineFailed(error);
    void this.#next(this.#search);
  }

  /** From here on the line that there was is not listened to. */
  #greet(line: Line, fields: readonly GreetingField[] | undefined): void {
    const fresh = new FreshLine(line);
    this.#line = line;
    // In silence each one that is given up for the next stays with the other side's system until somebody there looks: there is room for some hundreds.
    const { answerMs } = this.#times;
    const waitMs = this.#stream.isLost ? answerMs : Math.min(answerMs * 2 ** this.#unanswered++, this.#silenceMs);
    line.write(this.#stream.hello(fields));
    const waits: Waits = { late: undefined };
    const settled = (): boolean => {
      if (waits.late === undefined) return false;
      waits.late = undefined;
      this.#line = undefined;
      return !this.#over;
    };
    // Nobody there has the time to answer, or nobody ever will: another one is tried, and what time there is goes on as it did.
    waits.late = () => {
      if (!settled()) return;
      line.destroy();
      if (this.#stream.isLost || this.#silenceMs > 0) void this.#next(this.#search);
      else this.#failed(new Error('lines open, and nobody answers over them'));
    };
    platform.later(() => waits.late?.(), waitMs);
    fresh.read(
      (first) => {
        if (settled()) this.#answered(fresh, first);
      },
      (error) => {
        if (settled()) this.#failed(error);
      },
    );
  }
  #answered(fresh: FreshLine, { greeting, bytes }: FirstWords): void {
    if (greeting === undefined) {
      fresh.line.destroy();
      this.#failed(new Error('what listens there has not greeted'));
      return;
    }
    if (sameBytes(greeting.resume?.session, this.#stream.session)) {
      this.#runs = false;
      this.#resumedMs = performance.now();
      this.#stream.resume(fresh, greeting.resume?.heard ?? 0, bytes);
      return;
    }
    this.#line = fresh.line;
    const waits: Waits = { late: undefined };
    const refused = (code: number): void => {
      if (waits.late === undefined) return;
      waits.late = undefined;
      fresh.line.destroy();
      this.#refused(code === CODE_IDENTITY);
    };
    waits.late = () => refused(CODE_NAME);
    platform.later(() => waits.late?.(), this.#times.answerMs);
    fresh.refused(bytes, refused);
  }
  #refused(notLetIn: boolean): void {
    const text = notLetIn
      ? 'The other side does not let this one in any more (authorize)'
      : 'The other side has no such session any more: it was started anew, is another one, or has waited too long';
    const refusal = notLetIn ? CODE_IDENTITY : CODE_NAME;
    this.#stream.lose(new RefusedError('ERR_REFUSED', text, { refusal, text: '' }));
  }
}

/** Of what says it, or of what that came from. */
function codeOf(error: unknown): unknown {
  const { code, cause } = Object(error) as { code?: unknown; cause?: unknown };
  return (Object(cause) as { code?: unknown }).code ?? code;
}
function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && a.length === b?.length && a.every((byte, i) => byte === b[i]);
}

/** Half of it by chance; whoever holds the process, this does not. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => platform.later(resolve, ms / 2 + (Math.random() * ms) / 2));
}
