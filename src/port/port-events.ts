// What a port does as an event target, in the web's manner and in Node's.
import { platform } from '#platform';
import { UsageError } from '../errors.ts';
import { Listeners, PortEvent, type PortListener, type RawListener } from './events.ts';

export type EventName = 'message' | 'messageerror' | 'close';
type Handler = ((event: PortEvent) => unknown) | null;

export abstract class PortEvents extends EventTarget {
  readonly #listeners: Readonly<Record<EventName, Listeners>> = {
    message: new Listeners(),
    messageerror: new Listeners(),
    close: new Listeners(),
  };
  readonly #handlers: Record<EventName, Handler> = { message: null, messageerror: null, close: null };
  #started = false;

  get onmessage(): Handler {
    return this.#handlers.message;
  }
  set onmessage(handler: Handler) {
    this.#handlers.message = typeof handler === 'function' ? handler : null;
    if (this.#handlers.message !== null) this.#started = true;
    this.listenersChanged();
  }
  get onmessageerror(): Handler {
    return this.#handlers.messageerror;
  }
  set onmessageerror(handler: Handler) {
    this.#handlers.messageerror = typeof handler === 'function' ? handler : null;
  }
  get onclose(): Handler {
    return this.#handlers.close;
  }
  set onclose(handler: Handler) {
    this.#handlers.close = typeof handler === 'function' ? handler : null;
  }

  /** Starts delivery to listeners. Implied by `onmessage =`, `on('message')` and `addEventListener('message')`. */
  start(): void {
    this.#started = true;
    this.listenersChanged();
  }

  override addEventListener(
    type: EventName,
    listener: PortListener | null,
    options?: AddEventListenerOptions | boolean,
  ): void;
  override addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: AddEventListenerOptions | boolean,
  ): void;
  override addEventListener(
    type: string,
    listener: PortListener | EventListenerOrEventListenerObject | null,
    options?: AddEventListenerOptions | boolean,
  ): void {
    if (!isEventName(type)) {
      super.addEventListener(type, listener as EventListener, options);
      return;
    }
    if (listener === null) return;
    const { once = false, signal } = typeof options === 'object' ? options : {};
    if (signal?.aborted) return;
    signal?.addEventListener('abort', () => this.removeEventListener(type, listener as PortListener), { once: true });
    this.#listeners[type].add(listener as PortListener, once);
    if (type === 'message') this.start();
  }
  override removeEventListener(
    type: EventName,
    listener: PortListener | null,
    options?: EventListenerOptions | boolean,
  ): void;
  override removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: EventListenerOptions | boolean,
  ): void;
  override removeEventListener(
    type: string,
    listener: PortListener | EventListenerOrEventListenerObject | null,
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
  on(type: EventName, listener: RawListener): this {
    return this.#addRaw(type, listener, false);
  }
  once(type: EventName, listener: RawListener): this {
    return this.#addRaw(type, listener, true);
  }
  off(type: EventName, listener: RawListener): this {
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

  #addRaw(type: EventName, listener: RawListener, once: boolean): this {
    if (!isEventName(type)) {
      throw new UsageError('ERR_OPTION', `No event ${String(type)}; a port has message, messageerror and close`);
    }
    this.#listeners[type].addRaw(listener, once);
    if (type === 'message') this.start();
    return this;
  }
}

function isEventName(type: string): type is EventName {
  return type === 'message' || type === 'messageerror' || type === 'close';
}
