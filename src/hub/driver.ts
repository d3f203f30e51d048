// A hub as a server between programs, over a port to it.
import type { Driver, Heard, Subscription } from '../engine/driver.ts';
import { inTime, lateAt } from '../engine/in-time.ts';
import { type Names, randomId } from '../engine/names.ts';
import type { QueueStore } from '../engine/queue.ts';
import { ClosedError, MillraceError, UnsupportedError, UsageError } from '../errors.ts';
import {
  ENGINE_MESSAGE_BYTES_MAX,
  ENGINE_OPEN_MS,
  HUB_AGAIN_AT_ONCE,
  HUB_ANSWER_BYTES,
  HUB_REDIAL_MAX_MS,
  HUB_WAITING_BYTES,
  REDIAL_FIRST_MS,
} from '../limits.ts';
import { Port } from '../port/port.ts';
import { type Settleable, settleable } from '../port/waiters.ts';
import { checkKeeps, claimPort, shown } from './claimed.ts';
import { HubQueue } from './queue.ts';
import {
  DONE,
  FAILED,
  FLUSH,
  HEARD,
  HELLO,
  HUB,
  HUB_VERSION,
  isBytes,
  isSubject,
  isWords,
  OVER,
  PUBLISH,
  SUBSCRIBE,
  TELL,
  UNSUBSCRIBE,
} from './words.ts';

const REACH = 'Cannot reach a hub by';

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
  /** While the port's line is looked for: when it is there again, or the port has ended. */
  #lineBack: Promise<void> | undefined;
  /** Bytes that wait for it. */
  #kept = 0;
  /** By which a hub knows this side when it comes anew, over another port. */
  readonly #id = randomId();
  readonly #downs = new Set<() => void>();
  readonly #subscribed = new Map<number, Subscribed>();
  /** Of these, who is about to leave, and hears until the hub knows: it is not to be told of them anew. */
  readonly #leaving = new Set<number>();
  readonly #asked = new Map<number, Settleable<unknown>>();
  #number = 0;
  #port: Port | undefined;
  #ready: Settleable<void> = pending();
  /** Whether that has come true. */
  #knows = false;
  #connecting = false;
  /** Of what is waited for until it is closed. */
  readonly #closing = new Set<(error: Error) => void>();
  /** What was wrong the last time. */
  #why: unknown;
  #wake: (() => void) | undefined;

  private constructor(dial: Dial, again: boolean, names: Names) {
    this.#dial = dial;
    this.#again = again;
    this.#names = names;
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
  get isReady(): boolean {
    return this.#knows;
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
    let port: Port | undefined;
    try {
      port = await this.#dialled();
      await this.#inTime(
        this.#greet(port),
        `Cannot use ${this.where}`,
        'nobody has greeted; was the other end joined to a hub?',
      );
      // It may have ended meanwhile.
      if (this.closed || this.#port !== port || port.reason !== undefined)
        throw new ClosedError(`The hub is lost: ${this.where}`, 'lost');
      this.#knows = true;
      this.#ready.resolve();
    } catch (error) {
      // Whoever has asked something over it meanwhile waits for nothing.
      this.#down();
      port?.close();
      throw error;
    } finally {
      this.#connecting = false;
    }
  }
  /** Whoever closes this side meanwhile waits for nobody. */
  async #inTime<R>(promise: Promise<R>, action: string, why: string): Promise<R> {
    const late = (): Error => lateAt(this, action, ENGINE_OPEN_MS, why);
    const closing = pending<never>();
    this.#closing.add(closing.reject);
    try {
      return await inTime(Promise.race([promise, closing.promise]), ENGINE_OPEN_MS, late);
    } finally {
      this.#closing.delete(closing.reject);
    }
  }
  async #dialled(): Promise<Port> {
    const dialling = (async () => await this.#dial())();
    try {
      const port = claimPort(await this.#inTime(dialling, 'Cannot reach a hub', 'no port to it was given'), REACH);
      this.where = port.link === undefined ? 'a hub' : `a hub at ${port.link.address}`;
      return port;
    } catch (error) {
      // One that comes too late.
      dialling.then(
        (port) => {
          if (port instanceof Port && !(error instanceof UsageError)) port.close();
        },
        () => {},
      );
      throw error;
    }
  }
  async #greet(port: Port): Promise<void> {
    const greeted = pending<void>();
    const refuse = (why: string): void => greeted.reject(new UnsupportedError(`${this.where} ${why}`));
    let heard = (value: unknown): void => {
      if (!isWords(value) || value[0] !== HELLO) refuse('is none: it has not greeted as one');
      else if (value[1] !== HUB_VERSION) refuse(`speaks version ${shown(value[1])}, and this side ${HUB_VERSION}`);
      else if (value[2] !== HUB) refuse('is none: what is there is a member of a hub, too');
      else {
        // At once: more may have come with it.
        heard = (words) => {
          // A hub says nothing else.
          if (!this.#heard(words)) port.close();
        };
        this.#port = port;
        greeted.resolve();
      }
    };
    port.on('message', (value) => heard(value));
    port.on('messageerror', (error) => {
      greeted.reject(error);
      port.close();
    });
    void port.closed.then((reason) => {
      greeted.reject(new ClosedError(`The port to ${this.where} has ended (${reason})`, reason, port.error));
      this.#ended(port);
    });
    port.postMessage([HELLO, HUB_VERSION, this.#id]);
    await greeted.promise;
    // A thread's port to its parent may not have known it before.
    checkKeeps(port, REACH);
    // Some at a time: there may be more than a port takes in one turn.
    const again = [...this.#subscribed];
    while (again.length > 0) {
      const some = again
        .splice(-HUB_AGAIN_AT_ONCE)
        .filter(([number]) => this.#subscribed.has(number) && !this.#leaving.has(number));
      await Promise.all(some.map(([number, { subject, together }]) => this.#ask(SUBSCRIBE, number, subject, together)));
    }
  }
  /** Whether it was something that a hub says. */
  #heard(words: unknown): boolean {
    if (!isWords(words)) return false;
    const [word, first, second, third] = words;
    if (word === HEARD) {
      if (!isSubject(first) || !isBytes(second) || !Array.isArray(third)) return false;
      for (const number of third) this.#subscribed.get(number as number)?.heard(second, first);
      return true;
    }
    if (word === OVER) {
      this.#over(new ClosedError(`${this.where} has ended this member: ${shown(first)}`, 'closed'));
      return true;
    }
    const asked = this.#asked.get(first as number);
    this.#asked.delete(first as number);
    if (word === DONE) asked?.resolve(second);
    else if (word === FAILED)
      asked?.reject(Object.assign(new Error(typeof third === 'string' ? third : shown(third)), { code: second }));
    else return false;
    return true;
  }

  #ended(port: Port): void {
    if (port !== this.#port || this.closed) return;
    if (!this.#again) {
      this.#over(closedAt(this.where));
      return;
    }
    this.#down();
    // Whoever is connecting hears of it.
    if (!this.#connecting) void this.#connectAgain();
  }
  #down(): void {
    if (this.#port === undefined) return;
    this.#port = undefined;
    this.losses++;
    if (this.#knows) this.#ready = pending();
    this.#knows = false;
    const error = this.#lost();
    for (const { reject } of this.#asked.values()) reject(error);
    this.#asked.clear();
    for (const told of [...this.#downs]) told();
  }
  /** In pauses that grow, half of each left to chance. */
  async #connectAgain(): Promise<void> {
    for (let pauseMs = 0; !this.closed; pauseMs = Math.min(HUB_REDIAL_MAX_MS, Math.max(REDIAL_FIRST_MS, 2 * pauseMs))) {
      await new Promise<void>((resolve) => {
        // Whoever has not closed its engine waits for the hub: the process is held.
        const timer = setTimeout(resolve, pauseMs / 2 + (Math.random() * pauseMs) / 2);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      if (this.closed) return;
      try {
        await this.#connect();
        return;
      } catch (error) {
        this.#why = error;
        // That will be so the next time, too.
        if (error instanceof UsageError || error instanceof UnsupportedError) this.#over(error);
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
    for (const reject of this.#closing) reject(error);
    this.#subscribed.clear();
    this.#wake?.();
    port?.close();
  }
  #lost(): ClosedError {
    return this.closed ? closedAt(this.where) : new ClosedError(`The hub is lost: ${this.where}`, 'lost', this.#why);
  }

  #say(...words: unknown[]): boolean {
    try {
      this.#port?.postMessage(words);
      if (this.#port !== undefined) return true;
    } catch {
      // It takes nothing in, and has taken nothing for long.
    }
    return false;
  }
  #takesNothing(): ClosedError {
    return new ClosedError(`${this.where} takes nothing in, and ${HUB_WAITING_BYTES} bytes wait for it`, 'lost');
  }
  /**
   * What is said while the line to a hub elsewhere is looked for goes once it is back, whoever has given it up by then: so who tells waits for the line first.
   * @throws (rejects) ClosedError where as much waits as may
   */
  async #lineIsThere(bytes: number): Promise<void> {
    const port = this.#port;
    if (port?.link?.status !== 'reconnecting') return;
    if (this.#kept > HUB_WAITING_BYTES) throw this.#takesNothing();
    this.#lineBack ??= new Promise<void>((resolve) => {
      const { link } = port;
      const told = (): void => {
        if (link?.status !== 'reconnecting') over();
      };
      const over = (): void => {
        link?.removeEventListener('status', told);
        this.#lineBack = undefined;
        resolve();
      };
      link?.addEventListener('status', told);
      void port.closed.then(over);
    });
    this.#kept += bytes;
    await this.#lineBack;
    this.#kept -= bytes;
  }
  /** A hub that takes nothing in is not to fill this side's memory. */
  #hasEnough(most: number): boolean {
    const port = this.#port;
    return port?.full === true && port.stats().outboxBytes > most;
  }
  /** @throws (rejects) ClosedError; what the hub says against it, or would: `full` */
  #ask(word: number, ...said: unknown[]): Promise<unknown> {
    const asked = settleable<unknown>();
    const ask = this.#number++;
    this.#asked.set(ask, asked);
    if (!this.#say(word, ask, ...said)) {
      this.#asked.delete(ask);
      const text = `${this.where} takes nothing in, and the port to it has no room for more`;
      asked.reject(this.#port === undefined ? this.#lost() : Object.assign(new Error(text), { code: 'full' }));
    }
    return asked.promise;
  }
  /**
   * What loses nothing by being said later.
   * @throws (rejects) ClosedError once the port has ended
   */
  async #askWithRoom(word: number, ...said: unknown[]): Promise<unknown> {
    for (const port = this.#port; ; ) {
      try {
        return await this.#ask(word, ...said);
      } catch (error) {
        if (port === undefined || port !== this.#port || (error as { code?: unknown }).code !== 'full') throw error;
        await port.drained().catch(() => {});
      }
    }
  }
  /** @throws (rejects) ClosedError */
  async #toldOf(word: number, ...said: unknown[]): Promise<unknown> {
    try {
      return await this.#ask(word, ...said);
    } catch (error) {
      throw error instanceof MillraceError ? error : new ClosedError((error as Error).message, 'lost');
    }
  }

  publish(subject: string, bytes: Uint8Array): boolean {
    // Somebody waits for an answer.
    const most = this.#names.isReply(subject) ? HUB_ANSWER_BYTES : HUB_WAITING_BYTES;
    if (!this.#hasEnough(most) && this.#say(PUBLISH, subject, bytes)) return true;
    this.losses++;
    return false;
  }
  tell(subject: string, bytes: Uint8Array): Promise<boolean> {
    return this.tellOne(subject, bytes);
  }
  async tellOne(subject: string, bytes: Uint8Array, given?: () => boolean): Promise<boolean> {
    await this.ready();
    await this.#lineIsThere(bytes.length);
    if (given?.()) return true;
    if (this.#hasEnough(HUB_WAITING_BYTES)) throw this.#takesNothing();
    return (await this.#toldOf(TELL, subject, bytes)) as boolean;
  }
  async flush(): Promise<void> {
    await this.#askWithRoom(FLUSH);
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
      await this.#toldOf(SUBSCRIBE, number, subscribed.subject, subscribed.together);
    } catch (error) {
      this.#subscribed.delete(number);
      throw error;
    }
    const leave = async (): Promise<void> => {
      if (!this.#subscribed.has(number)) return;
      this.#leaving.add(number);
      await this.#unsubscribe(number);
      this.#leaving.delete(number);
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

  /** Never rejects. Another hub knows nothing of it. */
  async #unsubscribe(number: number): Promise<void> {
    // Where there is no room to say it now: nobody else is to wait for an answer of who has left.
    await this.#askWithRoom(UNSUBSCRIBE, number).catch(() => {});
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

/** Nobody need look at it. */
function pending<T>(): Settleable<T> {
  const made = settleable<T>();
  made.promise.catch(() => {});
  return made;
}
function closedAt(where: string): ClosedError {
  return new ClosedError(`This side's way to ${where} is closed`, 'closed');
}
