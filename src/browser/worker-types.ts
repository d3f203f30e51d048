// What is used of a service worker's global object: TypeScript's declarations of it do not go together with those of pages.

export interface WorkerClient {
  readonly id: string;
  postMessage(message: unknown, transfer?: readonly unknown[]): void;
}
export interface WorkerEvent {
  waitUntil(promise: Promise<unknown>): void;
}
/** What is used of a FetchEvent by who answers it; a service worker's own declarations have more. */
export interface FetchEventHere extends WorkerEvent {
  readonly request: Request;
}
export interface WorkerFetchEvent extends FetchEventHere {
  respondWith(response: Promise<Response>): void;
  stopImmediatePropagation(): void;
}
export interface WorkerMessageEvent extends WorkerEvent {
  readonly data: unknown;
  readonly ports: readonly MessagePort[];
  readonly source: WorkerClient | null;
}
export interface WorkerScope {
  readonly clients: { claim(): Promise<void>; get(id: string): Promise<WorkerClient | undefined> };
  readonly registration: { readonly scope: string };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: WorkerEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: WorkerFetchEvent) => void): void;
  addEventListener(type: 'message', listener: (event: WorkerMessageEvent) => void): void;
}

/** How pages and the service worker talk: both may be of different releases. */
export const SPOKEN = 1;

/** A page asks the service worker who it is, and to be controlled by it; a native port for the answer goes along. */
export interface Hello {
  readonly type: 'millrace-hello';
}
/** A page asks a newer service worker to take the place of one that does not do what it wants. */
export interface TakeOver {
  readonly type: 'millrace-take-over';
}
/** The answer to Hello. */
export interface Welcome {
  readonly spoken: number;
  /** What `serve` was told. */
  readonly isolates: boolean;
  readonly blocks: boolean;
  /** The page, as `clients.get` knows it. */
  readonly client: string;
}

/**
 * What a worker that blocks asks for at READ_PATH (limits.ts) below the scope, with `client` (the page that has what it waits for), `channel`, `first` (the
 * number of the first piece it lacks; -1: none can come, it only waits) and `wait` in milliseconds. Answered with pieces (src/transport/native/kept-pieces.ts), none
 * at the end of that time, or 410 where there is no such page or channel any more. Here it is as the page is asked, with a native port for the answer: bytes, or `null` for 410.
 */
export interface Asked {
  readonly type: 'millrace-read';
  readonly channel: string;
  readonly from: number;
  /** Milliseconds until the page says that there is nothing; 0: at once. */
  readonly waitMs: number;
}
