// What a thread and the carrier of its networks say to each other beside the bytes, and beside what every carrier hears and says.
import type { NetAddress } from '../transport/network/address.ts';
import type { ClientTls, ServerTls } from '../transport/network/tls.ts';
import type { ToldRequest } from '../transport/network/upgrade-request.ts';
import type { CommonAsk, CommonNews } from '../transport/process/carrier-words.ts';
import type { HallOptions } from './hall.ts';
import type { Origins } from './origins.ts';

export interface ConnectAsk {
  readonly to: NetAddress;
  readonly tls: ClientTls | undefined;
  readonly timeoutMs: number;
  readonly resumeMs: number;
  readonly pingMs: number;
}
export interface ListenAsk {
  readonly at: NetAddress;
  readonly tls: ServerTls | undefined;
  readonly origins: Origins;
  readonly hall: HallOptions;
  /** Whether the thread is asked who it is that comes. */
  readonly asks: boolean;
}

export type NetAsk =
  | CommonAsk
  | ({ readonly of: number } & (
      | ({ readonly ask: 'connect'; readonly memory: SharedArrayBuffer } & ConnectAsk)
      | ({ readonly ask: 'listen' } & ListenAsk)
      | { readonly ask: 'unlisten' }
      /** The thread has said a line's last, which is on its way. */
      | { readonly ask: 'ends' }
      /** Of one that was `accepted`. */
      | { readonly ask: 'take'; readonly memory: SharedArrayBuffer }
      /** Who it is that was `accepted`. */
      | { readonly ask: 'identified'; readonly identity: string | undefined }
      /** The answer to `whoIs`, of listener `of`. */
      | { readonly ask: 'is'; readonly question: number; readonly identity: string | undefined }
    ));

export interface Accepted {
  readonly line: number;
  readonly kind: string;
  readonly request: ToldRequest;
  /** What its session is called; `undefined`: it does not resume. */
  readonly session: Uint8Array | undefined;
}
export type NetNews =
  | CommonNews
  | ({ readonly of: number } & (
      | ({ readonly news: 'accepted' } & Accepted)
      | {
          readonly news: 'whoIs';
          readonly question: number;
          readonly token: string | undefined;
          readonly request: ToldRequest;
        }
      /** The other side has a line's last words, or nobody waits any more until it has. */
      | { readonly news: 'said' }
      /** Whether a session has no line. */
      | { readonly news: 'apart'; readonly apart: boolean }
    ));
