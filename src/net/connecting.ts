// A connection that this side has asked for, by whatever leads there.
import { TimeoutError } from '../errors.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { givingUp, greeting } from '../port/link-greeting.ts';
import type { LinkedPort } from '../port/port-link.ts';
import { StreamLink } from '../port/stream-link.ts';
import { settleable } from '../port/waiters.ts';
import type { Line } from '../transport/network/line.ts';
import type { ByteStream, StreamConnection } from '../transport/stream/connection.ts';
import type { Greeting } from '../transport/stream/greeting.ts';
import { fieldsOf, type ResolvedNetChoice, type TokenOption } from './options.ts';
import { orAborted } from './or-aborted.ts';
import { redialled } from './redialling.ts';
import { resumingMedium } from './resuming-medium.ts';

/** What a connection is to go over. */
export interface Begun {
  readonly stream: ByteStream;
  /** What the other side has said first. */
  met(peer: Greeting): void;
  /** From here on what comes goes to the connection. */
  connect(connection: StreamConnection): void;
}
/** @param apart told whether it has no line */
export type Begin = (apart: (apart: boolean) => void, signal: AbortSignal) => Promise<Begun>;

export interface Connecting extends ResolvedNetChoice {
  /** For people. */
  readonly where: string;
  /** What its lines are. */
  readonly kind: string;
  readonly token: TokenOption;
  readonly signal: AbortSignalLike | undefined;
  readonly begin: Begin;
  /** What is told where it takes too long, in the place of our own. */
  readonly late?: (() => TimeoutError) | undefined;
}

/** @throws (rejects) as `connect` does */
export async function connectBy(how: Connecting): Promise<LinkedPort> {
  const { where, kind, begin, channel, connection, timeoutMs, resume } = how;
  const late = (): TimeoutError => {
    const text = `Cannot connect to ${where}: nobody has greeted in ${timeoutMs} ms; is it a listener of this library, and not too busy?`;
    return new TimeoutError(text, { address: where, timeoutMs });
  };
  return await givingUp(timeoutMs, how.signal, how.late ?? late, async (signal) => {
    const fields = await orAborted(fieldsOf(how.token), signal);
    const begun = await begin((apart) => link.apart(apart), signal);
    const greeted = settleable<void>();
    const link = new StreamLink(
      begun.stream,
      where,
      { ...connection, way: { name: kind }, fields, initiator: true },
      resumingMedium((peer) => begun.met(peer), resume),
      greeted.resolve,
    );
    const port = link.main(channel);
    begun.connect(link.connection);
    await greeting(link, port, greeted.promise, signal);
    return port;
  });
}

/** Over lines that this thread has. */
export function byLines(
  dial: (signal: AbortSignal) => Promise<Line>,
  token: TokenOption,
  { timeoutMs, resumeMs, pingMs }: ResolvedNetChoice,
): Begin {
  // One that is always the same stands in what is said each time.
  const fields = typeof token === 'function' ? () => fieldsOf(token) : undefined;
  return async (apart, signal) => {
    const { stream, connect } = await redialled({ dial, fields, timeoutMs, resumeMs, pingMs, apart }, signal);
    return { stream, met: (peer) => stream.met(peer), connect };
  };
}
