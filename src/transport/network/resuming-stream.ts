// A connection's bytes over one line after the other. Both sides count what has come behind the other one's HELLO, and tell it now and then; each keeps what it
// has said behind what it was told. Where a line breaks, who connected finds another one, both say how far they have heard, and each goes on from
// there. docs/protocol/stream.md, "Resuming", has the rules:
//
// Y1. Who has said its HEARD on a line is deaf to every older one, and writes nothing there any more.
// Y2. What was said and not told of is kept until it was, or the session is over: also last words.
// Y3. Who has heard the last words tells its position at once, and ends the line; who has said them waits for either.
import { LayoutError, UnsupportedError } from '../../errors.ts';
import {
  RESUME_KEPT_BYTES,
  RESUME_KEPT_MAX,
  RESUME_LAST_HOLD_MS,
  RESUME_LAST_MOST_MS,
  RESUME_TELL_BYTES,
} from '../../limits.ts';
import type { EndReason } from '../../outcome.ts';
import { KeepAlive } from '../../platform/keep-alive.ts';
import type { ByteStream } from '../stream/connection.ts';
import { BODY_BYTES, FRAME_HEADER_BYTES, frameBytes, frameHead, HELLO, highWord, lowWord } from '../stream/frames.ts';
import { fieldBytes, type Greeting, type GreetingField } from '../stream/greeting.ts';
import { joined } from '../stream/joined.ts';
import type { FreshLine } from './fresh-line.ts';
import { Heard, positionFrame, RESUMES } from './heard.ts';
import { KeptBytes } from './kept-bytes.ts';
import type { Line, LineUser } from './line.ts';
import { LineDeadline } from './line-deadline.ts';
import { UnsaidHold } from './unsaid-hold.ts';

/** Who speaks over it: a connection, or who carries its bytes on to one. */
export interface Resumed extends LineUser {
  /** What both sides do beyond the protocol's first version; `undefined` before both have greeted. */
  readonly features: number | undefined;
  /** What comes makes no sense: it ends as `lost`, and the other side is told. */
  damaged(error: LayoutError): void;
}

export interface ResumingOptions {
  /** Of who accepts connections, which gives it out; 16 bytes. */
  readonly session?: Uint8Array | undefined;
  /** Milliseconds without a line after which it is over. */
  readonly resumeMs: number;
  /** There is no line: `cause` is what that said as it broke. Who connected looks for another one. */
  parked(cause: Error | undefined): void;
  /** It has a line again. */
  resumed(): void;
  /** Something has come over the line that it has. */
  came?(): void;
  /** It keeps more, and has no line. */
  keptMore?(): void;
  /** It says its last words, and keeps them until the other side has them; and again as the other side tells that it has some. */
  lasts?(): void;
  /**
   * Nobody needs the session any more.
   * @param line what it had last, which was ended
   * @param ms for it to close; long where it may have something on its way, and no session that would have told
   */
  over(line: Line | undefined, ms: number): void;
  /** That line is no more. */
  left(line: Line): void;
}

/** Bytes from the beginning of a HELLO to its SESSION and HEARD. */
const SESSION_AT = FRAME_HEADER_BYTES + 32;
const HEARD_AT = FRAME_HEADER_BYTES + 48;
const FIELDS_AT = FRAME_HEADER_BYTES + (BODY_BYTES[HELLO] as number);

export class ResumingStream implements ByteStream {
  /** What the two call it; `undefined` as long as they do not resume. */
  session: Uint8Array | undefined;
  readonly #options: ResumingOptions;
  readonly #heard: Heard = new Heard({ told: (position) => this.#toldOf(position) });
  readonly #kept = new KeptBytes();
  readonly #keepAlive = new KeepAlive();
  readonly #deadline: LineDeadline;
  readonly #unsaid: UnsaidHold;
  #connection: Resumed | undefined;
  #line: Line | undefined;
  /** Our own first frame, which each line begins with. */
  #hello: Uint8Array | undefined;
  /** Both sides have greeted. */
  #met = false;
  /** The position that the other side was told last. */
  #told = 0;
  /** The line has enough, and whoever writes was told so. */
  #lineFull = false;
  #full = false;
  #say: (() => void) | undefined;
  #held = false;
  #flows = true;
  #ended = false;
  /** Where its last words end. */
  #lastAt = Number.POSITIVE_INFINITY;
  #over = false;
  readonly lastSaid: Promise<void>;
  #tellLastSaid: () => void = () => {};
  /** Of the time in which the last line may close. */
  #lastTimer: ReturnType<typeof setTimeout> | undefined;
  /** What the last line said as it broke. */
  #cause: Error | undefined;

  /** @param line over which its HELLO goes */
  constructor(line: Line, options: ResumingOptions) {
    this.#line = line;
    this.#options = options;
    this.session = options.session;
    this.#deadline = new LineDeadline({
      resumeMs: options.resumeMs,
      hasLine: () => this.#line !== undefined,
      cause: () => this.#cause,
      passed: (error) => this.lose(error),
    });
    this.#unsaid = new UnsaidHold(
      () => this.#hold(),
      () => {
        if (this.#deadline.isEnding) this.#isLastSaid();
      },
    );
    this.lastSaid = new Promise((resolve) => {
      this.#tellLastSaid = resolve;
    });
  }

  /** The bit of FEATURES that it takes, and what it says of itself in an answer. */
  get greeting(): { readonly features: number; readonly resume?: { session: Uint8Array; heard: number } } {
    const { session } = this;
    return { features: RESUMES, ...(session && { resume: { session, heard: 0 } }) };
  }
  /** It says its last words, and does not know that they were heard. */
  get lasts(): boolean {
    return this.#deadline.isEnding && !this.#over;
  }
  /** Whether who says so said it long ago, over a line that is no more: it has told of more since. */
  isOld(heard: number): boolean {
    return heard < this.#kept.start;
  }
  get isApart(): boolean {
    return this.#line === undefined;
  }
  /** Whether its time without a line runs; not where the line is silent, or another one is tried in its place. */
  get isLost(): boolean {
    return this.#deadline.runs;
  }
  /** Whether the other side has told that it has the last words; what it is told behind them is nobody's to wait for. */
  get #isHeard(): boolean {
    return this.#kept.start >= this.#lastAt;
  }
  /** The position up to which has come what the other side has said. */
  get heard(): number {
    return this.#position;
  }
  /** Bytes that are kept. */
  get keptBytes(): number {
    return this.#kept.length;
  }

  /** What comes over its line goes to `connection`, which was made with this. */
  connect(connection: Resumed, fresh: FreshLine): void {
    this.#connection = connection;
    this.#listen(fresh, 0);
  }
  /** Both sides have greeted: from here on they resume, or never. */
  met({ resume }: Greeting): void {
    this.#met = true;
    const agreed = ((this.#connection?.features ?? 0) & RESUMES) !== 0;
    this.session = agreed ? (this.session ?? resume?.session) : undefined;
    if (this.session === undefined) this.#kept.clear();
  }

  // ---- a line after the other ---------------------------------------------------------------------------------------

  /**
   * The HELLO that a new line is to begin with. From here on the one that there was is not listened to.
   * @param fields behind it, in the place of those of the first one
   */
  hello(fields?: readonly GreetingField[]): Uint8Array {
    const before = this.#line;
    this.#line = undefined;
    before?.destroy();
    this.#sayPending();
    const hello = helloWith(this.#hello as Uint8Array, fields);
    hello.set(this.session as Uint8Array, SESSION_AT);
    hello.set(new Uint8Array(Int32Array.of(lowWord(this.#position), highWord(this.#position)).buffer), HEARD_AT);
    return hello;
  }
  /**
   * Goes on over a new line, on which both have said HELLO.
   * @param heard what the other side has heard
   * @param behind bytes of its HELLO
   */
  resume(fresh: FreshLine, heard: number, behind: number): void {
    const { line } = fresh;
    if (!(heard >= this.#kept.start && heard <= this.#kept.end)) {
      line.destroy();
      this.#damaged(heard);
      return;
    }
    const barren = this.#deadline.barren(heard + this.#position, heard === this.#kept.end);
    if (barren !== undefined) {
      line.destroy();
      this.lose(barren);
      return;
    }
    this.#deadline.stop();
    this.#told = this.#position;
    this.#line = line;
    this.#lineFull = false;
    if (heard > this.#kept.start) this.#unsaid.taken();
    this.#kept.release(heard);
    this.#endLast();
    for (const piece of this.#kept.pieces()) this.#write(line, piece);
    this.#hold();
    if (!this.#flows) line.flow?.(false);
    this.#options.resumed();
    this.#listen(fresh, behind);
    if (this.#isHeard) this.#finish();
    else this.#relieve();
  }
  #listen(fresh: FreshLine, from: number): void {
    const { line } = fresh;
    const isOurs = (): boolean => this.#line === line;
    fresh.give(
      {
        received: (bytes) => {
          if (isOurs()) this.#received(bytes);
        },
        drained: () => {
          if (!isOurs()) return;
          this.#lineFull = false;
          this.#relieve();
        },
        closed: (reason, error) => {
          if (this.#over) this.#options.left(line);
          if (isOurs()) this.#broke(reason, error);
        },
      },
      from,
    );
  }
  #broke(reason: EndReason, error: Error | undefined): void {
    this.#line = undefined;
    if (this.#over) this.#isLastSaid();
    // One over which the other side has said its last words was not broken.
    if (this.#over || this.session === undefined || !this.#met || this.#heard.last) {
      this.#finish();
      this.#connection?.closed(reason, error);
    } else if (this.#isHeard) this.#finish();
    else if (error instanceof UnsupportedError) this.lose(error);
    else {
      this.#endLast(error);
      this.#lack(error);
    }
  }
  /**
   * Another line was not to be had, or has broken before it had an answer. The one that there is, which was silent, is given up, and the time without
   * one begins, if it had not.
   */
  lineFailed(cause: Error | undefined): void {
    const line = this.#line;
    this.#line = undefined;
    line?.destroy();
    if (cause instanceof UnsupportedError) this.lose(cause);
    else {
      if (line !== undefined) this.#endLast(cause);
      this.#lack(cause);
    }
  }
  #lack(cause: Error | undefined): void {
    if (this.#over) return;
    this.#cause = cause;
    this.#sayPending();
    this.#hold();
    if (!this.#deadline.runs) {
      this.#deadline.begin(cause);
      if (this.#kept.length > 0) this.#unsaid.begin();
    }
    this.#options.parked(cause);
  }
  /** The time of last words begins anew, where they are said: also that for which they hold the process. */
  #endLast(cause?: Error): void {
    if (!this.#deadline.isEnding) return;
    this.#deadline.endLast(cause);
    this.#unsaid.taken();
  }
  /** It goes on no more: the other side has no such session any more, or no line was to be had. */
  lose(error: Error): void {
    if (this.#over) return;
    this.#finish();
    this.#connection?.closed('lost', error);
  }
  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#deadline.stop();
    this.#unsaid.close();
    this.#keepAlive.close();
    const heard = this.session !== undefined && (this.#isHeard || this.#kept.length === 0);
    this.#kept.clear();
    this.#sayPending();
    if (this.#line !== undefined) this.#line.end();
    else if (this.#ended) this.#connection?.closed('lost');
    if (heard || this.#line === undefined || !this.#ended) this.#isLastSaid();
    // What the line has is on its way until it is closed.
    else this.#lastTimer = setTimeout(() => this.#isLastSaid(), RESUME_LAST_HOLD_MS);
    const hasAll = this.session !== undefined || !this.#met || this.#heard.last;
    this.#options.over(this.#line, hasAll ? RESUME_LAST_HOLD_MS : RESUME_LAST_MOST_MS);
  }
  #isLastSaid(): void {
    clearTimeout(this.#lastTimer);
    this.#tellLastSaid();
  }

  // ---- positions ----------------------------------------------------------------------------------------------------

  get #position(): number {
    return this.#heard.position;
  }
  #received(bytes: Uint8Array): void {
    this.#heard.feed(bytes);
    this.#options.came?.();
    this.#connection?.received(bytes);
    if (this.#over || this.session === undefined || !this.#met) return;
    if (this.#hasToTell(this.#position - this.#told)) this.#tell();
    if (this.#ended && this.#heard.last) this.#finish();
  }
  /** @param untold bytes that were heard */
  #hasToTell(untold: number): boolean {
    if (this.#ended || this.#heard.last) return untold > 0;
    // Less would come to a program that has said its last, and ended, whose system then takes back what is on its way.
    return untold >= RESUME_TELL_BYTES;
  }
  #tell(): void {
    this.#told = this.#position;
    this.#out(positionFrame(this.#told));
  }
  #toldOf(position: number): void {
    if (this.#over) return;
    if (!(position <= this.#kept.end)) {
      this.#damaged(position);
      return;
    }
    // One that was said before the line broke comes again behind a HEARD that is higher.
    if (position <= this.#kept.start) return;
    this.#kept.release(position);
    this.#deadline.taken();
    this.#unsaid.taken();
    if (this.#isHeard) {
      this.#finish();
      return;
    }
    // Little is written at the very end, and nothing more is on its way to this side that would take it back.
    if (this.#deadline.isEnding) this.#options.lasts?.();
    else if (this.#line?.flushSync !== undefined && this.#kept.length < RESUME_TELL_BYTES) this.#unsaid.release();
    this.#relieve();
  }
  #damaged(position: number): void {
    const { start, end } = this.#kept;
    this.#connection?.damaged(
      new LayoutError(`The other side cannot have heard ${position} bytes: ${start} to ${end} can be`, {
        value: position,
      }),
    );
    this.#finish();
  }
  #relieve(): void {
    if (!this.#full || this.#lineFull || this.#kept.length > RESUME_KEPT_BYTES / 2) return;
    this.#full = false;
    this.#connection?.drained();
  }

  // ---- what its connection says ---------------------------------------------------------------------------------------

  write(bytes: Uint8Array): boolean {
    if (this.#over || this.#ended) return true;
    if (this.#hello === undefined) {
      const length = frameBytes(bytes);
      this.#hello = bytes.slice(0, length);
      if (this.#line !== undefined) this.#write(this.#line, this.#hello);
      if (bytes.length > length) this.#out(bytes.subarray(length));
    } else {
      const before = this.#kept.length;
      this.#out(bytes);
      const isMuch = before < RESUME_TELL_BYTES && this.#kept.length >= RESUME_TELL_BYTES;
      if (isMuch && !this.#held) this.#unsaid.begin();
    }
    this.#full ||= this.#lineFull || this.#kept.length > RESUME_KEPT_BYTES;
    return !this.#full;
  }
  #out(bytes: Uint8Array): void {
    if (this.session !== undefined || !this.#met) this.#kept.append(bytes);
    if (this.#line !== undefined) this.#write(this.#line, bytes);
    else {
      this.#unsaid.begin();
      this.#options.keptMore?.();
    }
    if (this.#kept.length <= RESUME_KEPT_MAX) return;
    const error = new LayoutError(
      `The other side has told of none of ${this.#kept.length} bytes that it has heard them`,
    );
    // Not in the middle of what the connection says.
    queueMicrotask(() => this.#connection?.damaged(error));
  }
  #write(line: Line, bytes: Uint8Array): void {
    try {
      if (!line.write(bytes)) this.#lineFull = true;
    } catch (error) {
      // In the middle of a turn of the connection's: it hears of it in one of its own.
      queueMicrotask(() => {
        if (this.#line !== line) return;
        line.destroy();
        this.#broke('lost', error as Error);
      });
    }
  }
  beforeWrite(say: () => void): boolean {
    if (this.#line?.beforeWrite === undefined || !this.#line.beforeWrite(() => this.#sayPending())) return false;
    this.#say = say;
    return true;
  }
  /** Whoever waits for the line to write waits no longer where there is none. */
  #sayPending(): void {
    const say = this.#say;
    this.#say = undefined;
    say?.();
  }
  /** Who speaks over it has said its last, which may be on its way to here, behind what the other side does not take in. */
  ending(): void {
    if (this.#over || this.#deadline.isEnding) return;
    this.#deadline.ending();
    this.#unsaid.begin();
    if (this.session === undefined || !this.#met) return;
    this.#endLast();
    this.#options.lasts?.();
  }
  end(): void {
    if (this.#over) return;
    this.ending();
    this.#ended = true;
    this.#lastAt = this.#kept.end;
    this.#unsaid.begin();
    if (this.session === undefined || !this.#met) {
      this.#finish();
      return;
    }
    if (this.#line !== undefined) this.#tell();
    if (this.#over) return;
    if (this.#heard.last || this.#isHeard) this.#finish();
    else {
      this.#endLast();
      this.#hold();
      this.#options.lasts?.();
    }
  }
  hold(held: boolean): void {
    this.#held = held;
    // A process that ends with something unread has the system take back what was sent, and its last moments are short: it waits for the answer to much.
    if (!held && this.#kept.length >= RESUME_TELL_BYTES) this.#unsaid.begin();
    this.#hold();
  }
  /** Whether more may come; where its line can be told. */
  flow(flows: boolean): void {
    this.#flows = flows;
    this.#line?.flow?.(flows);
  }
  #hold(): void {
    if (this.#over) return;
    const holds = this.#held || this.#unsaid.holds;
    this.#line?.hold(holds);
    // Deno's sockets that are held again hold nothing until something comes (seen in 2.9).
    this.#keepAlive.want(holds && (this.#unsaid.holds || this.#line === undefined));
  }
  get flushSync(): ByteStream['flushSync'] {
    const line = this.#line;
    if (line?.flushSync === undefined) return undefined;
    return (timeoutMs) => {
      // The process goes: what it says last is not to be taken back by what it has not read.
      if (this.#ended) line.end();
      return line.flushSync?.(timeoutMs) === true;
    };
  }
}

function helloWith(hello: Uint8Array, fields: readonly GreetingField[] | undefined): Uint8Array {
  if (fields === undefined) return hello.slice();
  const whole = joined([hello.subarray(0, FIELDS_AT), fieldBytes(fields)]);
  new Int32Array(whole.buffer, 0, 1)[0] = frameHead(HELLO, whole.length - FRAME_HEADER_BYTES);
  return whole;
}
