// One connection of a network: what a session goes over until it breaks, and then the next one.
import type { EndReason } from '../../outcome.ts';
import type { ByteStream } from '../stream/connection.ts';

/** Who is given what a line brings. */
export interface LineUser {
  /** Something has come; it is the caller's again when it returns. */
  received(bytes: Uint8Array): void;
  /** It takes more again. */
  drained(): void;
  /** Nothing comes any more, nor goes out. An UnsupportedError: it would be the same with every other one. */
  closed(reason: EndReason, error?: Error): void;
}

export interface Line extends Omit<ByteStream, 'receiveSync'> {
  /** From here on what comes goes to this user; once. What came before waits. */
  connect(user: LineUser): void;
  /** Whether more may come; absent where nobody can say so. */
  flow?(flows: boolean): void;
  /** Ends it at once, with what is under way. */
  destroy(): void;
}
