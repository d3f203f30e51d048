// Redis, and what speaks its language, as a server between programs: its pub/sub. A publication is answered by how many heard it. One connection publishes and one
// listens; what one of many is to hear goes to a channel that is its own, which the server has a list of.

import type { Driver, Heard, Subscription } from '../engine/driver.ts';
import { type Names, randomId } from '../engine/names.ts';
import { plainCause } from '../engine/package-of.ts';
import type { QueueStore } from '../engine/queue.ts';
import { AddressError, ClosedError } from '../errors.ts';
import { ENGINE_MESSAGE_BYTES_MAX, REDIS_CHANNELS_MAX, REDIS_CHANNELS_MS } from '../limits.ts';
import { type Settleable, settleable } from '../port/waiters.ts';
import type { Clients } from './clients.ts';
import { Gathering, messagesIn } from './gathering.ts';
import { RedisQueue } from './queue.ts';
import { isSaid } from './replies.ts';
import { type Server, serverOf } from './server.ts';

/** How channels of those who have a subject together begin; in a cluster they are where it is. */
const shared = (subject: string): string => `{${subject}}.~`;

interface Sharing {
  readonly channels: readonly string[];
  readonly atMs: number;
  next: number;
}

/** The server is asked who they are, and what it has said. */
interface Asking {
  readonly asked: Promise<Sharing>;
  found: Sharing | undefined;
}

export class RedisDriver implements Driver {
  readonly name = 'redis';
  readonly where: string;
  readonly maxBytes: number = ENGINE_MESSAGE_BYTES_MAX;
  readonly #names: Names;
  readonly #server: Server;
  readonly #gathering: Gathering;
  readonly #downs = new Set<() => void>();
  #last: Promise<unknown> = Promise.resolve();
  #wasUp = true;
  closed = false;
  losses = 0;
  #ready: Settleable<void> = settleable();
  /** Who hears a subject together, and when that was asked; whose turn it is. */
  readonly #shared = new Map<string, Asking>();
  readonly #listening = new Map<string, Channel>();

  constructor(where: string, names: Names, server: Server) {
    this.where = where;
    this.#names = names;
    this.#server = server;
    this.#gathering = new Gathering((channel, bytes, given) => this.#said(server.publish(channel, bytes, given)));
    this.#ready.resolve();
    server.watch(() => this.#changed());
    this.#changed();
    server.whenOver(() => void this.close());
  }
  static async over(clients: Clients, names: Names): Promise<RedisDriver> {
    try {
      const toAll = (channel: string): boolean => names.isTopic(channel);
      return new RedisDriver(clients.where, names, await serverOf(clients, toAll));
    } catch (error) {
      await clients.close();
      throw error;
    }
  }

  get up(): boolean {
    return this.#server.up && !this.closed;
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
  get isReady(): boolean {
    return this.up;
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
    const isAnswer = this.#names.isReply(subject);
    const said = isAnswer ? this.#gathering.say(subject, bytes) : this.#publish(subject, bytes);
    said.catch(() => {});
    return true;
  }
  /** Behind what is gathered. */
  #publish(subject: string, bytes: Uint8Array): Promise<unknown> {
    this.#gathering.sendAll();
    return this.#said(this.#server.publish(subject, bytes));
  }
  /** A server answers in order: when it has answered to what went last, it has all. */
  #said(said: Promise<unknown>): Promise<unknown> {
    this.#last = said.catch(() => {
      this.losses++;
    });
    return said;
  }
  async tell(subject: string, bytes: Uint8Array): Promise<boolean> {
    return await this.#tell(subject, () => this.#publish(subject, bytes));
  }
  async #tell(subject: string, say: () => Promise<unknown>, given?: () => boolean): Promise<boolean> {
    if (!this.up) await this.ready();
    if (given?.()) return true;
    try {
      return Number(await say()) > 0;
    } catch (thrown) {
      throw this.#notSaid(subject, thrown);
    }
  }
  #notSaid(subject: string, thrown: unknown): Error {
    const cause = plainCause(thrown);
    // A client may say that it has lost its connection with what was said over it, and in general a moment later.
    if (!this.up || !isSaid(thrown)) return new ClosedError(`The Redis server at ${this.where} is lost`, 'lost', cause);
    const text = `Cannot say anything to ${subject} at ${this.where}: ${cause.message}`;
    return new AddressError('ERR_UNREACHABLE', text, { address: this.where, cause });
  }
  async tellOne(subject: string, bytes: Uint8Array, given?: () => boolean): Promise<boolean> {
    let known = this.#known(subject);
    // Those who were known may all have gone, and so may those who were found.
    for (let tries = 0; tries < 2; tries++) {
      const all = known ?? (await this.#sharing(subject));
      if (all.channels.length === 0) return false;
      if (await this.#tellAny(all, bytes, given)) return true;
      known = undefined;
    }
    return false;
  }
  async #tellAny(all: Sharing, bytes: Uint8Array, given?: () => boolean): Promise<boolean> {
    const first = all.next++;
    // One that has gone meanwhile hears nothing: another one does.
    for (let tries = 0; tries < all.channels.length; tries++) {
      const channel = all.channels[(first + tries) % all.channels.length] as string;
      if (await this.#tell(channel, () => this.#gathering.say(channel, bytes, given), given)) return true;
    }
    return false;
  }
  /** What was asked a short while ago. */
  #known(subject: string): Sharing | undefined {
    const { found } = this.#shared.get(subject) ?? {};
    const isNew = found !== undefined && performance.now() - found.atMs < REDIS_CHANNELS_MS;
    return isNew ? found : undefined;
  }
  /** Several that ask at a time have one answer, whatever it is. */
  #sharing(subject: string): Promise<Sharing> {
    const before = this.#shared.get(subject);
    if (before !== undefined && before.found === undefined) return before.asked;
    const asking: Asking = { asked: this.#ask(subject), found: undefined };
    this.#shared.set(subject, asking);
    const forget = (): void => {
      if (this.#shared.get(subject) === asking) this.#shared.delete(subject);
    };
    asking.asked.then((found) => {
      if (found.channels.length === 0) forget();
      else asking.found = found;
    }, forget);
    if (this.#shared.size > REDIS_CHANNELS_MAX) this.#shared.delete(this.#shared.keys().next().value as string);
    return asking.asked;
  }
  async #ask(subject: string): Promise<Sharing> {
    await this.ready();
    try {
      const channels = await this.#server.channels(shared(subject));
      return { channels, atMs: performance.now(), next: Math.floor(Math.random() * channels.length) };
    } catch (thrown) {
      throw this.#notSaid(subject, thrown);
    }
  }
  async flush(): Promise<void> {
    const { losses } = this;
    this.#gathering.sendAll();
    await this.#last;
    await this.#server.settled();
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
    const channel = this.#listening.get(named) ?? new Channel(this.#server, named, pattern);
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
      if (!isSaid(thrown)) throw new ClosedError(`The Redis server at ${this.where} is lost`, 'lost', cause);
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
    const { drain } = await this.subscribe(`${shared(subject)}${randomId()}`, told);
    const close = (): void => {
      open = false;
      void drain();
    };
    return { close, drain };
  }

  async queue(name: string, ackMs: number): Promise<QueueStore> {
    await this.ready();
    return await RedisQueue.open(this.#server, this.where, this.#names.queue(name), ackMs);
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    const wasUp = this.#wasUp;
    this.#changed();
    if (!wasUp) for (const told of [...this.#downs]) told();
    this.#ready.reject(new ClosedError(`The client of Redis at ${this.where} is closed`, 'closed'));
    this.#gathering.sendAll();
    await this.#server.close();
  }
}

/** All here who listen for one channel, or one pattern: what is said to the server of it is said in order, for its answers are about the channel, and about nobody's. */
class Channel {
  readonly #server: Server;
  readonly #named: string;
  readonly #pattern: boolean;
  readonly #all = new Set<Heard>();
  /** Who is about to leave hears until the server knows. */
  readonly #leaving = new Set<Heard>();
  #listens = false;
  #said: Promise<unknown> = Promise.resolve();
  #asked = 0;
  readonly #told: Heard = (bytes, subject) => {
    for (const message of messagesIn(bytes)) for (const each of [...this.#all]) each(message, subject);
  };

  constructor(server: Server, named: string, pattern: boolean) {
    this.#server = server;
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
      if (wanted) await this.#server.listen(this.#named, this.#pattern, this.#told);
      else await this.#server.unlisten(this.#named, this.#pattern);
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
