// What a port does as an event target, in the web's manner and in Node's.
import { platform } from '#platform';
import { UsageError } from '../errors.ts';
import type { CloseReason } from '../memory/layout.ts';
import { Listeners, PortEvent, type PortHandler, type PortListener, type RawListener } from './events.ts';

export type EventName = 'message' | 'messageerror' | 'close';
/** For event types of the caller's own. Spelled out: Node's types alone have no name for it. */
type OtherListener = ((event: Event) => void) | { handleEvent(event: Event): void };

export abstract class PortEvents<In = unknown> extends EventTarget {
  readonly #listeners: Readonly<Record<EventName, Listeners>> = {
    message: new Listeners(),
    messageerror: new Listeners(),
    close: new Listeners(),
  };
  readonly #handlers: Record<EventName, PortHandler> = { message: null, messageerror: null, close: null };
  #started = false;

  get onmessage(): PortHandler<In> {
    return this.#handlers.message;
  }
  set onmessage(handler: PortHandler<In>) {
    this.#handlers.message = typeof handler === 'function' ? (handler as PortHandler) : null;
    if (this.#handlers.message !== null) this.#started = true;
    this.listenersChanged();
  }
  get onmessageerror(): PortHandler {
    return this.#handlers.messageerror;
  }
  set onmessageerror(handler: PortHandler) {
    this.#handlers.messageerror = typeof handler === 'function' ? handler : null;
  }
  get onclose(): PortHandler<undefined> {
    return this.#handlers.close as PortHandler<undefined>;
  }
  set onclose(handler: PortHandler<undefined>) {
    this.#handlers.close = typeof handler === 'function' ? (handler as PortHandler) : null;
  }

  /** Starts delivery to listeners. Implied by `onmessage =`, `on('message')` and `addEventListener('message')`. */
  start(): void {
    this.#started = true;
    this.listenersChanged();
  }

  override addEventListener(
    type: 'message',
    listener: PortListener<In> | null,
    options?: AddEventListenerOptions | boolean,
  ): void;
  override addEventListener(
    type: EventName,
    listener: PortListener | null,
    options?: AddEventListenerOptions | boolean,
  ): void;
  override addEventListener(
    type: string,
    listener: OtherListener | null,
    options?: AddEventListenerOptions | boolean,
  ): void;
  override addEventListener(
    type: string,
    listener: PortListener | OtherListener | null,
    options?: AddEventListenerOptions | boolean,
  ): void {
    if (!isEventName(type)) {
      super.addEventListener(type, listener as EventListener, options);
      return;
    }
    if (listener === null || listener === undefined) return;
    const { once = false, signal } = typeof options === 'object' ? options : {};
    if (signal?.aborted) return;
    signal?.addEventListener('abort', () => this.removeEventListener(type, listener as PortListener), { once: true });
    this.#listeners[type].add(listener as PortListener, once);
    if (type === 'message') this.start();
  }
  override removeEventListener(
    type: 'message',
    listener: PortListener<In> | null,
    options?: EventListenerOptions | boolean,
  ): void;
  override removeEventListener(
    type: EventName,
    listener: PortListener | null,
    options?: EventListenerOptions | boolean,
  ): void;
  override removeEventListener(
    type: string,
    listener: OtherListener | null,
    options?: EventListenerOptions | boolean,
  ): void;
  override removeEventListener(
    type: string,
    listener: PortListener | OtherListener | null,
    options?: EventListenerOptions | boolean,
  ): void {
    if (!isEventName(type)) {
      super.removeEventListener(type, listener as EventListener, options);
      return;
    }
    this.#listeners[type].remove(listener, false);
    this.listenersChanged();
  }

  /** Node's manner: the listener is given the bare value (`message`), the error (`messageerror`) or the reason (`close`). */
  on(type: 'message', listener: RawListener<In>): this;
  on(type: 'close', listener: RawListener<CloseReason>): this;
  on(type: 'messageerror', listener: RawListener): this;
  on(type: EventName, listener: RawListener<never>): this {
    return this.#addRaw(type, listener, false);
  }
  once(type: 'message', listener: RawListener<In>): this;
  once(type: 'close', listener: RawListener<CloseReason>): this;
  once(type: 'messageerror', listener: RawListener): this;
  once(type: EventName, listener: RawListener<never>): this {
    return this.#addRaw(type, listener, true);
  }
  off(type: 'message', listener: RawListener<In>): this;
  off(type: 'close', listener: RawListener<CloseReason>): this;
  off(type: 'messageerror', listener: RawListener): this;
  off(type: EventName, listener: RawListener<never>): this {
    this.#listeners[type]?.remove(listener, true);
    this.listenersChanged();
    return this;
  }

  /** Whether messages are to be handed to listeners. */
  protected get listening(): boolean {
    return this.#started && (this.#handlers.message !== null || this.#listeners.message.count > 0);
  }

  /** Somebody began or ceased to listen. */
  protected abstract listenersChanged(): void;

  /** Calls everybody who listens to `type`. Never throws: what a listener throws, the runtime hears of. */
  protected emit(type: EventName, raw: unknown, ports: readonly unknown[], reason?: string): void {
    const event = new PortEvent(type, this, type === 'close' ? undefined : raw, ports, reason);
    const handler = this.#handlers[type];
    if (handler !== null) {
      try {
        handler.call(this, event);
      } catch (error) {
        platform.reportError(error);
      }
    }
    if (this.#listeners[type].count > 0) this.#listeners[type].emit(event, raw, platform.reportError);
    else if (handler === null && type === 'messageerror') platform.reportError(raw);
  }

  #addRaw(type: EventName, listener: RawListener<never>, once: boolean): this {
    if (!isEventName(type)) {
      throw new UsageError('ERR_OPTION', `No event ${String(type)}; a port has message, messageerror and close`);
    }
    if (typeof listener !== 'function') {
      throw new UsageError('ERR_OPTION', `Cannot call ${String(listener)} at ${type}: a listener must be a function`);
    }
    this.#listeners[type].addRaw(listener as RawListener, once);
    if (type === 'message') this.start();
    return this;
  }
}

function isEventName(type: string): type is EventName {
  return type === 'message' || type === 'messageerror' || type === 'close';
}
