// How a side says goodbye, and what the other one makes of it: why, with what exit status, and what of.
import { RefusedError } from '../../errors.ts';
import { STREAM_DEATH_BYTES_MAX, STREAM_TEXT_BYTES_MAX } from '../../limits.ts';
import { deathText, errorOf } from '../../memory/death-text.ts';
import { CLOSE_CODES, closeReason } from '../../memory/layout.ts';
import type { EndReason } from '../../outcome.ts';
import * as frames from './frames.ts';

/** What a side tells of an exception that ends it: all of it, all but the stack, which says where files lie, or only that it was one. */
export type CrashTold = 'stack' | 'message' | 'nothing';

export interface Goodbye {
  readonly reason: EndReason;
  /** The exit status of its thread or process. */
  readonly status?: number | undefined;
  /** What was thrown, and nobody has caught. */
  readonly thrown?: { readonly error: unknown } | undefined;
  /** For people, if nothing was thrown. */
  readonly text?: string | undefined;
}

/** The words of GOODBYE, and the text behind them. */
export function goodbyeWords(
  { reason, status, thrown, text = '' }: Goodbye,
  told: CrashTold,
): readonly [words: readonly number[], text: Uint8Array] {
  const tells = thrown !== undefined && told !== 'nothing';
  const bytes = tells ? deathBytes(thrown.error, told) : frames.textBytes(text, STREAM_TEXT_BYTES_MAX);
  const bits = (status === undefined ? 0 : frames.HAS_STATUS) | (tells ? frames.HAS_THROWN : 0);
  return [[CLOSE_CODES[reason], bits, status ?? 0, bytes.length], bytes];
}

function deathBytes(error: unknown, told: 'stack' | 'message'): Uint8Array {
  const bytes = (text: string): Uint8Array => frames.utf8(text);
  return bytes(deathText(error, (text) => bytes(text).length <= STREAM_DEATH_BYTES_MAX, told));
}

/** What a GOODBYE says. @throws LayoutError */
export function goodbyeOf(words: Int32Array): { reason: EndReason; status: number | undefined; error: unknown } {
  const [code, bits, status] = words as unknown as [number, number, number];
  const text = frames.textOf(frames.GOODBYE, words, 3, false);
  const error = (bits & frames.HAS_THROWN) !== 0 ? errorOf(text) : text === '' ? undefined : new Error(text);
  return { reason: closeReason(code), status: (bits & frames.HAS_STATUS) !== 0 ? status : undefined, error };
}

/** Why a channel is over that a side has not answered before it left. */
export function leftUnanswered(name: string, text: string): RefusedError {
  const said = text === '' ? '' : `: ${JSON.stringify(text)}`;
  return new RefusedError(
    'ERR_REFUSED',
    `The other side does not take ${name === '' ? 'the channel' : `channel ${JSON.stringify(name)}`}, it is leaving${said}`,
    { refusal: frames.CODE_LEAVING, text },
  );
}
