// What a program hands over as an endpoint, and what each kind of it can do: be listened to, carry memory, be closed, tell of its end.
import { platform } from '#platform';
import { UsageError } from '../../errors.ts';
import { Port } from '../../port/port.ts';

/** What can move: the browser's declarations and Node's say different things of it, and an endpoint of either is one. */
// biome-ignore lint/suspicious/noExplicitAny: nothing else fits the parameters of both
export type Transferable = any;

/** Where messages come from. */
export interface EventSource {
  addEventListener(type: string, listener: (event: unknown) => void, options?: object): void;
  removeEventListener(type: string, listener: (event: unknown) => void, options?: object): void;
}
/** What takes messages as a Worker, a MessagePort, a worker's global object or a Port of millrace does. */
export interface Endpoint extends EventSource {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  start?: (() => void) | undefined;
}
/** A window, as others see it. */
export interface PostMessageWithOrigin {
  postMessage(message: unknown, targetOrigin: string, transfer?: Transferable[]): void;
}
/** What Node's `worker_threads` has: a Worker, a MessagePort, `parentPort`. */
export interface NodeEndpoint {
  postMessage(message: unknown, transfer?: never[]): void;
  on(type: string, listener: (value: unknown) => void): unknown;
  off(type: string, listener: (value: unknown) => void): unknown;
  start?: (() => void) | undefined;
}

/** The ones behind endpoints that were made here. */
const nodes: WeakMap<object, NodeEndpoint> = new WeakMap();
const windows: WeakMap<object, object> = new WeakMap();

/** What `nodeEndpoint` was given to make this endpoint. */
export function nodeOf(endpoint: object): object | undefined {
  return typeof endpoint === 'object' && endpoint !== null ? nodes.get(endpoint) : undefined;
}

/** An endpoint of what Node's `worker_threads` has. */
export function nodeEndpoint(node: NodeEndpoint): Endpoint {
  const added: WeakMap<object, (data: unknown) => void> = new WeakMap();
  const endpoint: Endpoint = {
    postMessage: (message, transfer) => node.postMessage(message, transfer as never[]),
    addEventListener(type, listener) {
      const heard = (data: unknown): void => listener({ data });
      added.set(listener, heard);
      node.on(type, heard);
    },
    removeEventListener(type, listener) {
      const heard = added.get(listener);
      if (heard !== undefined) node.off(type, heard);
    },
    start: node.start?.bind(node),
  };
  nodes.set(endpoint, node);
  return endpoint;
}

/**
 * An endpoint of another window or frame.
 * @param context where its messages arrive
 * @param targetOrigin the origin that the window must have, or it gets nothing
 */
export function windowEndpoint(
  window: PostMessageWithOrigin,
  context: EventSource = globalThis as unknown as EventSource,
  targetOrigin: string = '*',
): Endpoint {
  const endpoint: Endpoint = {
    postMessage: (message, transfer) => window.postMessage(message, targetOrigin, transfer),
    addEventListener: (type, listener, options) => context.addEventListener(type, listener, options),
    removeEventListener: (type, listener, options) => context.removeEventListener(type, listener, options),
  };
  windows.set(endpoint, window);
  return endpoint;
}

/** An event of a message, as far as it is looked at. */
interface Arrival {
  readonly data?: unknown;
  readonly origin?: string;
  readonly source?: unknown;
  readonly target?: unknown;
  readonly message?: string;
  readonly error?: unknown;
  readonly reason?: string;
  readonly code?: number;
}
export interface Hears {
  message(data: unknown, origin: string | undefined): void;
  messageerror(): void;
  /** An error that nobody over there has caught. */
  error(error: unknown): void;
  end(reason: string): void;
}

/** An endpoint with all that is known of it. */
export class Medium {
  readonly #endpoint: Endpoint;
  readonly #node: NodeEndpoint | undefined;
  readonly #own: EventTarget | undefined;
  #stop: (() => void) | undefined;

  /** @throws UsageError ERR_OPTION for what is none */
  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    const given = endpoint as unknown as Partial<NodeEndpoint & Endpoint>;
    const fits = typeof given === 'object' && given !== null && typeof given.postMessage === 'function';
    const listens = fits && typeof given.addEventListener === 'function';
    if (!listens && !(fits && typeof given.on === 'function')) {
      throw new UsageError(
        'ERR_OPTION',
        `Cannot talk over ${String(endpoint)}: expected a Worker, a MessagePort, a Port, or what nodeEndpoint or windowEndpoint makes of others (in a worker of Node's: nodeEndpoint(parentPort))`,
        { value: endpoint },
      );
    }
    this.#node = nodes.get(endpoint) ?? (listens ? undefined : (given as NodeEndpoint));
    // What happens to our own global object says nothing of the other side; of an object that a program put together nothing is known.
    const isTarget = endpoint instanceof EventTarget && (endpoint as object) !== globalThis;
    this.#own = this.#node === undefined && isTarget ? endpoint : undefined;
  }

  /** With backpressure of its own. */
  get port(): Port | undefined {
    return this.#endpoint instanceof Port ? this.#endpoint : undefined;
  }
  get #isWorker(): boolean {
    const object = (this.#node ?? this.#own) as { terminate?: unknown } | undefined;
    return typeof object?.terminate === 'function';
  }
  /** Whether the thread's end is told here, too, and of what. */
  get tellsEnd(): boolean {
    return this.#isWorker;
  }
  /** Whether it leads to a thread of this process, as far as one can tell: memory can be shared with it then. */
  get mayShare(): boolean {
    const object: unknown = this.#node ?? this.#endpoint;
    return (
      typeof SharedArrayBuffer !== 'undefined' &&
      (platform.isNativePort(object) || this.#isWorker || object === globalThis)
    );
  }
  post(message: unknown, transfer: readonly unknown[]): void {
    this.#endpoint.postMessage(message, transfer as Transferable[]);
  }
  /** Whether somebody else, too, wants to know of errors of the thread. */
  get errorIsHeard(): boolean {
    const node = this.#node as { listenerCount?(type: string): number } | undefined;
    return node === undefined || (node.listenerCount?.('error') ?? 0) > (this.#stop === undefined ? 0 : 1);
  }

  listen(hears: Hears): void {
    if (this.#node !== undefined) this.#listenNode(this.#node, hears);
    else this.#listenEvents(hears);
    this.#endpoint.start?.();
  }
  #listenNode(node: NodeEndpoint, hears: Hears): void {
    const listeners: Record<string, (value: unknown) => void> = {
      message: (data: unknown) => hears.message(data, undefined),
      messageerror: () => hears.messageerror(),
      close: () => hears.end('closed'),
    };
    if (this.#isWorker) {
      listeners['error'] = (error: unknown) => hears.error(error);
      listeners['exit'] = () => hears.end('exit');
    }
    for (const [type, listener] of Object.entries(listeners)) node.on(type, listener);
    this.#stop = () => {
      for (const [type, listener] of Object.entries(listeners)) node.off(type, listener);
    };
  }
  #listenEvents(hears: Hears): void {
    const endpoint = this.#endpoint;
    const source = windows.get(endpoint);
    const own = this.#own;
    const listeners: Record<string, (event: Arrival) => void> = {
      message: (event) => {
        // Messages of all windows arrive at the same place.
        const isOther = source !== undefined && (event.source ?? source) !== source;
        if (!isOther) hears.message(event.data, event.origin);
      },
      messageerror: () => hears.messageerror(),
    };
    if (own !== undefined) {
      listeners['close'] = ({ reason, code }) => hears.end(reason ?? (code === undefined ? 'closed' : 'exit'));
      listeners['error'] = ({ error, message }) => {
        hears.error(error ?? new Error(message ?? 'The worker could not be loaded'));
      };
    }
    for (const [type, listener] of Object.entries(listeners))
      endpoint.addEventListener(type, listener as (event: unknown) => void);
    this.#stop = () => {
      for (const [type, listener] of Object.entries(listeners))
        endpoint.removeEventListener(type, listener as (event: unknown) => void);
    };
  }
  /** Nobody talks over it any more. A port is closed then: it is good for nothing else. */
  leave(): void {
    this.#stop?.();
    this.#stop = undefined;
    const endpoint: unknown = this.#endpoint;
    if (platform.isNativePort(endpoint) || endpoint instanceof Port) (endpoint as { close(): void }).close();
  }
}
