// What is used of a service worker's global object: TypeScript's declarations of it do not go together with those of pages.

export interface WorkerClient {
  readonly id: string;
  postMessage(message: unknown, transfer?: readonly unknown[]): void;
}
export interface WorkerEvent {
  waitUntil(promise: Promise<unknown>): void;
}
export interface WorkerFetchEvent extends WorkerEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
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
/** The answer. */
export interface Welcome {
  readonly spoken: number;
  /** What `serve` was told. */
  readonly isolates: boolean;
  /** The page, as `clients.get` knows it. */
  readonly client: string;
}
