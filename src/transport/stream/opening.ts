// A channel that the peer has opened, and that nobody here has accepted yet. Nothing comes over it, so that it costs a name and some
// words.
import { UsageError } from '../../errors.ts';
import type { ChannelTerms } from './channel.ts';
import type { StreamConnection } from './connection.ts';
import { CODE_FULL, CODE_IDENTITY, CODE_NAME, CODE_OWN } from './frames.ts';

export class Opening {
  readonly number: number;
  readonly name: string;
  /** The peer's. */
  readonly terms: ChannelTerms;
  /** What the peer requires of the channel, or offers: bits of FLAGS. Those that are required here are known here. */
  readonly flags: number;
  /** Accepted, refused, or taken back by the peer: nothing can be made of it any more. */
  over = false;
  readonly #connection: StreamConnection;

  constructor(connection: StreamConnection, number: number, name: string, terms: ChannelTerms, flags: number) {
    this.#connection = connection;
    this.number = number;
    this.name = name;
    this.terms = terms;
    this.flags = flags;
  }

  /**
   * Lets the peer know that nobody takes it: its end is over, as `closed` with a RefusedError that says `code` and `text`. Does
   * nothing when it is over.
   * @param code 3 to 7 mean what docs/protocol/stream.md says, from 256 on what the two programs agree on
   * @param text for people, 256 bytes at the most; the rest is cut off
   * @throws UsageError ERR_OPTION for another code
   */
  refuse(code: number = CODE_NAME, text = ''): void {
    checkRefusal(code);
    this.#connection.refuseOpening(this, code, text);
  }
}

/** @throws UsageError ERR_OPTION for a code that says no refusal, or one that is kept for later versions */
export function checkRefusal(code: number): void {
  const known = code >= CODE_FULL && code <= CODE_IDENTITY;
  if (Number.isInteger(code) && (known || (code >= CODE_OWN && code <= 0x7fffffff))) return;
  throw new UsageError('ERR_OPTION', `A refusal cannot have the code ${code}: it takes 3 to 7, or 256 to 2147483647`, {
    option: 'code',
    value: code,
  });
}
