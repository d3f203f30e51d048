// A hub as a server between programs, over a port to it.
import { platform } from '#platform';
import type { Driver, Heard, Subscription } from '../engine/driver.ts';
import { inTime, lateAt } from '../engine/in-time.ts';
import type { Names } from '../engine/names.ts';
import type { QueueStore } from '../engine/queue.ts';
import { ClosedError, type MillraceError, UnsupportedError, UsageError } from '../errors.ts';
import {
  ENGINE_MESSAGE_BYTES_MAX,
  ENGINE_OPEN_MS,
  HUB_REDIAL_MAX_MS,
  HUB_WAITING_BYTES,
  REDIAL_FIRST_MS,
} from '../limits.ts';
import { Port } from '../port/port.ts';
import { type Settleable, settleable } from '../port/waiters.ts';
import { HubQueue } from './queue.ts';
import {
  DONE,
  FAILED,
  FLUSH,
  HEARD,
  HELLO,
  HUB_VERSION,
  isWords,
  OVER,
  PUBLISH,
  SUBSCRIBE,
  TELL,
  UNSUBSCRIBE,
  type Words,
} from './words.ts';

export type Dial = () => Port | Promise<Port>;

interface Subscribed {
  readonly subject: string;
  readonly together: boolean;
  readonly heard: Heard;
}

export class HubDriver implements Driver {
  readonly name = 'hub';
  readonly maxBytes: number = ENGINE_MESSAGE_BYTES_MAX;
  where = 'a hub';
  closed = false;
  losses = 0;
  readonly #dial: Dial;
  /** Whether there may be another one once the port has ended. */
  readonly #again: boolean;
  readonly #names: Names;
  readonly #downs = new Set<() => void>();
  readonly #subscribed = new Map<number, Subscribed>();
  readonly #asked = new Map<number, Settleable<unknown>>();
  #number = 0;
  #port: Port | undefined;
  #ready: Settleable<void> = settleable();
  #connecting = false;
  #wake: (() => void) | undefined;

  private constructor(dial: Dial, again: boolean, names: Names) {
    this.#dial = dial;
    this.#again = again;
    this.#names = names;
    this.#ready.promise.catch(() => {});
  }
  /** @throws (rejects) what `dial` throws; UsageError ERR_OPTION; UnsupportedError for another version; TimeoutError; ClosedError */
  static async over(dial: Dial, again: boolean, names: Names): Promise<HubDriver> {
    const driver = new HubDriver(dial, again, names);
    await driver.#connect();
    return driver;
  }

  get up(): boolean {
    return this.#port !== undefined;
  }
  onDown(told: () => void): () => void {
    this.#downs.add(told);
    return () => void this.#downs.delete(told);
  }
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  async #connect(): Promise<void> {
    this.#connecting = true;
    try {
      await this.#connectBy(await this.#dialled());
    } finally {
      this.#connecting = false;
    }
  }
  async #dialled(): Promise<Port> {
    const dialling = (async () => await this.#dial())();
    const late = (): Error => lateAt(this, 'Cannot reach a hub', ENGINE_OPEN_MS, 'no port to it was given');
    try {
      return await inTime(dialling, ENGINE_OPEN_MS, late);
    } catch (error) {
      dialling.then(
        (port) => port.close(),
        () => {},
      );
      throw error;
    }
  }
  async #connectBy(port: Port): Promise<void> {
    if (!(port instanceof Port)) {
      const text = `Cannot use ${port === null ? 'null' : `a ${typeof port}`} as a way to a hub: it takes a hub, a port to one, or a function that gives one`;
      throw new UsageError('ERR_OPTION', text, { option: 'hub' });
    }
    this.where = port.link === undefined ? 'a hub' : `a hub at ${port.link.address}`;
    try {
      await inTime(this.#greet(port), ENGINE_OPEN_MS, () =>
        lateAt(
          this,
          `Cannot use ${this.where}`,
          ENGINE_OPEN_MS,
          'nobody has greeted; was the other end joined to a hub?',
        ),
      );
    } catch (error) {
      port.close();
      throw error;
    }
  }
  async #greet(port: Port): Promise<void> {
    const greeted = settleable<void>();
    const ended = (why: Error): void => greeted.reject(why);
    const hello = (value: unknown): void => {
      if (!isWords(value) || value[0] !== HELLO)
        ended(new UnsupportedError(`${this.where} is none: it has not greeted as one`));
      else if (value[1] !== HUB_VERSION)
        ended(new UnsupportedError(`${this.where} speaks version ${String(value[1])}, and this side ${HUB_VERSION}`));
      else greeted.resolve();
    };
    let heard = hello;
    port.on('message', (value) => heard(value));
    port.on('messageerror', (error) => {
      ended(error as Error);
      port.close();
    });
    void port.closed.then((reason) => {
      ended(new ClosedError(`The port to ${this.where} has ended (${reason})`, reason, port.error));
      this.#ended(port);
    });
    port.postMessage([HELLO, HUB_VERSION]);
    await greeted.promise;
    if (this.closed) throw closedAt(this.where);
    heard = (value) => this.#heard(value as Words);
    this.#port = port;
    // In one go: whoever is asked for now finds all of it.
    const again = [...this.#subscribed].map(([number, { subject, together }]) =>
      this.#ask(SUBSCRIBE, number, subject, together),
    );
    await Promise.all(again);
    if (this.closed) throw closedAt(this.where);
    this.#ready.resolve();
  }
  #heard(words: Words): void {
    const [word, first, second, third] = words;
    if (word === HEARD) {
      for (const number of third as readonly number[])
        this.#subscribed.get(number)?.heard(second as Uint8Array, first as string);
    } else if (word === OVER)
      this.#over(new ClosedError(`${this.where} has ended this member: ${String(first)}`, 'closed'));
    else {
      const asked = this.#asked.get(first as number);
      this.#asked.delete(first as number);
      if (word === DONE) asked?.resolve(second);
      else if (word === FAILED) asked?.reject(Object.assign(new Error(third as string), { code: second }));
    }
  }

  #ended(port: Port): void {
    if (port !== this.#port || this.closed) return;
    this.#down();
    // Whoever waits for it hears of that.
    if (this.#connecting) return;
    if (this.#again) void this.#connectAgain();
    else this.#over(closedAt(this.where));
  }
  #down(): void {
    if (this.#port === undefined) return;
    this.#port = undefined;
    this.losses++;
    this.#ready = settleable();
    this.#ready.promise.catch(() => {});
    const error = this.closed ? closedAt(this.where) : new ClosedError(`The hub is lost: ${this.where}`, 'lost');
    for (const { reject } of this.#asked.values()) reject(error);
    this.#asked.clear();
    for (const told of [...this.#downs]) told();
  }
  /** In pauses that grow, half of each left to chance. */
  async #connectAgain(): Promise<void> {
    for (let pauseMs = 0; !this.closed; pauseMs = Math.min(HUB_REDIAL_MAX_MS, Math.max(REDIAL_FIRST_MS, 2 * pauseMs))) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        platform.later(resolve, pauseMs / 2 + (Math.random() * pauseMs) / 2);
      });
      if (this.closed) return;
      try {
        await this.#connect();
        return;
      } catch {
        // What was half connected is none.
        this.#port = undefined;
      }
    }
  }
  /** For ever. */
  #over(error: MillraceError): void {
    if (this.closed) return;
    this.closed = true;
    const port = this.#port;
    if (port !== undefined) this.#down();
    else for (const told of [...this.#downs]) told();
    this.#ready.reject(error);
    this.#subscribed.clear();
    this.#wake?.();
    port?.close();
  }

  #say(...words: unknown[]): boolean {
    const port = this.#port;
    if (port === undefined || (port.full && port.stats().outboxBytes > HUB_WAITING_BYTES)) {
      this.losses++;
      return false;
    }
    try {
      port.postMessage(words);
      return true;
    } catch {
      this.losses++;
      return false;
    }
  }
  /** @internal @throws (rejects) ClosedError; what the hub says against it */
  #ask(word: number, ...said: unknown[]): Promise<unknown> {
    const asked = settleable<unknown>();
    const ask = this.#number++;
    this.#asked.set(ask, asked);
    if (!this.#say(word, ask, ...said)) {
      this.#asked.delete(ask);
      asked.reject(this.closed ? closedAt(this.where) : new ClosedError(`The hub is lost: ${this.where}`, 'lost'));
    }
    return asked.promise;
  }

  publish(subject: string, bytes: Uint8Array): boolean {
    return this.#say(PUBLISH, subject, bytes);
  }
  async tell(subject: string, bytes: Uint8Array): Promise<boolean> {
    await this.ready();
    return (await this.#ask(TELL, subject, bytes)) as boolean;
  }
  tellOne(subject: string, bytes: Uint8Array): Promise<boolean> {
    return this.tell(subject, bytes);
  }
  async flush(): Promise<void> {
    await this.#ask(FLUSH);
  }

  subscribe(subject: string, heard: Heard): Promise<Subscription> {
    return this.#subscribe({ subject, together: false, heard });
  }
  share(subject: string, heard: Heard): Promise<Subscription> {
    return this.#subscribe({ subject, together: true, heard });
  }
  async #subscribe(subscribed: Subscribed): Promise<Subscription> {
    await this.ready();
    const number = this.#number++;
    this.#subscribed.set(number, subscribed);
    try {
      await this.#ask(SUBSCRIBE, number, subscribed.subject, subscribed.together);
    } catch (error) {
      this.#subscribed.delete(number);
      throw error;
    }
    const leave = async (): Promise<void> => {
      if (this.#subscribed.has(number)) await this.#ask(UNSUBSCRIBE, number).catch(() => {});
    };
    return {
      close: () => {
        void leave();
        this.#subscribed.delete(number);
      },
      drain: async () => {
        await leave();
        this.#subscribed.delete(number);
      },
    };
  }

  async queue(name: string, ackMs: number): Promise<QueueStore> {
    await this.ready();
    const subject = this.#names.queue(name);
    return await HubQueue.open((...said) => this.#ask(...said), subject, ackMs);
  }

  async close(): Promise<void> {
    this.#over(closedAt(this.where));
  }
}

function closedAt(where: string): ClosedError {
  return new ClosedError(`This side's way to ${where} is closed`, 'closed');
}
