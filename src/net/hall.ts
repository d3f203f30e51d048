// Where lines are until it is known what they are for: each is read up to the end of its first words, which say whether it is for a session that there is, or begins
// one; and whoever it comes from is asked for each line anew.
import { platform, platformStart } from '#platform';
import { RESUME_LAST_HOLD_MS } from '../limits.ts';
import { FreshLine } from '../transport/network/fresh-line.ts';
import type { Line } from '../transport/network/line.ts';
import { type Resumed, ResumingStream } from '../transport/network/resuming-stream.ts';
import type { UpgradeRequest } from '../transport/network/upgrade-request.ts';
import { FrameWriter } from '../transport/stream/frame-writer.ts';
import { CODE_IDENTITY, CODE_NAME } from '../transport/stream/frames.ts';
import { type Greeting, greetingFor, greetingWords } from '../transport/stream/greeting.ts';
import { ANYBODY, tokenOf } from './identity.ts';
import { Knocks } from './knocks.ts';
import { Leaving } from './leaving.ts';
import { type Session, type SessionBounds, Sessions } from './sessions.ts';
import { type Watched, watchSilence } from './watch.ts';

/** Numbers alone: a hall may be in another thread than its listener. */
export interface HallOptions extends SessionBounds {
  readonly resume: boolean;
  readonly resumeMs: number;
  readonly pingMs: number;
  /** Milliseconds for the first words. */
  readonly timeoutMs: number;
  /** Lines that have not said them. */
  readonly maxConnections: number;
}

/** Somebody whose session begins. */
export interface Coming {
  readonly kind: string;
  readonly request: UpgradeRequest;
  /** From here on what comes goes to whoever speaks over the session. */
  connect(speaker: Resumed & Watched): void;
}
/** Who has a hall. */
export interface HallHost {
  begins(session: Session, coming: Coming): void;
  /** Who it is that wants to go on with a session. */
  whoIs(token: string | undefined, request: UpgradeRequest): Promise<string | undefined>;
}

/** What waits for its time keeps no line, and nothing that is behind it, which has left before. */
interface Waits {
  late: (() => void) | undefined;
}
function tellLate(waits: Waits, timeoutMs: number): void {
  platform.later(() => waits.late?.(), timeoutMs);
}

export class Hall {
  readonly #host: HallHost;
  readonly #sessions: Sessions;
  readonly #options: HallOptions;
  readonly #fresh = new Set<FreshLine>();
  /** Of these, such as have said nothing yet, or ask for a session that is not here, the oldest first: how each leaves. */
  readonly #silent = new Map<FreshLine, () => void>();
  readonly #leaving: Leaving;
  readonly #knocks = new Knocks();
  #closed = false;

  constructor(host: HallHost, options: HallOptions) {
    this.#host = host;
    this.#sessions = new Sessions(options);
    this.#leaving = new Leaving(options.maxConnections);
    this.#options = options;
  }

  /** When those that have no line have come back for last words, or are over, or that takes too long. */
  async lastSaid(): Promise<void> {
    await this.#sessions.lastSaid();
  }
  /** Lets nobody in any more. */
  close(): void {
    this.#closed = true;
    for (const { line } of this.#fresh) line.destroy();
    this.#sessions.close();
  }

  enter(line: Line, kind: string, request: UpgradeRequest): void {
    const { maxConnections, timeoutMs } = this.#options;
    // Whoever says nothing is not to keep others out, who may be about to go on.
    const [dropOldest] = this.#silent.values();
    if (this.#fresh.size >= maxConnections) dropOldest?.();
    if (this.#closed || this.#fresh.size >= maxConnections) {
      line.destroy();
      return;
    }
    const fresh = new FreshLine(line);
    const waits: Waits = { late: undefined };
    const left = (): void => {
      this.#fresh.delete(fresh);
      this.#silent.delete(fresh);
      waits.late = undefined;
    };
    const drop = (): void => {
      left();
      line.destroy();
    };
    this.#fresh.add(fresh);
    this.#silent.set(fresh, drop);
    waits.late = drop;
    tellLate(waits, timeoutMs);
    fresh.read(({ greeting, bytes }) => {
      if (greeting?.resume === undefined) {
        left();
        this.#begin(fresh, kind, request);
        return;
      }
      // Anybody can make up the name of one: nobody is asked about that.
      const session = this.#sessions.find(greeting.resume.session);
      if (session === undefined) {
        left();
        this.#refuse(fresh, CODE_NAME, 'there is no such session');
        return;
      }
      this.#silent.delete(fresh);
      const ask = (): Promise<void> => this.#goOn(fresh, request, greeting, bytes).finally(left);
      this.#knocks.come(session, { ask, drop });
    }, left);
  }

  // ---- a session begins -----------------------------------------------------------------------------------------------

  #begin(fresh: FreshLine, kind: string, request: UpgradeRequest): void {
    const { resume, resumeMs, pingMs } = this.#options;
    const name = resume ? randomName() : undefined;
    let unwatch = (): void => {};
    let over = false;
    const stream: ResumingStream = new ResumingStream(fresh.line, {
      session: name,
      resumeMs,
      parked: () => {
        session.apart(true);
        this.#sessions.park(session);
      },
      resumed: () => {
        this.#sessions.resumed(session);
        session.apart(false);
      },
      keptMore: () => this.#sessions.keptMore(session),
      lasts: () => this.#sessions.lasts(session),
      over: (line, ms) => {
        over = true;
        unwatch();
        this.#sessions.delete(session, name);
        if (line !== undefined) this.#leaving.add(line, ms);
      },
      left: (line) => this.#leaving.forget(line),
    });
    const session: Session = { stream, identity: ANYBODY, apart() {} };
    const connect = (speaker: Resumed & Watched): void => {
      // One may be turned down before.
      if (name !== undefined && !over) this.#sessions.add(session);
      if (!over) unwatch = watchSilence(speaker, stream, pingMs, () => {});
      stream.connect(speaker, fresh);
    };
    this.#host.begins(session, { kind, request, connect });
  }

  // ---- one goes on ----------------------------------------------------------------------------------------------------

  async #goOn(fresh: FreshLine, request: UpgradeRequest, greeting: Greeting, bytes: number): Promise<void> {
    if (fresh.ended) return;
    const { session: name, heard } = greeting.resume as NonNullable<Greeting['resume']>;
    const identity = await this.#host.whoIs(tokenOf(greeting), request);
    // One that was given up here may be told to have ended only later.
    if (fresh.ended || this.#closed || !this.#fresh.has(fresh)) return;
    const session = this.#sessions.find(name);
    if (identity === undefined) {
      this.#refuse(fresh, CODE_IDENTITY, 'it is not let in');
      return;
    }
    if (session === undefined || session.identity !== identity || session.stream.session === undefined) {
      this.#refuse(fresh, CODE_NAME, 'there is no such session');
      return;
    }
    // One that was long on its way is not to take the place of the line that there is.
    if (session.stream.isOld(heard)) {
      fresh.line.destroy();
      return;
    }
    const hello = session.stream.hello();
    fresh.line.write(hello);
    session.stream.resume(fresh, heard, bytes);
  }
  /** Whoever asks for a session learns only whether it is let in to one that there is, and that there is none for it. */
  #refuse(fresh: FreshLine, code: number, text: string): void {
    const { line } = fresh;
    const frames = new FrameWriter(line);
    frames.hello(greetingWords(greetingFor({})), new Uint8Array(0));
    frames.reset(0, code, text);
    frames.flush();
    this.#leaving.add(line, RESUME_LAST_HOLD_MS);
    fresh.give({ received() {}, drained() {}, closed: () => this.#leaving.forget(line) });
    line.end();
  }
}

/** 128 bits. */
function randomName(): Uint8Array {
  return new Uint8Array(Uint32Array.from(platformStart.randomWords(4)).buffer);
}
