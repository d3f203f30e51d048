// Listens for other machines: an async iterable of ports, one for each who connects. A line is read up to the end of its first words, which say whether it is for a
// session that there is, or begins one.
import { platform, platformStart } from '#platform';
import { UsageError } from '../errors.ts';
import * as limits from '../limits.ts';
import {
  LISTENER_COUNTS,
  LinkListener,
  type Listener,
  type ListenerCounts,
  resolveCounts,
} from '../port/link-listener.ts';
import { checked, type NumberRule } from '../port/options.ts';
import { parseNetAddress } from '../transport/network/address.ts';
import { FreshLine } from '../transport/network/fresh-line.ts';
import { RESUMES } from '../transport/network/heard.ts';
import type { Line } from '../transport/network/line.ts';
import { ResumingStream } from '../transport/network/resuming-stream.ts';
import { StreamConnection } from '../transport/stream/connection.ts';
import { CODE_IDENTITY, CODE_NAME } from '../transport/stream/frames.ts';
import type { Answer, Greeting } from '../transport/stream/greeting.ts';
import { bindLines } from './lines.ts';
import { type NetChoice, type ResolvedNetChoice, resolveNetChoice, TOKEN } from './options.ts';
import { resumingMedium } from './resuming-medium.ts';
import { type Session, Sessions } from './sessions.ts';
import { watchSilence } from './watch.ts';

/** Who wants to be let in, with each line anew. */
export interface Visitor {
  /** The address that the line comes from, as the system says. */
  readonly from: string;
  /** What `connect` was given; anybody may say anything. */
  readonly token: string | undefined;
}

/** A text: who it is, and who alone goes on with this connection over another line. `true` is somebody. Else nobody. */
export type Identity = string | boolean | undefined;

export interface ListenOptions extends NetChoice, ListenerCounts {
  /**
   * Who may connect; by default all who reach the address. It is asked before a port comes out of the iteration, for each line anew, also for those that go on
   * with a connection; what it throws, or rejects with, is reported, and lets nobody in. `port.link.identity` is what it has said.
   */
  readonly authorize?: ((visitor: Visitor) => Identity | PromiseLike<Identity>) | undefined;
  /** Connections without a line that are kept; default 256. The one that has waited longest ends as `lost` for a further one. */
  readonly maxParkedSessions?: number | undefined;
  /** Bytes that those keep together, of what was said and is not known to have been heard; default 64 MiB. */
  readonly maxParkedBytes?: number | undefined;
}

const BOUNDS: Readonly<Record<'maxParkedSessions' | 'maxParkedBytes', NumberRule>> = {
  maxParkedSessions: { fallback: limits.SESSIONS_PARKED_DEFAULT, min: 0, max: 1_000_000 },
  maxParkedBytes: { fallback: limits.SESSIONS_PARKED_BYTES_DEFAULT, min: 0, max: Number.MAX_SAFE_INTEGER },
};

/**
 * Listens at an address: `for await (const port of await listen(address))`. Each who connects comes as a port; `port.link` has what else there is over the
 * same connection. **Whoever can reach the address can connect to it**, unless `authorize` says otherwise; it is this machine's own unless a host says otherwise.
 * @param address `tcp:host:port`, `tcp:port` for 127.0.0.1; port 0: any that is free
 * @throws (rejects) UsageError ERR_OPTION; AddressError ERR_ADDRESS_IN_USE, ERR_LISTEN
 */
export async function listen(address: string, options: ListenOptions = {}): Promise<Listener> {
  const at = parseNetAddress(address);
  const choice = resolveNetChoice(at, options, ['authorize', ...Object.keys(BOUNDS), ...LISTENER_COUNTS]);
  const bounds = { ...choice, ...resolveCounts(options) };
  const of = (name: keyof typeof BOUNDS): number => checked(name, options[name], BOUNDS[name]) as number;
  const sessions = new Sessions({ maxParked: of('maxParkedSessions'), maxParkedBytes: of('maxParkedBytes') });
  const { authorize } = options;
  if (authorize !== undefined && typeof authorize !== 'function') {
    const text = `Option authorize cannot be ${String(authorize)}: it takes a function`;
    throw new UsageError('ERR_OPTION', text, { option: 'authorize', value: authorize });
  }
  let hall: Hall | undefined;
  const early: [Line, string][] = [];
  const bound = await bindLines(at, choice.pingMs, (line, from) => {
    if (hall === undefined) early.push([line, from]);
    else hall.enter(line, from);
  });
  const listener: LinkListener = new LinkListener(
    {
      address: bound.address,
      hold: (held) => bound.hold(held),
      // Who has lost its line is to find back as long as it may say what it has to say.
      close: (over) =>
        over.then(() => {
          bound.close();
          sessions.close();
        }),
    },
    bounds,
  );
  hall = new Hall(listener, sessions, { ...bounds, authorize });
  for (const [line, from] of early) hall.enter(line, from);
  return listener;
}

interface HallOptions extends ResolvedNetChoice {
  readonly maxConnections: number;
  readonly authorize: ListenOptions['authorize'];
}

/** Where lines are until it is known what they are for. */
class Hall {
  readonly #listener: LinkListener;
  readonly #sessions: Sessions;
  readonly #options: HallOptions;
  readonly #fresh = new Set<FreshLine>();

  constructor(listener: LinkListener, sessions: Sessions, options: HallOptions) {
    this.#listener = listener;
    this.#sessions = sessions;
    this.#options = options;
  }

  enter(line: Line, from: string): void {
    const { maxConnections, timeoutMs } = this.#options;
    if (this.#fresh.size >= maxConnections) {
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
      left();
      if (greeting?.resume === undefined) this.#begin(fresh, from);
      else void this.#goOn(fresh, from, greeting, bytes);
    }, left);
  }

  // ---- a session begins -----------------------------------------------------------------------------------------------

  #begin(fresh: FreshLine, from: string): void {
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
      keptMore: () => this.#sessions.bound(),
      over: () => {
        unwatch();
        this.#sessions.delete(session, name);
      },
    });
    const session: Session = { stream, identity: '', link: undefined };
    let unwatch = (): void => {};
    this.#listener.take({
      stream,
      medium: resumingMedium(stream, resume),
      options: { answer: (peer) => this.#answer(session, peer, from) },
      connect: (link) => {
        session.link = link;
        if (name !== undefined) this.#sessions.add(session);
        unwatch = watchSilence(link.connection, pingMs, () => {});
        stream.connect(link.connection, fresh);
      },
    });
  }
  #answer(session: Session, peer: Greeting, from: string): Answer | PromiseLike<Answer> {
    const { stream } = session;
    const answer = (peer.features & RESUMES) === 0 ? undefined : stream.greeting;
    return this.#whoIs(peer, from, (identity) => {
      if (identity === undefined) session.link?.connection.refuse(CODE_IDENTITY, 'it is not let in');
      else {
        session.identity = identity;
        if (session.link !== undefined && this.#options.authorize !== undefined) session.link.identity = identity;
      }
      return answer;
    });
  }

  // ---- one goes on ----------------------------------------------------------------------------------------------------

  async #goOn(fresh: FreshLine, from: string, greeting: Greeting, bytes: number): Promise<void> {
    const { session: name, heard } = greeting.resume as NonNullable<Greeting['resume']>;
    const identity = await this.#whoIs(greeting, from, (it) => it);
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

  /** At once where the program says so at once. */
  #whoIs<T>({ fields }: Greeting, from: string, then: (identity: string | undefined) => T): T | Promise<T> {
    const { authorize } = this.#options;
    if (authorize === undefined) return then('');
    const bytes = fields.find(({ kind }) => kind === TOKEN)?.bytes;
    const token = bytes === undefined ? undefined : new TextDecoder().decode(bytes);
    const failed = (error: unknown): T => {
      platform.reportError(error);
      return then(undefined);
    };
    try {
      const said = authorize({ from, token });
      if (!isPromise(said)) return then(identityOf(said));
      return Promise.resolve(said).then((it) => then(identityOf(it)), failed);
    } catch (error) {
      return failed(error);
    }
  }
}

function identityOf(said: Identity): string | undefined {
  return said === true ? '' : typeof said === 'string' ? said : undefined;
}
function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as Partial<PromiseLike<T>> | undefined)?.then === 'function';
}
/** 128 bits. */
function randomName(): Uint8Array {
  return new Uint8Array(Uint32Array.from(platformStart.randomWords(4)).buffer);
}
