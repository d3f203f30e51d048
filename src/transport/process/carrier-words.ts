// What a thread and its carrier say to each other beside the bytes, over one native port. A number alone rings for the line that has it.
import { AddressError, type ErrorCode, MillraceError, UsageError } from '../../errors.ts';
import type { NativePort } from '../../platform/contract.ts';
import type { Address } from './address.ts';

/** What the thread starts with. */
export interface CarrierStart {
  readonly port: NativePort;
}

/** Lines and listeners have a number each: that of the thread are positive, those of who connects to a listener negative. */
export type Ask = { readonly of: number } & (
  | { readonly ask: 'connect'; readonly memory: SharedArrayBuffer; readonly address: Address }
  /** A descriptor of this process. */
  | { readonly ask: 'open'; readonly memory: SharedArrayBuffer; readonly fd: number }
  /** Two sockets that are each other's other end: `there` tells the descriptor of one, which is closed at `paired`. */
  | { readonly ask: 'pair'; readonly memory: SharedArrayBuffer }
  | { readonly ask: 'paired' }
  | { readonly ask: 'listen'; readonly address: Address }
  | { readonly ask: 'unlisten' }
  /** Of one that was `accepted`. */
  | { readonly ask: 'take'; readonly memory: SharedArrayBuffer }
  /** Ends it at once. */
  | { readonly ask: 'destroy' }
);

export type News = { readonly of: number } /** What was asked for is there. */ & (
  | { readonly news: 'there'; readonly fd?: number | undefined; readonly address?: Address | undefined }
  | { readonly news: 'failed'; readonly error: ToldError }
  /** Somebody has connected to listener `of`. */
  | { readonly news: 'accepted'; readonly line: number }
  /** The line has ended of that, which its memory says next. */
  | { readonly news: 'broke'; readonly error: ToldError }
  /** The listener's address is free. */
  | { readonly news: 'unlistened' }
);

/** An error on its way between two threads, where it would lose class and code. */
export interface ToldError {
  readonly message: string;
  /** That of ours, or the system's. */
  readonly code?: string | undefined;
  readonly address?: string | undefined;
  readonly option?: string | undefined;
  readonly cause?: ToldError | undefined;
}

export function toldError(error: unknown): ToldError {
  const { message, code, address, option, cause } = error as Error & {
    [name in 'code' | 'address' | 'option']?: string;
  };
  const below = cause === undefined ? undefined : toldError(cause);
  return {
    message: message ?? String(error),
    code,
    address: isOurs(error) ? address : undefined,
    option,
    cause: below,
  };
}
const isOurs = (error: unknown): boolean => error instanceof MillraceError;

export function errorTold({ message, code, address, option, cause: below }: ToldError): Error {
  const cause = below === undefined ? undefined : errorTold(below);
  const fields = { cause };
  if (address !== undefined) return new AddressError(code as ErrorCode, message, { ...fields, address });
  if (option !== undefined) return new UsageError(code as ErrorCode, message, { ...fields, option });
  return Object.assign(new Error(message, below && fields), code === undefined ? {} : { code });
}
