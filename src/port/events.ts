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
  /** Nobody else is to be called. */
  stopped: boolean = false;
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
  get srcElement(): unknown {
    return this.target;
  }
  /** At its target: an event of a port goes nowhere else. */
  get eventPhase(): number {
    return 2;
  }
  get bubbles(): boolean {
    return false;
  }
  get composed(): boolean {
    return false;
  }
  composedPath(): unknown[] {
    return [this.target];
  }
  /** There is nothing to prevent: as that of a MessagePort, the event cannot be cancelled. */
  get cancelable(): boolean {
    return false;
  }
  get defaultPrevented(): boolean {
    return false;
  }
  preventDefault(): void {}
  stopPropagation(): void {}
  /** Listeners that were not called yet are not told of this event. */
  stopImmediatePropagation(): void {
    this.stopped = true;
  }
}

/** A function of one parameter, whose type is compared as a method's is: so that a `Port<Answer>` is a `Port`. */
type Method<T> = { method(value: T): unknown }['method'];
export type PortListener<T = unknown> = Method<PortEvent<T>> | { handleEvent(event: PortEvent<T>): unknown };
/** What `onmessage` and its like hold. */
export type PortHandler<T = unknown> = Method<PortEvent<T>> | null;
export type RawListener<T = unknown> = Method<T>;

/** What a listener may be registered with, as far as a port makes use of it. */
export interface ListenerOptions {
  readonly once?: boolean | undefined;
  /** Takes the listener away when it is aborted. */
  readonly signal?: AbortSignalLike | undefined;
  readonly capture?: boolean | undefined;
  readonly passive?: boolean | undefined;
}

/** The members of an `AbortSignal` that are used, so that these declarations need those of no runtime. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason?: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

interface Entry {
  /** What the user passed, for removal and against doubles. */
  readonly listener: unknown;
  readonly raw: boolean;
  readonly once: boolean;
  readonly call: (event: PortEvent, raw: unknown) => unknown;
  readonly signal: AbortSignalLike | undefined;
  readonly aborted: () => void;
  /** Still registered: one that was taken away while an event goes round is not called any more. */
  live: boolean;
}

/** The listeners of one type. */
export class Listeners {
  readonly #changed: () => void;
  /** Replaced, never changed: an event that goes round keeps to the list that was there when it began. */
  #entries: readonly Entry[] = [];

  /** @param changed told when a signal has taken a listener away, or one that was to be called once was */
  constructor(changed: () => void = () => {}) {
    this.#changed = changed;
  }

  get count(): number {
    return this.#entries.length;
  }
  /** Who is there now, for `emit`. */
  get all(): readonly Entry[] {
    return this.#entries;
  }

  /** Adds a web-style listener; the same one twice counts once. */
  add(listener: PortListener, once: boolean, signal?: AbortSignalLike): void {
    if (this.#entries.some((entry) => entry.listener === listener && !entry.raw)) return;
    const call =
      typeof listener === 'function'
        ? (event: PortEvent) => listener.call(event.target, event)
        : (event: PortEvent) => listener.handleEvent(event);
    this.#add({ listener, raw: false, once, call, signal });
  }

  /** Adds a Node-style listener, which is given the bare value. */
  addRaw(listener: RawListener, once: boolean): void {
    this.#add({ listener, raw: true, once, call: (_event, raw) => listener(raw), signal: undefined });
  }

  /** Takes away the listener that was added last of those that are this one. */
  remove(listener: unknown, raw: boolean): void {
    const entry = this.#entries.findLast((each) => each.listener === listener && each.raw === raw);
    if (entry !== undefined) this.#drop(entry);
  }

  clear(): void {
    for (const entry of this.#entries) this.#drop(entry);
  }

  /** Calls every listener that was `there` at the start and still is; `failed` is told of each that throws. */
  emit(
    event: PortEvent,
    raw: unknown,
    failed: (error: unknown) => void,
    there: readonly Entry[] = this.#entries,
  ): void {
    for (let i = 0; i < there.length && !event.stopped; i++) {
      const entry = there[i] as Entry;
      if (!entry.live) continue;
      if (entry.once) this.#drop(entry);
      try {
        entry.call(event, raw);
      } catch (error) {
        failed(error);
      }
      if (entry.once) this.#changed();
    }
  }

  #add(given: Omit<Entry, 'live' | 'aborted'>): void {
    const aborted = (): void => {
      this.#drop(entry);
      this.#changed();
    };
    const entry: Entry = { ...given, aborted, live: true };
    // What is no signal throws here, and nobody listens; or it may speak at once.
    given.signal?.addEventListener('abort', aborted);
    if (entry.live) this.#entries = [...this.#entries, entry];
  }

  /** The signal is let go, too: it may outlive a thousand listeners, and must not take a later one of the same kind away. */
  #drop(entry: Entry): void {
    entry.live = false;
    entry.signal?.removeEventListener('abort', entry.aborted);
    this.#entries = this.#entries.filter((other) => other !== entry);
  }
}
