// A session that this side has asked for, over its first line, and those that are found in its place.
import { RESUME_ANSWER_MS_MIN } from '../limits.ts';
import { FreshLine } from '../transport/network/fresh-line.ts';
import { type Resumed, ResumingStream } from '../transport/network/resuming-stream.ts';
import { Leaving } from './leaving.ts';
import { type Finding, Redial } from './redial.ts';
import { SILENCES, type Watched, watchSilence } from './watch.ts';

export interface Redialling extends Finding {
  readonly timeoutMs: number;
  readonly resumeMs: number;
  readonly pingMs: number;
  /** Told whether there is no line. */
  apart(apart: boolean): void;
}
export interface Redialled {
  readonly stream: ResumingStream;
  /** From here on what comes goes to whoever speaks over it. */
  connect(speaker: Resumed & Watched): void;
}

/** Of all sessions that this side has asked for: it made them itself, as many as there are. */
const leaving = new Leaving(Number.POSITIVE_INFINITY);

/** @throws (rejects) as `dial` does */
export async function redialled(how: Redialling, signal: AbortSignal): Promise<Redialled> {
  const { timeoutMs, resumeMs, pingMs, apart } = how;
  const line = await how.dial(signal);
  let unwatch = (): void => {};
  const stream: ResumingStream = new ResumingStream(line, {
    resumeMs,
    parked() {
      apart(true);
      redial.start();
    },
    resumed: () => apart(false),
    came: () => redial.came(),
    over(line, ms) {
      redial.stop();
      unwatch();
      if (line !== undefined) leaving.add(line, ms);
    },
    left: (line) => leaving.forget(line),
  });
  // One that opens, and never says anything, is not to take the time of all others.
  const answerMs = Math.min(SILENCES * pingMs, Math.max(resumeMs / 4, RESUME_ANSWER_MS_MIN));
  const redial = new Redial(how, stream, { lineMs: timeoutMs, answerMs, resumeMs }, () => apart(false));
  const connect = (speaker: Resumed & Watched): void => {
    unwatch = watchSilence(speaker, stream, pingMs, () => {
      if (stream.session === undefined) return;
      apart(true);
      redial.start();
    });
    stream.connect(speaker, new FreshLine(line));
  };
  return { stream, connect };
}
