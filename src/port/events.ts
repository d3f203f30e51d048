// Listeners in the web's manner and in Node's, in one list a type. Events are plain objects with the members that
// code reads from a MessageEvent: a real one costs more than the message (docs/decisions/0006).

/** What a `message`, `messageerror` or `close` listener is given. */
export class PortEvent<T = unknown> {
  readonly type: string;
  /** The message; the error of a `messageerror`; `undefined` at `close`. */
  readonly data: T;
  /** Native ports inside the message. */
  readonly ports: readonly unknown[];
  readonly target: unknown;
  /** Why the channel ended, at `close`. */
  readonly reason: string | undefined;
  constructor(type: string, target: unknown, data: T, ports: readonly unknown[], reason?: string) {
    this.type = type;
    this.target = target;
    this.data = data;
    this.ports = ports;
    this.reason = reason;
  }
  get currentTarget(): unknown {
    return this.target;
  }
  get origin(): string {
    return '';
  }
  get lastEventId(): string {
    return '';
  }
  get source(): null {
    return null;
  }
}

/** A function of one parameter, whose type is compared as a method's is: so that a `Port<Answer>` is a `Port`. */
type Method<T> = { method(value: T): unknown }['method'];
export type PortListener<T = unknown> = Method<PortEvent<T>> | { handleEvent(event: PortEvent<T>): unknown };
/** What `onmessage` and its like hold. */
export type PortHandler<T = unknown> = Method<PortEvent<T>> | null;
export type RawListener<T = unknown> = Method<T>;

interface Entry {
  /** What the user passed, for removal and against doubles. */
  readonly listener: unknown;
  readonly raw: boolean;
  readonly once: boolean;
  readonly call: (event: PortEvent, raw: unknown) => unknown;
}

export class Listeners {
  #entries: readonly Entry[] = [];

  get count(): number {
    return this.#entries.length;
  }

  /** Adds a web-style listener; the same one twice counts once. */
  add(listener: PortListener, once: boolean): void {
    if (this.#entries.some((entry) => entry.listener === listener && !entry.raw)) return;
    const call =
      typeof listener === 'function'
        ? (event: PortEvent) => listener.call(event.target, event)
        : (event: PortEvent) => listener.handleEvent(event);
    this.#entries = [...this.#entries, { listener, raw: false, once, call }];
  }

  /** Adds a Node-style listener, which is given the bare value. */
  addRaw(listener: RawListener, once: boolean): void {
    this.#entries = [...this.#entries, { listener, raw: true, once, call: (_event, raw) => listener(raw) }];
  }

  remove(listener: unknown, raw: boolean): void {
    const at = this.#entries.findLastIndex((entry) => entry.listener === listener && entry.raw === raw);
    if (at >= 0) this.#entries = this.#entries.filter((_entry, index) => index !== at);
  }

  clear(): void {
    this.#entries = [];
  }

  /** Calls every listener that was there at the start; `failed` is told of each that throws. */
  emit(event: PortEvent, raw: unknown, failed: (error: unknown) => void): void {
    for (const entry of this.#entries) {
      if (entry.once) this.#entries = this.#entries.filter((other) => other !== entry);
      try {
        entry.call(event, raw);
      } catch (error) {
        failed(error);
      }
    }
  }
}
