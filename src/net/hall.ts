// Where lines are until it is known what they are for: each is read up to the end of its first words, which say whether it is for a session that there is, or begins
// one; and whoever it comes from is asked for each line anew.
import { platform, platformStart } from '#platform';
import type { LinkListener, ListenerBounds } from '../port/link-listener.ts';
import { FreshLine } from '../transport/network/fresh-line.ts';
import { RESUMES } from '../transport/network/heard.ts';
import type { Line } from '../transport/network/line.ts';
import { ResumingStream } from '../transport/network/resuming-stream.ts';
import type { UpgradeRequest } from '../transport/network/upgrade-request.ts';
import { StreamConnection } from '../transport/stream/connection.ts';
import { CODE_IDENTITY, CODE_NAME } from '../transport/stream/frames.ts';
import type { Answer, Greeting } from '../transport/stream/greeting.ts';
import { type ResolvedNetChoice, TOKEN } from './options.ts';
import { resumingMedium } from './resuming-medium.ts';
import type { Session, Sessions } from './sessions.ts';
import { watchSilence } from './watch.ts';

/** Who wants to be let in, with each line anew: what its request has said, where it came by a WebSocket. */
export interface Visitor extends UpgradeRequest {
  /** What `connect` was given; anybody may say anything. */
  readonly token: string | undefined;
}

/** A text: who it is, and who alone goes on with this connection over another line. `true` is somebody. Else nobody. */
export type Identity = string | boolean | undefined;
export type Authorize = (visitor: Visitor) => Identity | PromiseLike<Identity>;

export interface HallOptions extends ResolvedNetChoice, ListenerBounds {
  readonly authorize: Authorize | undefined;
}

export class Hall {
  readonly #listener: LinkListener;
  readonly #sessions: Sessions;
  readonly #options: HallOptions;
  readonly #fresh = new Set<FreshLine>();
  #closed = false;

  constructor(listener: LinkListener, sessions: Sessions, options: HallOptions) {
    this.#listener = listener;
    this.#sessions = sessions;
    this.#options = options;
  }

  /** Lets nobody in any more. */
  close(): void {
    this.#closed = true;
    for (const { line } of this.#fresh) line.destroy();
    this.#sessions.close();
  }

  enter(line: Line, kind: string, request: UpgradeRequest): void {
    const { maxConnections, timeoutMs } = this.#options;
    if (this.#closed || this.#fresh.size >= maxConnections) {
      line.destroy();
      return;
    }
    const fresh = new FreshLine(line);
    const left = (): void => void this.#fresh.delete(fresh);
    this.#fresh.add(fresh);
    platform.later(() => {
      if (this.#fresh.delete(fresh)) line.destroy();
    }, timeoutMs);
    fresh.read(({ greeting, bytes }) => {
      if (greeting?.resume === undefined) {
        left();
        this.#begin(fresh, kind, request);
      } else void this.#goOn(fresh, request, greeting, bytes).finally(left);
    }, left);
  }

  // ---- a session begins -----------------------------------------------------------------------------------------------

  #begin(fresh: FreshLine, kind: string, request: UpgradeRequest): void {
    const { resume, resumeMs, pingMs } = this.#options;
    const name = resume ? randomName() : undefined;
    const stream: ResumingStream = new ResumingStream(fresh.line, {
      session: name,
      resumeMs,
      parked: () => {
        session.link?.apart(true);
        this.#sessions.park(session);
      },
      resumed: () => {
        this.#sessions.resumed(session);
        session.link?.apart(false);
      },
      keptMore: () => this.#sessions.keptMore(session),
      over: () => {
        unwatch();
        this.#sessions.delete(session, name);
      },
    });
    const session: Session = { stream, identity: ANYBODY, link: undefined };
    let unwatch = (): void => {};
    this.#listener.take({
      stream,
      medium: resumingMedium(stream, resume),
      options: { way: { name: kind }, answer: (peer) => this.#answer(session, peer, request) },
      connect: (link) => {
        session.link = link;
        if (name !== undefined) this.#sessions.add(session);
        unwatch = watchSilence(link.connection, pingMs, () => {});
        stream.connect(link.connection, fresh);
      },
    });
  }
  #answer(session: Session, peer: Greeting, request: UpgradeRequest): Answer | Promise<Answer> {
    const answer = (peer.features & RESUMES) === 0 ? undefined : session.stream.greeting;
    if (this.#options.authorize === undefined) return answer;
    return this.#whoIs(peer, request).then((identity) => {
      const { link } = session;
      if (identity === undefined) link?.connection.refuse(CODE_IDENTITY, 'it is not let in');
      else if (link !== undefined) link.identity = identity;
      session.identity = identity;
      return answer;
    });
  }

  // ---- one goes on ----------------------------------------------------------------------------------------------------

  async #goOn(fresh: FreshLine, request: UpgradeRequest, greeting: Greeting, bytes: number): Promise<void> {
    const { session: name, heard } = greeting.resume as NonNullable<Greeting['resume']>;
    const identity = await this.#whoIs(greeting, request);
    if (fresh.ended) return;
    const session = this.#sessions.find(name);
    if (session === undefined || session.identity !== identity || session.stream.session === undefined) {
      this.#refuse(fresh);
      return;
    }
    const hello = session.stream.hello();
    fresh.line.write(hello);
    session.stream.resume(fresh, heard, bytes);
  }
  /** Whoever asks for a session learns only that there is none for it. */
  #refuse(fresh: FreshLine): void {
    const { connection: options } = this.#options;
    const events = { opened(): void {}, ended(): void {} };
    const connection = new StreamConnection(
      fresh.line,
      { ...options, initiator: false, answer: () => undefined },
      events,
    );
    connection.refuse(CODE_NAME, 'there is no such session');
    fresh.give(connection);
  }

  /** `undefined`: nobody who is let in. */
  async #whoIs({ fields }: Greeting, request: UpgradeRequest): Promise<string | undefined> {
    const { authorize } = this.#options;
    if (authorize === undefined) return ANYBODY;
    const bytes = fields.find(({ kind }) => kind === TOKEN)?.bytes;
    const token = bytes === undefined ? undefined : new TextDecoder().decode(bytes);
    try {
      return identityOf(await authorize({ ...request, token }));
    } catch (error) {
      platform.reportError(error);
      return undefined;
    }
  }
}

/** Who was not asked who it is, or is just let in. */
const ANYBODY = '';

function identityOf(said: Identity): string | undefined {
  return said === true ? ANYBODY : typeof said === 'string' ? said : undefined;
}
/** 128 bits. */
function randomName(): Uint8Array {
  return new Uint8Array(Uint32Array.from(platformStart.randomWords(4)).buffer);
}
