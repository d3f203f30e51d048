// Redis, and what speaks its language, as a server between programs: its pub/sub. A publication is answered by how many heard it. One connection publishes and one
// listens; what one of many is to hear goes to a channel that is its own, which the server has a list of.

import type { Driver, Heard, Subscription } from '../engine/driver.ts';
import { randomId } from '../engine/names.ts';
import { AddressError, ClosedError } from '../errors.ts';
import { ENGINE_MESSAGE_BYTES_MAX, REDIS_CHANNELS_MS } from '../limits.ts';
import { type Settleable, settleable } from '../port/waiters.ts';
import type { Clients, Commands } from './clients.ts';

/** Behind a subject: the channels of those who have it together. */
const SHARED = '.~';

export class RedisDriver implements Driver {
  readonly name = 'redis';
  readonly where: string;
  readonly maxBytes: number = ENGINE_MESSAGE_BYTES_MAX;
  readonly #says: Commands;
  readonly #hears: Commands;
  readonly #downs = new Set<() => void>();
  #last: Promise<unknown> = Promise.resolve();
  #saysUp = true;
  #hearsUp = true;
  #closed = false;
  #ready: Settleable<void> = settleable();
  /** Who hears a subject together, and when that was asked; whose turn it is. */
  readonly #shared = new Map<string, { channels: readonly string[]; atMs: number; next: number }>();

  private constructor(where: string, says: Commands, hears: Commands) {
    this.where = where;
    this.#says = says;
    this.#hears = hears;
    this.#ready.resolve();
    says.watch((up) => {
      this.#saysUp = up;
      this.#changed();
    });
    hears.watch((up) => {
      this.#hearsUp = up;
      this.#changed();
    });
  }
  static async over(clients: Clients): Promise<RedisDriver> {
    const says = await clients.more();
    try {
      return new RedisDriver(clients.where, says, await clients.more());
    } catch (error) {
      await says.close();
      throw error;
    }
  }

  #wasUp = true;
  get up(): boolean {
    return this.#saysUp && this.#hearsUp && !this.#closed;
  }
  #changed(): void {
    const { up } = this;
    if (up === this.#wasUp) return;
    this.#wasUp = up;
    if (up) {
      this.#ready.resolve();
      return;
    }
    this.#ready = settleable();
    this.#ready.promise.catch(() => {});
    for (const told of [...this.#downs]) told();
  }
  onDown(told: () => void): () => void {
    this.#downs.add(told);
    return () => void this.#downs.delete(told);
  }
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  publish(subject: string, bytes: Uint8Array): void {
    if (!this.up) return;
    const said = this.#says.call('PUBLISH', subject, bytes);
    this.#last = said;
    // Whoever counts on it is told that the server is lost.
    said.catch(() => {});
  }
  async tell(subject: string, bytes: Uint8Array): Promise<boolean> {
    await this.ready();
    const said = this.#says.call('PUBLISH', subject, bytes);
    this.#last = said;
    return Number(await said) > 0;
  }
  async tellOne(subject: string, bytes: Uint8Array): Promise<boolean> {
    for (const anew of [false, true]) {
      const all = await this.#sharing(subject, anew);
      // One that has gone meanwhile hears nothing: another one does.
      for (let tries = 0; tries < all.channels.length; tries++) {
        const channel = all.channels[all.next++ % all.channels.length] as string;
        if (await this.tell(channel, bytes)) return true;
      }
    }
    return false;
  }
  async #sharing(subject: string, anew: boolean) {
    const known = this.#shared.get(subject);
    if (known !== undefined && !anew && known.channels.length > 0 && performance.now() - known.atMs < REDIS_CHANNELS_MS)
      return known;
    await this.ready();
    const found = (await this.#says.call('PUBSUB', 'CHANNELS', `${subject}${SHARED}*`)) as (string | Uint8Array)[];
    const channels = found.map((name) => (typeof name === 'string' ? name : new TextDecoder().decode(name)));
    const all = { channels, atMs: performance.now(), next: known?.next ?? 0 };
    this.#shared.set(subject, all);
    return all;
  }
  async flush(): Promise<void> {
    await this.#last;
  }

  async subscribe(subject: string, heard: Heard): Promise<Subscription> {
    await this.ready();
    const hears = this.#hears;
    const pattern = /[*>]/.test(subject);
    const named = pattern ? subject.replace(/>$/, '*') : subject;
    const matches = pattern ? matcher(subject) : undefined;
    const told: Heard = (bytes, said) => {
      if (matches === undefined || matches.test(said)) heard(bytes, said);
    };
    try {
      await (pattern ? hears.psubscribe(named, told) : hears.subscribe(named, told));
    } catch (cause) {
      const text = `Cannot listen for ${subject} at ${this.where}: ${(cause as Error).message}`;
      throw new AddressError('ERR_LISTEN', text, { address: this.where, cause });
    }
    let open = true;
    return {
      close() {
        if (!open) return;
        open = false;
        (pattern ? hears.punsubscribe(named) : hears.unsubscribe(named)).catch(() => {});
      },
    };
  }
  share(subject: string, heard: Heard): Promise<Subscription> {
    return this.subscribe(`${subject}${SHARED}${randomId()}`, (bytes) => heard(bytes, subject));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#changed();
    this.#ready.reject(new ClosedError(`The client of Redis at ${this.where} is closed`, 'closed'));
    await Promise.all([this.#says.close(), this.#hears.close()]);
  }
}

/** Redis knows no parts: its `*` matches dots, too. */
function matcher(subject: string): RegExp {
  const parts = subject.split('.').map((part) => (part === '*' ? '[^.]+' : part === '>' ? '.+' : part));
  return new RegExp(`^${parts.join('\\.')}$`);
}
