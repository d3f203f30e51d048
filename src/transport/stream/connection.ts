// A connection: one byte stream each way between two agents, with many channels in it. Greets, opens channels, and ends when either
// side does, when the stream does, or when what comes can be no frames (incoming.ts). Its length is that of what it says of itself.
import { platform } from '#platform';
import { LayoutError, RefusedError, UsageError } from '../../errors.ts';
import { TIMEOUT_MS_MAX } from '../../limits.ts';
import type { EndReason } from '../../outcome.ts';
import type { ThreadEnd } from '../../platform/contract.ts';
import type { LastWords } from '../thread-end.ts';
import type { CloseOptions, ExitStatus, Leaving, Link, Way } from '../transport.ts';
import type { ChannelWish, StreamChannel } from './channel.ts';
import { ChannelBook } from './channel-book.ts';
import { type Exiting, endTogether, exitWithThread, forgetExit, guarded } from './exits.ts';
import { type FeatureFrame, FeatureFrames } from './feature-frames.ts';
import { FrameWriter } from './frame-writer.ts';
import * as frames from './frames.ts';
import {
  type Answer,
  fieldBytes,
  type Greeting,
  type GreetingOptions,
  greetingFor,
  greetingOf,
  greetingWords,
  noCommonTongue,
} from './greeting.ts';
import { Incoming } from './incoming.ts';
import { type CrashTold, type Goodbye, goodbyeOf } from './last-words.ts';
import { checkRefusal, type Opening } from './opening.ts';
import { Pressure } from './pressure.ts';

/** The medium: reliable, in order, whole bytes. */
export interface ByteStream {
  /**
   * Takes bytes, which are the caller's again when it returns. Never blocks. False: it has taken them, that is enough for now, and it
   * will call `drained`, whatever it says of further writes until then, which come. Once it has them it may call back from within itself: `received`, unless a chunk is just being taken in, `drained` and
   * `closed`. One that throws breaks the line: the connection ends as `lost` in a turn to come, and nobody who posts or reads has it thrown at.
   */
  write(bytes: Uint8Array): boolean;
  /**
   * Where the medium writes once a turn: whether it calls `say` before it does, and before it is flushed, for what is to go with that. Once for each call
   * of this that says true.
   */
  beforeWrite?(say: () => void): boolean;
  /**
   * Nothing follows; what was written still goes out. What comes is still to be taken off the medium, for a while, or until the other side has ended
   * its own: a line that goes with something unread may take back what it has sent. A medium without `flushSync` keeps the process as long.
   */
  end(): void;
  /** Where `end` alone leaves that open: when what was written last is with the other side, or never will be; in two seconds at the most behind `end`. Never rejects. */
  readonly lastSaid?: Promise<void> | undefined;
  /** Keeps the process alive, or lets it go. At the start it lets it go. It calls nobody back meanwhile. */
  hold(held: boolean): void;
  /**
   * Where the medium can: hands all that it was given to whoever carries it on without this thread, and waits with the thread for that,
   * so many milliseconds at the most; 0: what goes without waiting. True: all of it is out, nothing takes it back when the thread is gone, and it
   * takes more. Called when the thread ends and has no other turn, also after `end`, and again in turns with other connections as long as it
   * says false at the end of its time; before that, false says that the line takes nothing any more. It calls nobody back meanwhile.
   */
  readonly flushSync?: ((timeoutMs: number) => boolean) | undefined;
  /**
   * Where the medium can: waits with the thread until something has happened, and hands it over before it returns (`received`, `drained`,
   * `closed`). False: the time limit passed first, or nothing will come any more. 0 only looks.
   */
  receiveSync?: ((timeoutMs: number) => boolean) | undefined;
}

export interface ConnectionOptions extends GreetingOptions {
  /** Exactly one side is: its channels have odd numbers, those of the other side even ones. */
  readonly initiator: boolean;
  /**
   * Waits for the initiator's greeting before it says its own: that of these options, with what this returns in their place, or with what
   * the promise that it returns comes to. It may `refuse`, or close, until then; how long it may take is the door's to say. Meanwhile what else is said waits, and
   * so does what comes, up to `STREAM_EARLY_BYTES_MAX`, but for the peer's end. What it throws, or rejects with before the connection has ended, is reported, and the
   * peer is refused.
   */
  readonly answer?: ((peer: Greeting) => Answer | PromiseLike<Answer>) | undefined;
  /** Frames of features that this side knows. */
  readonly featureFrames?: readonly FeatureFrame[] | undefined;
  /** Required features, and required flags of channels, that this side knows. */
  readonly knownFeatures?: number | undefined;
  readonly knownFlags?: number | undefined;
  /** Bytes taken on a channel before they are acknowledged, unless it is told otherwise; rounded up to a power of two. */
  readonly windowBytes?: number | undefined;
  /** Of the channels that a peer may have open, those that nobody here has accepted yet. */
  readonly waitingMax?: number | undefined;
  /** What the peer is told of an exception that ends this thread; by default all but its stack, which says where files lie. */
  readonly crashTold?: CrashTold | undefined;
  /**
   * When the thread ends: waits with it until what goes beside the medium's bytes is out, so many milliseconds at the most; false at the end of that time.
   * The goodbye comes behind it.
   */
  readonly flushBeside?: ((timeoutMs: number) => boolean) | undefined;
  /** By what the bytes go, for whoever asks a port. */
  readonly way?: Way | undefined;
}

/**
 * Called in the middle of `received` and of calls of this side's: what is posted then comes before the message in whose middle that is, unless
 * that was taken already. What one throws is reported as a listener's error is.
 */
export interface ConnectionEvents {
  /** The peer has said its first words: it is one that speaks as we do. Both sides know now what holds. */
  greeted?(peer: Greeting): void;
  /** The peer has opened a channel that nobody has asked for here. `accept` it or `refuse` it, now or later; or `open` its name. */
  opened(opening: Opening): void;
  /** The peer opens and accepts nothing any more; the channels that there are go on, and it ends with the last of them. */
  leaving?(leaving: Leaving): void;
  /** There is no channel any more, also none that waits. */
  idle?(): void;
  /** It is over; all its channels are. `error` says what was wrong, or what the peer died of, if something was. */
  ended(reason: EndReason, error: unknown): void;
}

export class StreamConnection implements Link, Exiting {
  /** What channels say goes through it, and what they wait for while the medium has enough. */
  readonly frames: FrameWriter;
  readonly pressure: Pressure;
  way: Way | undefined;
  ended: EndReason | undefined;
  /** What it ended of, where that is known. */
  error: unknown;
  /** How the peer's process ended: as it has said itself, or as the medium has learned. */
  exit: ExitStatus | undefined;
  leaving: Leaving | undefined;
  peerLeaving: Leaving | undefined;
  /** A goodbye is about to be said, which ends all channels: none says its own end. */
  parting = false;
  /** Chunks that came. Who heard nothing for a while may `ping`; silence alone ends nothing. */
  heard = 0;
  readonly #stream: ByteStream;
  readonly #events: ConnectionEvents;
  readonly #options: ConnectionOptions;
  readonly #incoming: Incoming;
  readonly #book: ChannelBook;
  readonly #features: FeatureFrames;
  #greeted = false;
  #holds = 0;
  #pings = 0;
  /** What is said last, once it is about to be. */
  #goodbye: Goodbye | undefined;
  /** It ends with its last channel, for this reason. */
  #endsAs: EndReason | undefined;
  /** The time for that is over then. */
  #deadline: ReturnType<typeof setTimeout> | undefined;

  /**
   * Greets at once, within this call, but for one that has an `answer`. From then on `received` is to be given what comes.
   * @throws UsageError ERR_OPTION
   */
  constructor(stream: ByteStream, options: ConnectionOptions, events: ConnectionEvents) {
    if (options.initiator && options.answer !== undefined) {
      throw new UsageError(
        'ERR_OPTION',
        'Option answer is for the side that did not connect: two that wait say nothing',
        {
          option: 'answer',
        },
      );
    }
    this.#options = options;
    this.#book = new ChannelBook(this, greetingFor(options), options, {
      opened: (opening) => this.#tell(() => events.opened(opening)),
      emptied: () => this.#emptied(),
    });
    this.way = options.way;
    this.#stream = stream;
    this.frames = new FrameWriter(stream, () => this.#tear());
    this.pressure = new Pressure(this.frames);
    this.#features = new FeatureFrames(options.featureFrames ?? [], () => this.features ?? 0);
    this.#incoming = new Incoming(this.#book, this.frames, this.pressure, this.#features, {
      greeting: (words) => this.#greetedBy(words),
      reset: (code, text) => this.#resetBy(code, text),
      leaving: (timeMs, text) => this.#leftBy(timeMs, text),
      goodbye: (words) => this.#saidGoodbye(words),
      tooEarly: () => this.refuse(frames.CODE_FULL, 'it was said too much before it was answered'),
    });
    this.#events = events;
    if (options.answer === undefined) {
      this.#greet();
      this.frames.flush();
    }
    exitWithThread(this);
  }

  /** What both sides do beyond the protocol's first version: the same bits here and there. `undefined` before both have greeted. */
  get features(): number | undefined {
    const { own, peer } = this.#book;
    return peer === undefined || !this.#greeted ? undefined : frames.agreedBits(own.features, peer.features);
  }
  /** What the peer has said of itself. */
  get peer(): Greeting | undefined {
    return this.#book.peer;
  }

  /**
   * The channel of this name: one that the peer has opened and nobody has accepted yet, else a new one. What is sent on that
   * waits until the peer takes part; if it asks for the same name meanwhile, it gets the same channel. One that a peer is asked for which is leaving
   * has ended as `closed`, with a RefusedError.
   * @param wish this side's part; of a channel that the peer has opened it is the peer's where nothing is said
   * @throws UsageError ERR_OPTION for what can be no name of a program's, or no credit
   * @throws UnsupportedError when the connection has ended, is leaving, or has no number left
   */
  open(name = '', wish: ChannelWish = {}): StreamChannel {
    return this.#book.open(name, wish);
  }

  /** Takes part in a channel that the peer has opened. One that is over meanwhile gives a channel that has ended. */
  accept(opening: Opening, wish: ChannelWish = {}): StreamChannel {
    return this.#book.accept(opening, wish);
  }

  /** @see Opening.refuse */
  refuseOpening(opening: Opening, code: number, text: string): void {
    this.#book.refuse(opening, code, text);
  }

  /**
   * Lets the peer know that nobody takes the connection: with all its channels it ends as `closed`, over there with a RefusedError that
   * says `code` and `text`. Nothing of what was accepted and not sent goes out. Does nothing when it is over.
   * @param code 3 to 7 mean what docs/protocol/stream.md says, from 256 on what the two programs agree on
   * @param text for people, 256 bytes at the most; the rest is cut off
   * @throws UsageError ERR_OPTION for another code
   */
  refuse(code: number, text = ''): void {
    checkRefusal(code);
    this.#over('closed', undefined, () => this.frames.reset(0, code, text));
  }

  /** Channels that the peer has opened and nobody has accepted, in the order of their names' first. */
  get waiting(): Iterable<Opening> {
    return this.#book.waiting;
  }
  /** Whether either side has opened a channel of this number; it may be over. */
  knows(number: number): boolean {
    return this.#book.knows(number);
  }
  /** Channels that are not over on both sides, and those that wait. */
  get channels(): number {
    return this.#book.count;
  }

  /** Keeps the process alive as long as anybody wants it. */
  hold(held: boolean): void {
    if (this.ended !== undefined) return;
    const count = this.#holds + (held ? 1 : -1);
    if (count === (held ? 1 : 0)) this.#stream.hold(held);
    // Not before: where the stack has ended on the way there, it is to be said again.
    this.#holds = count;
  }

  /** Asks the peer for a sign, which comes when it returns to its event loop, and counts as heard. */
  ping(): void {
    this.frames.ping(++this.#pings, 0);
  }

  /**
   * Says a frame of a feature, of the connection or of a channel, behind what was said before, and with one `write` of the medium: so what goes beside
   * its bytes can go with them. It waits for no room; what is said where there is none counts among the answers that a peer may leave unread (`STREAM_ANSWERS_MAX`).
   * Nothing is said when the connection is over, or the channel.
   * @param words of the body, copied
   * @returns whether the medium takes more: who repeats itself waits for `drained` else. Also false where nothing was said: `ended`, and the channel's, tell
   * @throws UsageError ERR_OPTION for a type that is none of `featureFrames`, or another length; UnsupportedError where it is not agreed on, or not
   *   yet
   */
  say(type: number, words: readonly number[] | Int32Array, channel?: StreamChannel): boolean {
    // Of a requirement of one's own the peer need not be heard first.
    const certain = this.#greeted ? this.#book.own.features & frames.REQUIRED_BITS : 0;
    this.#features.check(type, words, channel, this.features ?? certain);
    if (this.ended !== undefined || channel?.closeSent === true) return false;
    // Not where a getter of a value calls that is being written behind what waits: it has its place there.
    if (channel !== undefined && channel.sink.claimed < 0) channel.sink.publish();
    this.frames.feature(type, channel?.number ?? 0, words);
    return !this.frames.full;
  }

  /** Takes bytes that came; they are the caller's again when it returns. Not to be called inside itself. */
  received(bytes: Uint8Array): void {
    this.heard++;
    if (this.ended !== undefined) return;
    if (this.frames.torn) {
      this.#tear();
      return;
    }
    try {
      this.#incoming.feed(bytes);
    } catch (error) {
      this.#found(error);
    }
  }

  /** Whether a thread can wait for what comes. */
  get blocks(): boolean {
    return this.#stream.receiveSync !== undefined;
  }
  /** Takes what comes, waiting for it with the thread, as ByteStream.receiveSync does; false where the medium cannot. */
  receiveSync(timeoutMs: number): boolean {
    return this.ended === undefined && this.#stream.receiveSync?.(timeoutMs) === true;
  }
  #found(error: unknown): void {
    if (!(error instanceof LayoutError)) throw error;
    this.#break(error, frames.CODE_DAMAGE);
  }

  /** What comes beside its bytes makes no sense, or could not be taken: it ends as `lost`, and the other side is told. */
  damaged(error: LayoutError): void {
    this.#break(error, frames.CODE_DAMAGE);
  }

  /** The medium takes more again, after a `write` that returned false. */
  drained(): void {
    if (this.ended !== undefined) return;
    // In the middle of a write: what that is about to say of the room is older.
    if (this.frames.writing) queueMicrotask(() => this.drained());
    else this.pressure.relieved();
  }

  /**
   * The medium has ended, and the peer has not said goodbye: nothing more will come, nor go out. May be said a little later, by who waits to learn how a
   * process has ended, and sets `exit` before.
   * @param reason what the medium makes of that: `lost`, or `terminated` where it knows that the peer's thread or process is gone
   */
  closed(reason: EndReason, error?: Error): void {
    forgetExit(this);
    const inside = this.#incoming.between ? undefined : new LayoutError('The stream ended inside a frame');
    this.#over(reason, error ?? inside, undefined);
  }

  /** @see Link.leave */
  leave({ timeoutMs, text = '' }: { timeoutMs?: number | undefined; text?: string } = {}): void {
    checkTime(timeoutMs);
    if (this.ended !== undefined) return;
    this.#announce(timeoutMs, text);
    this.#endsAs ??= 'closed';
    this.#emptied();
  }

  /**
   * Ends the connection. What its channels have accepted goes out as far as the peer has given credit; with `drain` all of it, and
   * the connection ends when the peer has taken it, or at the next call without. Meanwhile no channel is opened or accepted.
   */
  close({ drain = false, reason = 'closed', text = '' }: CloseOptions = {}): void {
    if (this.ended !== undefined || (drain && this.#book.ending)) return;
    if (drain) {
      if (this.leaving === undefined) this.#announce(undefined, text);
      this.#endsAs = reason;
      this.#book.end(reason);
      this.#emptied();
    } else this.#part({ reason, text });
  }

  /** Its thread ends, and it alone with it. What its channels have accepted goes out as far as credit and the medium allow. */
  endThread(how: ThreadEnd, words?: Partial<LastWords>): void {
    endTogether([this], how, words);
  }
  beginExit(how: ThreadEnd, { code, thrown }: Partial<LastWords>): boolean {
    if (this.ended === undefined && !this.parting) {
      this.#goodbye = { reason: how, status: code, thrown };
      this.parting = true;
      this.#book.end(how);
    }
    if (this.#stream.flushSync !== undefined) return this.goOnExit(0);
    this.#sayGoodbye();
    return true;
  }
  goOnExit(waitMs: number): boolean {
    const untilMs = performance.now() + waitMs;
    const flush = (): boolean => this.#stream.flushSync?.(Math.max(0, Math.ceil(untilMs - performance.now()))) === true;
    if (this.ended === undefined && this.#options.flushBeside?.(waitMs) === false) return false;
    // Nobody comes back when the medium has room by itself.
    while (this.ended === undefined && this.frames.full) {
      if (!flush()) return false;
      this.frames.full = false;
      this.#book.goOn();
    }
    this.#sayGoodbye();
    return flush();
  }
  finishExit(): void {
    if (this.ended !== undefined) return;
    this.#sayGoodbye();
    this.#stream.flushSync?.(0);
  }

  /** A channel is over on both sides. */
  forget(channel: StreamChannel): void {
    this.pressure.forget(channel);
    this.#book.forget(channel);
  }

  // ---- greeting -----------------------------------------------------------------------------------------------------

  #greet(): void {
    if (this.#greeted) return;
    this.#greeted = true;
    const { own } = this.#book;
    this.frames.hello(greetingWords(own), fieldBytes(own.fields));
  }

  #greetedBy(words: Int32Array): void {
    const error = noCommonTongue(words, this.#options.knownFeatures ?? 0);
    if (error !== undefined) {
      this.#break(error, frames.CODE_VERSION);
      return;
    }
    const peer = greetingOf(words);
    if (this.#greeted) this.#meet(peer);
    else this.#answer(peer);
  }
  #answer(peer: Greeting): void {
    try {
      const answer = this.#options.answer?.(peer);
      if (!isPromise(answer)) {
        this.#answered(peer, answer);
        return;
      }
      this.#incoming.holdBack();
      Promise.resolve(answer)
        .then((answer) => this.#answered(peer, answer))
        .catch((error) => {
          // Whoever is told of the end may give up a look-up, which says so.
          if (this.ended === undefined) this.#cannotAnswer(error);
        });
    } catch (error) {
      this.#cannotAnswer(error);
    }
  }
  /** @throws UsageError if it can be no answer */
  #answered(peer: Greeting, answer: Answer): void {
    if (this.ended !== undefined) return;
    this.#book.own = greetingFor({ ...this.#options, ...answer });
    this.#greet();
    this.#meet(peer);
    try {
      this.#incoming.goOn();
    } catch (error) {
      this.#found(error);
    }
    this.frames.flush();
  }
  /** The other side waits for an answer, and is not to be told what went wrong here. */
  #cannotAnswer(error: unknown): void {
    this.refuse(frames.CODE_FULL);
    platform.reportError(error);
  }
  #meet(peer: Greeting): void {
    this.#book.peer = peer;
    this.#tell(() => this.#events.greeted?.(peer));
  }
  /** Who is told does what it likes, in the middle of what came: what it throws must not take the rest along. */
  #tell(event: () => void): void {
    try {
      event();
    } catch (error) {
      platform.reportError(error);
    }
  }

  // ---- leaving ------------------------------------------------------------------------------------------------------

  /** Says that nothing new begins, once, and again with another time. */
  #announce(timeoutMs: number | undefined, text: string): void {
    if (this.leaving === undefined) this.hold(true);
    this.leaving = { timeoutMs, text };
    this.#book.leave();
    clearTimeout(this.#deadline);
    if (timeoutMs !== undefined) this.#deadline = setTimeout(() => this.close(), timeoutMs);
    this.frames.leaving(timeoutMs === undefined ? 0 : Math.max(1, Math.ceil(timeoutMs)), text);
  }
  #leftBy(timeMs: number, text: string): void {
    this.peerLeaving = { timeoutMs: timeMs === 0 ? undefined : timeMs, text };
    this.#book.left(text);
    const { peerLeaving } = this;
    if (this.ended === undefined) this.#tell(() => this.#events.leaving?.(peerLeaving));
  }
  #emptied(): void {
    if (this.channels > 0 || this.ended !== undefined) return;
    this.#tell(() => this.#events.idle?.());
    if (this.#endsAs !== undefined) this.#part({ reason: this.#endsAs });
  }

  // ---- the end ------------------------------------------------------------------------------------------------------

  #part(goodbye: Goodbye): void {
    // Whoever is told of the end may close us again.
    if (this.parting) return;
    this.#goodbye = goodbye;
    // Also where the stack ends before that was said.
    queueMicrotask(() => this.#sayGoodbye());
    this.parting = true;
    this.frames.last = true;
    this.frames.full = false;
    this.#book.end(goodbye.reason);
    // In the middle of a write what waits goes on behind it, and the goodbye behind that.
    if (!this.frames.writing) this.#sayGoodbye();
  }
  /** What `parting` was about. */
  #sayGoodbye(): void {
    const goodbye = this.#goodbye;
    if (this.ended !== undefined || goodbye === undefined) return;
    this.#book.part();
    this.#over(goodbye.reason, undefined, () => this.frames.goodbye(goodbye, this.#options.crashTold ?? 'message'));
  }
  #saidGoodbye(words: Int32Array): void {
    const { reason, status, error } = goodbyeOf(words);
    if (status !== undefined) this.exit ??= { code: status, signal: undefined };
    const said = this.peerLeaving?.text ?? (error instanceof Error ? error.message : '');
    this.#over(reason, error, () => {}, reason === 'closed' ? said : undefined);
  }
  #resetBy(code: number, text: string): void {
    if (code > frames.CODE_VERSION) {
      const message = `The other side does not take the connection${text === '' ? '' : `: ${JSON.stringify(text)}`}`;
      this.#over('closed', new RefusedError('ERR_REFUSED', message, { refusal: code, text }), () => {});
      return;
    }
    const why = code === frames.CODE_VERSION ? 'it speaks another version' : 'it found damage';
    const said = text === '' ? '' : ` (${JSON.stringify(text)})`;
    const error = new LayoutError(`The other side has ended the connection: ${why}${said}`, { value: code });
    this.#over('lost', error, () => {});
  }
  #tear(): void {
    const { tornBy: cause } = this.frames;
    const fields = cause === undefined ? undefined : { cause };
    this.#over('lost', new LayoutError('The line is broken: a write was not finished', fields), () => {});
  }
  #break(error: LayoutError, code: number): void {
    this.#over('lost', error, () => this.frames.reset(0, code, error.message));
  }

  /**
   * @param say tells the other side; not where its medium has ended
   * @param left what the other side has said as it left, where it has: what it has not answered is refused
   */
  #over(reason: EndReason, error: unknown, say: (() => void) | undefined, left?: string): void {
    if (this.ended !== undefined) return;
    const last = (): void => {
      this.#greet();
      say?.();
      this.frames.flush();
    };
    const steps = say === undefined ? [] : [last, () => this.#stream.end()];
    steps.push(
      () => this.#cut(reason, error, left),
      () => this.#tell(() => this.#events.ended(reason, error)),
    );
    // Whoever calls is told if the stack ends in the middle; what is left then is done where there is one.
    queueMicrotask(() => {
      for (const step of steps) guarded(step);
    });
    this.ended = reason;
    this.error = error;
    clearTimeout(this.#deadline);
    // We may be in the middle of a chunk: an OPEN behind this would make a channel that nobody ends. What comes is believed no
    // more, also not while the other side is told.
    this.#incoming.stop();
    for (let step = steps[0]; step !== undefined; step = steps[0]) {
      step();
      steps.shift();
    }
  }
  #cut(reason: EndReason, error: unknown, left: string | undefined): void {
    this.frames.over = true;
    // What was said last may still be with the medium.
    if (this.#stream.flushSync === undefined) forgetExit(this);
    if (this.#holds > 0) this.#stream.hold(false);
    this.#holds = 0;
    this.#book.cut(reason, error, left);
  }
}

function isPromise(answer: Answer | PromiseLike<Answer>): answer is PromiseLike<Answer> {
  return typeof (answer as Partial<PromiseLike<Answer>> | undefined)?.then === 'function';
}

function checkTime(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (timeoutMs >= 0 && timeoutMs <= TIMEOUT_MS_MAX)) return;
  throw new UsageError('ERR_OPTION', `Option timeoutMs cannot be ${timeoutMs}: it takes 0 to ${TIMEOUT_MS_MAX}`, {
    option: 'timeoutMs',
    value: timeoutMs,
  });
}
