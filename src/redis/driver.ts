// Redis, and what speaks its language, as a server between programs: its pub/sub. A publication is answered by how many heard it. One connection publishes and one
// listens; what one of many is to hear goes to a channel that is its own, which the server has a list of.

import type { Driver, Heard, Subscription } from '../engine/driver.ts';
import { type Names, randomId } from '../engine/names.ts';
import { plainCause } from '../engine/package-of.ts';
import type { QueueStore } from '../engine/queue.ts';
import { AddressError, ClosedError, UnsupportedError } from '../errors.ts';
import { ENGINE_MESSAGE_BYTES_MAX, REDIS_CHANNELS_MAX, REDIS_CHANNELS_MS } from '../limits.ts';
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
  closed = false;
  losses = 0;
  #ready: Settleable<void> = settleable();
  /** Who hears a subject together, and when that was asked; whose turn it is. */
  readonly #shared = new Map<string, Promise<Sharing>>();
  readonly #listening = new Map<string, Channel>();

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
    for (const each of [says, hears]) each.whenOver(() => void this.close());
  }
  static async over(clients: Clients, names: Names): Promise<RedisDriver> {
    try {
      const says = await clients.more();
      await checkNoCluster(says, clients.where);
      return new RedisDriver(clients, names, says, await clients.more());
    } catch (error) {
      await clients.close();
      throw error;
    }
  }

  #wasUp = true;
  get up(): boolean {
    return this.#saysUp && this.#hearsUp && !this.closed;
  }
  #changed(): void {
    const { up } = this;
    if (up === this.#wasUp) return;
    this.#wasUp = up;
    if (up) {
      this.#ready.resolve();
      for (const [named, channel] of this.#listening) void channel.say().then(() => this.#forget(named, channel));
      return;
    }
    this.losses++;
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

  publish(subject: string, bytes: Uint8Array): boolean {
    if (!this.up) {
      this.losses++;
      return false;
    }
    // Whoever counts on it is told that the server is lost.
    this.#said(this.#says.publish(subject, bytes)).catch(() => {});
    return true;
  }
  #said(said: Promise<unknown>): Promise<unknown> {
    this.#last = said.catch(() => {
      this.losses++;
    });
    return said;
  }
  async tell(subject: string, bytes: Uint8Array): Promise<boolean> {
    await this.ready();
    try {
      return Number(await this.#said(this.#says.publish(subject, bytes))) > 0;
    } catch (thrown) {
      const cause = plainCause(thrown);
      if (!this.up) throw new ClosedError(`The Redis server at ${this.where} is lost`, 'lost', cause);
      const text = `Cannot say anything to ${subject} at ${this.where}: ${cause.message}`;
      throw new AddressError('ERR_UNREACHABLE', text, { address: this.where, cause });
    }
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
    const forget = (): void => {
      if (this.#shared.get(subject) === asked) this.#shared.delete(subject);
    };
    asked.then(({ channels }) => {
      if (channels.length === 0) forget();
    }, forget);
    if (this.#shared.size > REDIS_CHANNELS_MAX) this.#shared.delete(this.#shared.keys().next().value as string);
    return await asked;
  }
  async #ask(subject: string): Promise<Sharing> {
    await this.ready();
    const found = (await this.#says.call('PUBSUB', 'CHANNELS', `${subject}${SHARED}*`)) as (string | Uint8Array)[];
    const channels = found.map((name) => (typeof name === 'string' ? name : new TextDecoder().decode(name)));
    return { channels, atMs: performance.now(), next: Math.floor(Math.random() * channels.length) };
  }
  async flush(): Promise<void> {
    const { losses } = this;
    await this.#last;
    if (!this.up || this.losses !== losses) throw new ClosedError(`The Redis server at ${this.where} is lost`, 'lost');
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
    const channel = this.#listening.get(named) ?? new Channel(this.#hears, named, pattern);
    this.#listening.set(named, channel);
    const left = async (): Promise<void> => {
      await channel.leave(heard);
      this.#forget(named, channel);
    };
    const close = (): void => {
      channel.deafen(heard);
      void left();
    };
    try {
      await channel.enter(heard);
    } catch (thrown) {
      close();
      const cause = plainCause(thrown);
      if (this.closed) throw new ClosedError(`The client of Redis at ${this.where} is closed`, 'closed', cause);
      const text = `Cannot listen for ${named} at ${this.where}: ${cause.message}`;
      throw new AddressError('ERR_LISTEN', text, { address: this.where, cause });
    }
    return { close, drain: left };
  }
  #forget(named: string, channel: Channel): void {
    if (channel.idle && this.#listening.get(named) === channel) this.#listening.delete(named);
  }
  async share(subject: string, heard: Heard): Promise<Subscription> {
    let open = true;
    // What comes to nobody but this one, who has left, is for another one: a client that was without its server listens again for a moment.
    const told = (bytes: Uint8Array): void => {
      if (open) heard(bytes, subject);
      else void this.tellOne(subject, bytes).catch(() => {});
    };
    const { drain } = await this.subscribe(`${subject}${SHARED}${randomId()}`, told);
    const close = (): void => {
      open = false;
      void drain();
    };
    return { close, drain };
  }

  async queue(name: string, ackMs: number): Promise<QueueStore> {
    await this.ready();
    return await RedisQueue.open(this.#says, this.#clients, this.#names.queue(name), ackMs);
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    const wasUp = this.#wasUp;
    this.#changed();
    if (!wasUp) for (const told of [...this.#downs]) told();
    this.#ready.reject(new ClosedError(`The client of Redis at ${this.where} is closed`, 'closed'));
    await this.#clients.close();
  }
}

/** All here who listen for one channel, or one pattern: what is said to the server of it is said in order, for its answers are about the channel, and about nobody's. */
class Channel {
  readonly #hears: Commands;
  readonly #named: string;
  readonly #pattern: boolean;
  readonly #all = new Set<Heard>();
  /** Who is about to leave hears until the server knows. */
  readonly #leaving = new Set<Heard>();
  #listens = false;
  #said: Promise<unknown> = Promise.resolve();
  #asked = 0;
  readonly #told: Heard = (bytes, subject) => {
    for (const each of [...this.#all]) each(bytes, subject);
  };

  constructor(hears: Commands, named: string, pattern: boolean) {
    this.#hears = hears;
    this.#named = named;
    this.#pattern = pattern;
  }
  /** Nobody listens, and the server knows. */
  get idle(): boolean {
    return this.#asked === 0 && this.#all.size === 0 && !this.#listens;
  }

  async enter(heard: Heard): Promise<void> {
    this.#all.add(heard);
    this.#leaving.delete(heard);
    await this.#settle();
  }
  /** Never rejects: what others of this channel come to is theirs to know. */
  async leave(heard: Heard): Promise<void> {
    if (this.#all.has(heard)) this.#leaving.add(heard);
    await this.say();
  }
  /** Whoever leaves hears nothing any more, though the server does not know. */
  deafen(heard: Heard): void {
    this.#leaving.delete(heard);
    this.#all.delete(heard);
  }
  /** Says what could not be said before: a client that had no server begins to listen again for all that it listened for. Never rejects. */
  async say(): Promise<void> {
    await this.#settle().catch(() => {});
    if (this.#listens !== this.#wanted) return;
    for (const heard of this.#leaving) this.#all.delete(heard);
    this.#leaving.clear();
  }
  get #wanted(): boolean {
    return this.#all.size > this.#leaving.size;
  }
  /** Says what is to be said, behind what was said before. */
  #settle(): Promise<unknown> {
    this.#asked++;
    const step = async (): Promise<void> => {
      const wanted = this.#wanted;
      if (wanted === this.#listens) return;
      const [hears, named] = [this.#hears, this.#named];
      if (wanted) await (this.#pattern ? hears.psubscribe(named, this.#told) : hears.subscribe(named, this.#told));
      else await (this.#pattern ? hears.punsubscribe(named) : hears.unsubscribe(named));
      this.#listens = wanted;
    };
    const said = this.#said.then(step, step).finally(() => {
      this.#asked--;
    });
    this.#said = said.catch(() => {});
    return said;
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
