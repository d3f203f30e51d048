// Redis, and what speaks its language, as a server between programs: its pub/sub. A publication is answered by how many heard it. One connection publishes and one
// listens; what one of many is to hear goes to a channel that is its own, which the server has a list of.

import type { Driver, Heard, Subscription } from '../engine/driver.ts';
import { type Names, randomId } from '../engine/names.ts';
import type { QueueStore } from '../engine/queue.ts';
import { AddressError, ClosedError, UnsupportedError } from '../errors.ts';
import { ENGINE_MESSAGE_BYTES_MAX, REDIS_CHANNELS_MS } from '../limits.ts';
import { type Settleable, settleable } from '../port/waiters.ts';
import type { Clients, Commands } from './clients.ts';
import { RedisQueue } from './queue.ts';

/** Behind a subject: the channels of those who have it together. */
const SHARED = '.~';

interface Sharing {
  readonly channels: readonly string[];
  readonly atMs: number;
  next: number;
}

export class RedisDriver implements Driver {
  readonly name = 'redis';
  readonly where: string;
  readonly maxBytes: number = ENGINE_MESSAGE_BYTES_MAX;
  readonly #clients: Clients;
  readonly #names: Names;
  readonly #says: Commands;
  readonly #hears: Commands;
  readonly #downs = new Set<() => void>();
  #last: Promise<unknown> = Promise.resolve();
  #saysUp = true;
  #hearsUp = true;
  #closed = false;
  #ready: Settleable<void> = settleable();
  /** Who hears a subject together, and when that was asked; whose turn it is. */
  readonly #shared = new Map<string, Promise<Sharing>>();
  readonly #listening = new Map<string, { readonly all: Set<Heard>; done: Promise<void> }>();

  private constructor(clients: Clients, names: Names, says: Commands, hears: Commands) {
    this.where = clients.where;
    this.#clients = clients;
    this.#names = names;
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
  static async over(clients: Clients, names: Names): Promise<RedisDriver> {
    const says = await clients.more();
    try {
      await checkNoCluster(says, clients.where);
      return new RedisDriver(clients, names, says, await clients.more());
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
    const said = this.#says.publish(subject, bytes);
    this.#last = said;
    // Whoever counts on it is told that the server is lost.
    said.catch(() => {});
  }
  async tell(subject: string, bytes: Uint8Array): Promise<boolean> {
    await this.ready();
    const said = this.#says.publish(subject, bytes);
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
  async #sharing(subject: string, anew: boolean): Promise<Sharing> {
    const known = this.#shared.get(subject);
    const found = await known?.catch(() => undefined);
    // Several that ask at a time have one answer.
    if (known !== this.#shared.get(subject)) return await this.#sharing(subject, false);
    if (found !== undefined && !anew && found.channels.length > 0 && performance.now() - found.atMs < REDIS_CHANNELS_MS)
      return found;
    const asked = this.#ask(subject);
    this.#shared.set(subject, asked);
    return await asked;
  }
  async #ask(subject: string): Promise<Sharing> {
    await this.ready();
    const found = (await this.#says.call('PUBSUB', 'CHANNELS', `${subject}${SHARED}*`)) as (string | Uint8Array)[];
    const channels = found.map((name) => (typeof name === 'string' ? name : new TextDecoder().decode(name)));
    return { channels, atMs: performance.now(), next: Math.floor(Math.random() * channels.length) };
  }
  async flush(): Promise<void> {
    await this.#last;
  }

  async subscribe(subject: string, heard: Heard): Promise<Subscription> {
    await this.ready();
    const pattern = /[*>]/.test(subject);
    const named = pattern ? subject.replace(/>$/, '*') : subject;
    const matches = pattern ? matcher(subject) : undefined;
    const told: Heard = (bytes, said) => {
      if (matches === undefined || matches.test(said)) heard(bytes, said);
    };
    return await this.#listen(named, pattern, told);
  }
  /** Both clients have one listener for a channel, or end all of them at once: here each has its own. */
  async #listen(named: string, pattern: boolean, heard: Heard): Promise<Subscription> {
    const hears = this.#hears;
    const listening = this.#listening.get(named) ?? { all: new Set<Heard>(), done: Promise.resolve() };
    this.#listening.set(named, listening);
    const { all } = listening;
    all.add(heard);
    if (all.size === 1) {
      const told: Heard = (bytes, subject) => {
        for (const each of [...all]) each(bytes, subject);
      };
      listening.done = listening.done
        .catch(() => {})
        .then(() => (pattern ? hears.psubscribe(named, told) : hears.subscribe(named, told)));
    }
    const close = (): void => {
      if (!all.delete(heard) || all.size > 0) return;
      listening.done = listening.done
        .then(() => {
          if (all.size > 0) return undefined;
          this.#listening.delete(named);
          return pattern ? hears.punsubscribe(named) : hears.unsubscribe(named);
        })
        .catch(() => {});
    };
    try {
      await listening.done;
    } catch (cause) {
      close();
      const text = `Cannot listen for ${named} at ${this.where}: ${(cause as Error).message}`;
      throw new AddressError('ERR_LISTEN', text, { address: this.where, cause });
    }
    return { close };
  }
  share(subject: string, heard: Heard): Promise<Subscription> {
    return this.subscribe(`${subject}${SHARED}${randomId()}`, (bytes) => heard(bytes, subject));
  }

  async queue(name: string, ackMs: number): Promise<QueueStore> {
    await this.ready();
    return await RedisQueue.open(this.#says, this.#clients, this.#names.queue(name), ackMs);
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

/** @throws (rejects) UnsupportedError for one of a cluster, whose pub/sub does not tell how many hear a message */
async function checkNoCluster(says: Commands, where: string): Promise<void> {
  // A server may not let everybody ask.
  const info = await says.call('INFO', 'cluster').catch(() => '');
  const text = typeof info === 'string' ? info : new TextDecoder().decode(info as Uint8Array);
  if (!/cluster_enabled:1/.test(text)) return;
  const why = 'its pub/sub tells nobody whether a message was heard; use a single server, with replicas if you like';
  throw new UnsupportedError(`Cannot use Redis at ${where}: it is one of a cluster, and ${why}`);
}
