// What a thread and its carrier say to each other beside the bytes, over one native port. A number alone rings for the line that has it.
import type { NativePort } from '../../platform/contract.ts';
import type { Address } from './address.ts';
import type { ToldError } from './told-error.ts';

/** What the thread starts with. */
export interface CarrierStart {
  readonly port: NativePort;
  /** The module that has started it, where packages are looked for. */
  readonly from: string;
}

/** Lines and listeners have a number each: that of the thread are positive, those of who connects to a listener negative. */
export interface AnyAsk {
  readonly of: number;
  readonly ask: string;
}
/** What every carrier hears. */
export type CommonAsk = { readonly of: number } /** Ends it at once. */ & { readonly ask: 'destroy' };
export type Ask =
  | CommonAsk
  | ({ readonly of: number } & (
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
    ));

export interface AnyNews {
  readonly of: number;
  readonly news: string;
}
/** What every carrier says. */
export type CommonNews = { readonly of: number } /** What was asked for is there. */ & (
  | { readonly news: 'there'; readonly fd?: number | undefined; readonly address?: unknown }
  | { readonly news: 'failed'; readonly error: ToldError }
  /** The line has ended of that, which its memory says next. */
  | { readonly news: 'broke'; readonly error: ToldError }
  /** The listener's address is free. */
  | { readonly news: 'unlistened' }
);
export type There = Extract<CommonNews, { news: 'there' }>;
export type News =
  | CommonNews
  /** Somebody has connected to listener `of`. */
  | { readonly of: number; readonly news: 'accepted'; readonly line: number };
