// A connection that this side has asked for, over whatever lines: the first one, and those that are found in its place.
import { TimeoutError } from '../errors.ts';
import type { AbortSignalLike } from '../port/events.ts';
import { givingUp, greeting } from '../port/link-greeting.ts';
import type { Port } from '../port/port.ts';
import { StreamLink } from '../port/stream-link.ts';
import { settleable } from '../port/waiters.ts';
import { FreshLine } from '../transport/network/fresh-line.ts';
import type { Line } from '../transport/network/line.ts';
import { ResumingStream } from '../transport/network/resuming-stream.ts';
import { type ResolvedNetChoice, TOKEN } from './options.ts';
import { Redial } from './redial.ts';
import { resumingMedium } from './resuming-medium.ts';
import { SILENCES, watchSilence } from './watch.ts';

export interface Connecting extends ResolvedNetChoice {
  /** For people. */
  readonly where: string;
  /** What its lines are. */
  readonly kind: string;
  readonly token: Uint8Array | undefined;
  readonly signal: AbortSignalLike | undefined;
  /** A new line to whoever listens there. */
  dial(signal: AbortSignal): Promise<Line>;
}

/** @throws (rejects) as `connect` does */
export async function connectOver<In, Out>(how: Connecting): Promise<Port<In, Out>> {
  const { where, kind, dial, token, channel, connection, timeoutMs, resume, resumeMs, pingMs } = how;
  const late = (): TimeoutError => {
    const text = `Cannot connect to ${where}: nobody has greeted in ${timeoutMs} ms; is it a listener of this library, and not too busy?`;
    return new TimeoutError(text, { address: where, timeoutMs });
  };
  return await givingUp(timeoutMs, how.signal, late, async (signal) => {
    const line = await dial(signal);
    const stream: ResumingStream = new ResumingStream(line, {
      resumeMs,
      parked() {
        link.apart(true);
        redial.start();
      },
      resumed: () => link.apart(false),
      over() {
        redial.stop();
        unwatch();
      },
    });
    const redial = new Redial(dial, stream, { lineMs: timeoutMs, answerMs: SILENCES * pingMs, resumeMs });
    const greeted = settleable<void>();
    const fields = token === undefined ? [] : [{ kind: TOKEN, bytes: token }];
    const link = new StreamLink(
      stream,
      where,
      { ...connection, way: { name: kind }, fields, initiator: true },
      resumingMedium(stream, resume),
      greeted.resolve,
    );
    const unwatch = watchSilence(link.connection, pingMs, () => {
      if (stream.session === undefined) return;
      link.apart(true);
      redial.start();
    });
    const port = link.main(channel) as Port<In, Out>;
    stream.connect(link.connection, new FreshLine(line));
    await greeting(link, port, greeted.promise, signal);
    return port;
  });
}
