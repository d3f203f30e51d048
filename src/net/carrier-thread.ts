// The carrier of networks: it has the lines, finds others in their place, and lets in who comes; sessions are here, and their connections in the thread that blocks. What it
// asks that thread is who it is that comes.
import { CARRIER_ACCEPTED_MAX } from '../limits.ts';
import type { Line } from '../transport/network/line.ts';
import { RelayedSession } from '../transport/network/relayed-session.ts';
import { toldRequest, type UpgradeRequest } from '../transport/network/upgrade-request.ts';
import { lookForPackagesFrom } from '../transport/network/ws-package.ts';
import { carry, from, lines, serve, tell as tellAny } from '../transport/process/carrier-service.ts';
import type { NetAsk, NetNews } from './carrier-words.ts';
import { type Coming, Hall, type HallHost } from './hall.ts';
import { ANYBODY } from './identity.ts';
import { type BoundLines, bindLines, dialLine } from './lines.ts';
import { refusedFor } from './origins.ts';
import { redialled } from './redialling.ts';
import type { Session } from './sessions.ts';

const tell = (news: NetNews): void => tellAny(news);
type Of<A extends string> = Extract<NetAsk, { ask: A }>;

/** What gives up a connection that is not there yet. */
const dialling = new Map<number, AbortController>();
const listeners = new Map<number, { readonly bound: BoundLines; readonly hall: Hall }>();
/** Who has connected and was not taken yet. */
const accepted = new Map<number, (memory: SharedArrayBuffer) => void>();
/** Whose identity the thread is about to tell. */
const unknown = new Map<number, Session>();
let numbers = 0;
/** What the thread was asked. */
const questions = new Map<number, (identity: string | undefined) => void>();
let asked = 0;

lookForPackagesFrom(from);

async function connectTo({ of, memory, to, tls, timeoutMs, resumeMs, pingMs }: Of<'connect'>): Promise<void> {
  const giveUp = new AbortController();
  dialling.set(of, giveUp);
  try {
    const dial = (signal: AbortSignal): Promise<Line> => dialLine(to, { pingMs, webSocket: undefined, tls }, signal);
    const apart = (apart: boolean): void => tell({ of, news: 'apart', apart });
    const { stream, connect } = await redialled({ timeoutMs, resumeMs, pingMs, dial, apart }, giveUp.signal);
    const relayed = new RelayedSession(stream);
    carry(of, memory, relayed);
    connect(relayed);
    void stream.lastSaid.then(() => tell({ of, news: 'said' }));
    tell({ of, news: 'there' });
  } finally {
    dialling.delete(of);
  }
}

async function listenAt({ of, at, tls, origins, hall: options, asks }: Of<'listen'>): Promise<void> {
  const host: HallHost = {
    begins: (session, coming) => begins(of, session, coming, asks),
    whoIs: (token, request) => (asks ? whoIs(of, token, request) : Promise.resolve(ANYBODY)),
  };
  const hall = new Hall(host, options);
  const { pingMs, timeoutMs } = options;
  const refuses = (request: UpgradeRequest): number | undefined => refusedFor(origins, request);
  const bound = await bindLines(at, { pingMs, timeoutMs, tls, refuses }, (line, request) =>
    hall.enter(line, at.kind, request),
  );
  listeners.set(of, { bound, hall });
  tell({ of, news: 'there', address: bound.address });
}
function begins(of: number, session: Session, { kind, request, connect }: Coming, asks: boolean): void {
  // The thread blocks, or does not look: who comes now finds nobody.
  if (accepted.size >= CARRIER_ACCEPTED_MAX) {
    session.stream.lose(new Error('nobody looks'));
    return;
  }
  const line = --numbers;
  session.apart = (apart) => tell({ of: line, news: 'apart', apart });
  accepted.set(line, (memory) => {
    const relayed = new RelayedSession(session.stream);
    carry(line, memory, relayed, () => unknown.delete(line));
    connect(relayed);
    void session.stream.lastSaid.then(() => tell({ of: line, news: 'said' }));
  });
  if (asks) unknown.set(line, session);
  tell({ of, news: 'accepted', line, kind, request: toldRequest(request), session: session.stream.session });
}
function whoIs(of: number, token: string | undefined, request: UpgradeRequest): Promise<string | undefined> {
  const question = ++asked;
  return new Promise((resolve) => {
    questions.set(question, resolve);
    tell({ of, news: 'whoIs', question, token, request: toldRequest(request) });
  });
}

async function answer(ask: NetAsk): Promise<void> {
  const { of } = ask;
  switch (ask.ask) {
    case 'connect':
      return connectTo(ask);
    case 'listen':
      return listenAt(ask);
    case 'unlisten': {
      const { bound, hall } = listeners.get(of) ?? {};
      listeners.delete(of);
      await hall?.lastSaid();
      const closed = bound?.close();
      hall?.close();
      await closed;
      tell({ of, news: 'unlistened' });
      return;
    }
    case 'take':
      accepted.get(of)?.(ask.memory);
      accepted.delete(of);
      return;
    case 'identified': {
      const session = unknown.get(of);
      unknown.delete(of);
      if (session !== undefined) session.identity = ask.identity;
      return;
    }
    case 'is':
      questions.get(ask.question)?.(ask.identity);
      questions.delete(ask.question);
      return;
    case 'ends':
      lines.get(of)?.ending();
      return;
    default:
      dialling.get(of)?.abort(new Error('given up'));
      lines.get(of)?.destroy();
  }
}

serve(
  (ask) => answer(ask as NetAsk),
  () => {
    for (const { bound, hall } of listeners.values()) {
      void bound.close();
      hall.close();
    }
  },
);
