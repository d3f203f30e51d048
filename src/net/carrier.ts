// The carrier of this thread's networks, where it blocks.
import { UsageError } from '../errors.ts';
import { HERE } from '../platform/here.ts';
import type { StreamLink } from '../port/stream-link.ts';
import { RESUMES } from '../transport/network/heard.ts';
import { requestTold } from '../transport/network/upgrade-request.ts';
import type { CarriedStream } from '../transport/process/carried-stream.ts';
import { CarrierHost, listenerHold } from '../transport/process/carrier-host.ts';
import type { Answer, Greeting } from '../transport/stream/greeting.ts';
import { NET_CARRIER } from './carrier-source.ts';
import type { Accepted, ConnectAsk, ListenAsk, NetAsk, NetNews } from './carrier-words.ts';
import type { Begun } from './connecting.ts';
import { answerTo, type Doorkeeper, identify } from './identity.ts';
import type { BoundLines } from './lines.ts';

/** Who has connected to a listener. */
export interface Guest {
  readonly stream: CarriedStream;
  readonly kind: string;
  answer(peer: Greeting): Answer | Promise<Answer>;
  /** From here on what comes goes to the link's connection. */
  connect(link: StreamLink): void;
}

interface Listening {
  readonly doorkeeper: Doorkeeper;
  connected(guest: Guest): void;
}

class NetCarrier {
  readonly #host: CarrierHost;
  readonly #listening = new Map<number, Listening>();
  /** Lines of which the carrier tells when the other side has their last words, also once they are over here. */
  readonly #saying = new Map<number, CarriedStream>();
  /** Who is told whether a line's session has a line. */
  readonly #apart = new WeakMap<CarriedStream, (apart: boolean) => void>();

  constructor() {
    this.#host = new CarrierHost(NET_CARRIER, HERE, {
      told: (news) => this.#told(news as NetNews),
      lost: () => {
        if (own === this) own = undefined;
        for (const stream of this.#saying.values()) stream.lastIsSaid();
        this.#saying.clear();
      },
    });
  }
  #say(ask: NetAsk): void {
    this.#host.say(ask);
  }

  /** @throws (rejects) as `dialLine` */
  async connect(how: ConnectAsk, apart: (apart: boolean) => void, signal: AbortSignal): Promise<Begun> {
    let number = 0;
    const ask = (line: CarriedStream): NetAsk => {
      number = line.number;
      // Before anything is told of it.
      this.#expectLast(line);
      return { of: number, ask: 'connect', memory: line.memory, ...how };
    };
    const stream = await clonable(() => this.#host.connect(ask, signal)).catch((error) => {
      this.#saying.delete(number);
      throw error;
    });
    this.#apart.set(stream, apart);
    return { stream, met() {}, connect: (connection) => stream.connect(connection) };
  }

  /** @throws (rejects) as `bindLines` */
  async listen(
    how: Omit<ListenAsk, 'asks'>,
    doorkeeper: Doorkeeper,
    connected: (guest: Guest) => void,
  ): Promise<BoundLines & { close(): Promise<void> }> {
    const host = this.#host;
    const of = host.newNumber();
    this.#listening.set(of, { doorkeeper, connected });
    try {
      const ask: NetAsk = { of, ask: 'listen', ...how, asks: doorkeeper.authorize !== undefined };
      const { address } = await clonable(() => host.ask(ask));
      const hold = listenerHold(host);
      const close = async (): Promise<void> => {
        await host.unlisten(of);
        hold(false);
        this.#listening.delete(of);
      };
      return { address: address as string, hold, close };
    } catch (error) {
      this.#listening.delete(of);
      throw error;
    }
  }

  #expectLast(stream: CarriedStream): void {
    stream.expectLast();
    this.#saying.set(stream.number, stream);
  }
  #told(news: NetNews): void {
    if (news.news === 'said') {
      this.#saying.get(news.of)?.lastIsSaid();
      this.#saying.delete(news.of);
    } else if (news.news === 'apart') {
      const line = this.#host.lineOf(news.of);
      if (line !== undefined) this.#apart.get(line)?.(news.apart);
    } else if (news.news === 'whoIs') {
      const { of, question, token, request } = news;
      const doorkeeper = this.#listening.get(of)?.doorkeeper;
      const asked = doorkeeper && identify(doorkeeper, token, requestTold(request));
      void Promise.resolve(asked).then((identity) => this.#say({ of, ask: 'is', question, identity }));
    } else if (news.news === 'accepted') this.#accepted(this.#listening.get(news.of), news);
  }
  #accepted(listening: Listening | undefined, { line: of, kind, request, session }: Accepted): void {
    const stream = this.#host.line(of);
    this.#say({ of, ask: 'take', memory: stream.memory });
    if (listening === undefined) {
      stream.destroy();
      return;
    }
    this.#expectLast(stream);
    let link: StreamLink | undefined;
    const greeted = {
      request: requestTold(request),
      resumes: { features: RESUMES, ...(session && { resume: { session, heard: 0 } }) },
      link: () => link,
      identified: (identity: string | undefined) => this.#say({ of, ask: 'identified', identity }),
    };
    listening.connected({
      stream,
      kind,
      answer: (peer) => answerTo(peer, greeted, listening.doorkeeper),
      connect: (it) => {
        link = it;
        this.#apart.set(stream, (apart) => it.apart(apart));
        stream.connect(it.connection);
      },
    });
  }
}

/** @throws (rejects) UsageError ERR_OPTION, which does not show it, for what cannot go to the other thread */
async function clonable<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if ((cause as Error).name !== 'DataCloneError') throw cause;
    const text =
      'Option tls cannot go to the thread that has the lines (blocking: true): it takes texts and bytes, in PEM';
    throw new UsageError('ERR_OPTION', text, { option: 'tls', cause });
  }
}

let own: NetCarrier | undefined;

/** That of this thread. */
export function netCarrier(): NetCarrier {
  own ??= new NetCarrier();
  return own;
}
