// Topics through a server: whoever publishes to them. Each message has a number, by which whoever listens (reader.ts) notices what the server has lost.

import { platform } from '#platform';
import { ClosedError } from '../errors.ts';
import { ENGINE_REQUEST_MS, ENGINE_UNFLUSHED_MAX } from '../limits.ts';
import { checked, checkNames } from '../port/options.ts';
import type { Driver } from './driver.ts';
import { inTime, lateAt } from './in-time.ts';
import { type Names, randomId } from './names.ts';
import { FORMS, type Form, RecordWriter } from './record.ts';
import type { Unflushed } from './unflushed.ts';

export interface EngineTopicOptions {
  /** `packed`, the default: all that structured clone carries; `json`, for readers in other languages. */
  readonly codec?: Form | undefined;
}
/** @throws UsageError ERR_OPTION */
export function formOf(options: EngineTopicOptions): Form {
  checkNames(options, ['codec']);
  return checked('codec', options.codec, { fallback: 'packed', names: FORMS }) as Form;
}
export interface EngineTopicStats {
  readonly published: number;
  /** Of these, such as were said while there was no server: nobody has heard them. */
  readonly unsent: number;
}

/** What one engine publishes to one topic: numbered as one, whoever has it published. */
export class Publisher {
  readonly name: string;
  readonly driver: Driver;
  published = 0;
  unsent = 0;
  /** Of the driver's losses, and of what was unsent, what somebody was told of. */
  told: Told;
  readonly #subject: string;
  readonly #writer: RecordWriter;
  /** Published in this turn, and not said yet. */
  #pending = 0;
  #scheduled = false;
  readonly #unflushed: Unflushed;

  /** @param unflushed of all that the engine publishes */
  constructor(driver: Driver, names: Names, name: string, form: Form, unflushed: Unflushed) {
    this.name = name;
    this.driver = driver;
    this.told = { losses: driver.losses, unsent: 0 };
    this.#subject = names.topic(name);
    this.#writer = new RecordWriter(randomId(), form, () => driver.maxBytes);
    this.#unflushed = unflushed;
  }
  publish(value: unknown): void {
    const messages = this.#writer.gather(value, this.published >>> 0);
    this.published++;
    if (messages.length > 0) {
      // Those that were gathered before go in one message, and before what this one takes for itself.
      const alone = messages.slice(this.#pending > 0 ? 1 : 0);
      if (alone.length < messages.length && !this.#send(messages.slice(0, 1))) this.unsent += this.#pending;
      if (alone.length > 0 && !this.#send(alone)) this.unsent++;
    }
    this.#pending = this.#writer.waiting;
    if (this.#scheduled) return;
    this.#scheduled = true;
    platform.endOfTurn(() => this.sendGathered());
  }
  sendGathered(): void {
    this.#scheduled = false;
    const sent = this.#send(this.#writer.gathered());
    // The numbers of those that nobody has heard tell whoever listens later that they were there.
    if (!sent) this.unsent += this.#pending;
    this.#pending = 0;
  }
  #send(messages: readonly Uint8Array[]): boolean {
    if (!this.driver.up) return false;
    let sent = true;
    for (const message of messages) {
      // A server that takes nothing is not to fill this side's memory.
      const goes = this.#unflushed.amount <= ENGINE_UNFLUSHED_MAX && this.driver.publish(this.#subject, message);
      if (goes) this.#unflushed.add(message.length);
      sent &&= goes;
    }
    return sent;
  }
}
interface Told {
  readonly losses: number;
  readonly unsent: number;
}

/** Publishes to one topic. */
export class EngineTopic<T = unknown> {
  readonly name: string;
  readonly #publisher: Publisher;
  /** Each part of a program that has the topic is told of what was lost. */
  #told: Told;

  /** @internal */
  constructor(publisher: Publisher) {
    this.name = publisher.name;
    this.#publisher = publisher;
    this.#told = publisher.told;
  }

  /**
   * To all who listen now, once at the most. It is copied, and goes at the end of the turn, with all that is published to this topic till then. Never waits: `flush` does.
   * @throws DataCloneError for what cannot be copied; UsageError ERR_TOO_LARGE above 16 MiB, in JSON above what one message takes; nothing was published;
   *   ClosedError once the engine is closed
   */
  publish(value: T): void {
    if (this.#publisher.driver.closed) throw this.#closed();
    this.#publisher.publish(value);
  }
  /**
   * When the server has what was published before.
   * @throws (rejects) ClosedError where some of that, or of what else this side said, was lost on the way there since it was last told of here, or there is no server;
   *   TimeoutError where the server has not answered in 10 s
   */
  async flush(): Promise<void> {
    const publisher = this.#publisher;
    const { driver } = publisher;
    publisher.sendGathered();
    const { unsent } = publisher;
    const before = this.#told;
    const said = driver.flush().catch(() => {});
    const ms = ENGINE_REQUEST_MS;
    const why = `the server at ${driver.where} has not answered`;
    await inTime(said, ms, () => lateAt(driver, `Cannot flush ${this.name}`, ms, why));
    // What a client tells of errors comes a turn later.
    await new Promise<void>((resolve) => platform.turn(resolve));
    const { losses, up, closed, where } = driver;
    if (closed) throw this.#closed();
    if (up && losses === before.losses && unsent === before.unsent) return;
    // Another one that began later may have ended before.
    this.#told = { losses: Math.max(losses, this.#told.losses), unsent: Math.max(unsent, this.#told.unsent) };
    publisher.told = {
      losses: Math.max(losses, publisher.told.losses),
      unsent: Math.max(unsent, publisher.told.unsent),
    };
    throw new ClosedError(`Some of what was published to ${this.name} was lost: the server at ${where} was`, 'lost');
  }
  #closed(): ClosedError {
    return new ClosedError(`Cannot publish to ${this.name}: the engine is closed`, 'closed');
  }
  /** Of all that this engine publishes to it. */
  stats(): EngineTopicStats {
    const { published, unsent } = this.#publisher;
    return { published, unsent };
  }
}
