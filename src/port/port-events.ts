// What a port does as a source of events, in the web's manner and in Node's.
import { platform } from '#platform';
import { UsageError } from '../errors.ts';
import type { CloseReason } from '../outcome.ts';
import {
  type ListenerOptions,
  Listeners,
  PortEvent,
  type PortHandler,
  type PortListener,
  type RawListener,
} from './events.ts';
import { unread } from './unread.ts';

export type EventName = 'message' | 'messageerror' | 'close';
/** What a Node-style listener is given. */
export interface PortEventMap<In = unknown> {
  message: In;
  messageerror: unknown;
  close: CloseReason;
}
/** The members of an `Event` that `dispatchEvent` cannot do without. */
export interface EventLike {
  readonly type: string;
}
/** For event types of the caller's own; its parameter is the event that was dispatched. */
type OtherListener = { method(event: EventLike): unknown }['method'] | { handleEvent(event: EventLike): unknown };

/**
 * An `EventTarget` at run time, and by its members in types; that it extends one is not said in the declarations, so that they
 * need neither the web's nor Node's.
 */
const Target: new () => object = EventTarget;

/** Structured clone makes an empty object of an instance of any class; of what holds a symbol it makes nothing, and says so. */
const UNCLONEABLE: unique symbol = Symbol(
  'a Port, which moves through another Port, in its transfer list; elsewhere send the `remote` of a new channel',
);

export abstract class PortEvents<In = unknown> extends Target {
  protected readonly uncloneable: symbol = UNCLONEABLE;
  /** Of every type that somebody listens to, in the order in which they came. */
  #listeners: Map<unknown, Listeners> = NOBODY;
  #handlers: Readonly<Record<EventName, PortHandler>> = NO_HANDLERS;
  /** Types for which `#dispatched` hangs on the runtime's own EventTarget. */
  #bridged: Set<string> | undefined;

  /** As with a MessagePort; runs before the listeners. */
  get onmessage(): PortHandler<In> {
    return this.#handlers.message;
  }
  set onmessage(handler: PortHandler<In>) {
    this.#handle('message', handler as PortHandler);
  }
  /** Is told of a message that could not be decoded. With nobody to tell, the runtime hears of it as of an uncaught error. */
  get onmessageerror(): PortHandler {
    return this.#handlers.messageerror;
  }
  set onmessageerror(handler: PortHandler) {
    this.#handle('messageerror', handler);
  }
  /**
   * Is told once that the channel has ended, behind the last message; `event.reason` says why. Messages that nobody listens to, or asks
   * for within a turn of the event loop, do not hold it up.
   */
  get onclose(): PortHandler<undefined> {
    return this.#handlers.close as PortHandler<undefined>;
  }
  set onclose(handler: PortHandler<undefined>) {
    this.#handle('close', handler as PortHandler);
  }

  /** As with a MessagePort, for code that calls it. Here delivery begins with the first listener, whichever way it was added. */
  start(): void {}

  // ---- the web's manner ---------------------------------------------------------------------------------------

  /**
   * The listener is given a PortEvent, with the port as `this`; the same one twice counts once. `once` and `signal` are
   * known. Other types than `message`, `messageerror` and `close` are the caller's own, for `dispatchEvent`.
   * @throws UsageError ERR_OPTION for what can't be called
   */
  addEventListener(type: 'message', listener: PortListener<In> | null, options?: ListenerOptions | boolean): void;
  addEventListener(type: EventName, listener: PortListener | null, options?: ListenerOptions | boolean): void;
  addEventListener(type: string, listener: OtherListener | null, options?: ListenerOptions | boolean): void;
  addEventListener(
    type: string,
    listener: PortListener | OtherListener | null,
    options?: ListenerOptions | boolean,
  ): void {
    if (listener === null || listener === undefined) return;
    if (typeof listener !== 'function' && typeof listener !== 'object') throw notCallable(type, listener);
    const { once, signal } = typeof options === 'object' && options !== null ? options : {};
    if (signal?.aborted) return;
    this.#of(type).add(listener as PortListener, once === true, signal ?? undefined);
    this.listenersChanged();
  }
  removeEventListener(type: 'message', listener: PortListener<In> | null, options?: ListenerOptions | boolean): void;
  removeEventListener(type: EventName, listener: PortListener | null, options?: ListenerOptions | boolean): void;
  removeEventListener(type: string, listener: OtherListener | null, options?: ListenerOptions | boolean): void;
  removeEventListener(type: string, listener: PortListener | OtherListener | null): void {
    this.#listeners.get(type)?.remove(listener, false);
    this.listenersChanged();
  }

  /**
   * Hands an event of the caller's own to whoever listens here, as any EventTarget does, but that its `stopImmediatePropagation`
   * stops nobody here; nothing is sent. Also for `message` and its like: web listeners are given the event itself, Node-style ones
   * its `data` (`message`, `messageerror`), its `reason` (`close`), or the event (any other type).
   * @returns false if it was cancelled
   * @throws UsageError ERR_OPTION for what is no Event; what the runtime's EventTarget throws for one that is under way
   */
  dispatchEvent(event: EventLike): boolean {
    if (!(event instanceof Event)) {
      throw new UsageError('ERR_OPTION', `Cannot dispatch ${String(event)}: expected an Event`);
    }
    this.#bridged ??= new Set();
    if (!this.#bridged.has(event.type)) {
      this.#bridged.add(event.type);
      super_.addEventListener.call(this as never, event.type, (it) => this.#dispatched(it));
    }
    return super_.dispatchEvent.call(this as never, event);
  }

  // ---- Node's manner ------------------------------------------------------------------------------------------

  /**
   * The listener is given the bare value (`message`), the error (`messageerror`) or the reason (`close`); the same one twice
   * counts twice. Any other name is accepted at run time and never told of anything but `dispatchEvent`, because code for
   * EventEmitters listens to `error` too, as `once` and `on` of `node:events` do.
   * ```ts
   * import { once } from 'node:events';
   * import { attach, channel } from 'millrace';
   * const { port, remote } = channel();
   * attach(remote).postMessage('hello');
   * console.log(await once(port, 'message'));   // [ 'hello' ]
   * port.close();
   * ```
   * @throws UsageError ERR_OPTION for what is no function
   */
  on<K extends EventName>(type: K, listener: RawListener<PortEventMap<In>[K]>): this {
    return this.#addRaw(type, listener, false);
  }
  /** The same as `on`. */
  addListener<K extends EventName>(type: K, listener: RawListener<PortEventMap<In>[K]>): this {
    return this.#addRaw(type, listener, false);
  }
  /** As `on`, for one event. */
  once<K extends EventName>(type: K, listener: RawListener<PortEventMap<In>[K]>): this {
    return this.#addRaw(type, listener, true);
  }
  /** Takes away what `on`, `addListener` or `once` added: of several that are the same the last one. */
  off<K extends EventName>(type: K, listener: RawListener<PortEventMap<In>[K]>): this {
    this.#listeners.get(type)?.remove(listener, true);
    this.listenersChanged();
    return this;
  }
  /** The same as `off`. */
  removeListener<K extends EventName>(type: K, listener: RawListener<PortEventMap<In>[K]>): this {
    return this.off(type, listener);
  }
  /** Takes away every listener of this type, of all types without one: of both manners, `onmessage` and its like too. */
  removeAllListeners(type?: EventName): this {
    for (const each of type === undefined ? this.eventNames() : [type]) {
      if (isEventName(each)) this.#handlers = { ...this.#handlers, [each]: null };
      this.#listeners.get(each)?.clear();
    }
    this.listenersChanged();
    return this;
  }
  /** Listeners of this type, of both manners, `onmessage` and its like included. */
  listenerCount(type: EventName): number {
    const handler = isEventName(type) && this.#handlers[type] !== null ? 1 : 0;
    return handler + (this.#listeners.get(type)?.count ?? 0);
  }
  /** Types that have a listener. */
  eventNames(): string[] {
    const names = new Set<string>([...this.#listeners.keys(), ...Object.keys(this.#handlers)] as string[]);
    return [...names].filter((name) => this.listenerCount(name as EventName) > 0);
  }

  // ---- inside -------------------------------------------------------------------------------------------------

  /** Whether messages are to be handed to listeners. */
  protected get listening(): boolean {
    return this.listenerCount('message') > 0;
  }

  /** Whether anybody listens to anything. */
  protected get listened(): boolean {
    for (const name in this.#handlers) if (this.#handlers[name as EventName] !== null) return true;
    for (const listeners of this.#listeners.values()) if (listeners.count > 0) return true;
    return false;
  }

  /** Somebody began or ceased to listen. */
  protected abstract listenersChanged(): void;

  /** Calls everybody who listens to `type`. Never throws: what a listener throws, the runtime hears of. */
  protected tell(type: EventName, raw: unknown, ports: readonly unknown[], reason?: string): void {
    const event = new PortEvent(type, this, type === 'close' ? undefined : raw, ports, reason);
    if (!this.#call(event, raw) && type === 'messageerror') unread((this as { link?: unknown }).link, raw);
  }

  /** An event of the caller's own, on its way through the runtime's EventTarget. */
  #dispatched(event: Event): void {
    const { data, reason } = event as Partial<PortEvent>;
    const { type } = event;
    this.#call(event as unknown as PortEvent, type === 'close' ? reason : isEventName(type) ? data : event);
  }

  /** Whether anybody listens. */
  #call(event: PortEvent, raw: unknown): boolean {
    const handler = isEventName(event.type) ? this.#handlers[event.type] : null;
    const listeners = this.#listeners.get(event.type);
    // Whom the handler adds is told of what comes next.
    const there = listeners?.all ?? [];
    if (handler !== null) {
      try {
        handler.call(this, event);
      } catch (error) {
        platform.reportError(error);
      }
    }
    if (listeners === undefined || there.length === 0 || event.stopped === true) return handler !== null;
    listeners.emit(event, raw, platform.reportError, there);
    return true;
  }

  #addRaw(type: string, listener: unknown, once: boolean): this {
    if (typeof listener !== 'function') throw notCallable(type, listener);
    this.#of(type).addRaw(listener as RawListener, once);
    this.listenersChanged();
    return this;
  }

  #handle(type: EventName, handler: PortHandler): void {
    this.#handlers = { ...this.#handlers, [type]: typeof handler === 'function' ? handler : null };
    this.listenersChanged();
  }
  #of(type: string): Listeners {
    if (this.#listeners === NOBODY) this.#listeners = new Map();
    let listeners = this.#listeners.get(type);
    if (listeners === undefined) {
      listeners = new Listeners(() => this.listenersChanged());
      this.#listeners.set(type, listeners);
    }
    return listeners;
  }
}

/** Until somebody listens. */
const NOBODY: Map<unknown, Listeners> = new Map();
const NO_HANDLERS: Readonly<Record<EventName, PortHandler>> = { message: null, messageerror: null, close: null };

/** What the class above extends at run time. */
const super_: EventTarget = EventTarget.prototype;

function isEventName(type: unknown): type is EventName {
  return type === 'message' || type === 'messageerror' || type === 'close';
}

function notCallable(type: unknown, listener: unknown): UsageError {
  return new UsageError(
    'ERR_OPTION',
    `Cannot call ${String(listener)} at ${String(type)}: a listener must be a function`,
  );
}
