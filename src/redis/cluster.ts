// A cluster of Redis as one server. Channels of ours are sharded ones: each is at the node that has its slot, which knows who listens, and says how many heard.
// Those that patterns are to find, topics, go by the common pub/sub to all nodes. It is up when each slot has a node that is there, and all that is listened for is
// listened for; a node that is lost, or a slot that has moved, is looked for until that is so again. Connections do not come back by themselves: where they went to may
// be no node, or another kind of node, by then.

import type { Heard } from '../engine/driver.ts';
import { inTime } from '../engine/in-time.ts';
import { AddressError, ClosedError } from '../errors.ts';
import {
  ENGINE_OPEN_MS,
  REDIS_CLUSTER_AGAIN_MS,
  REDIS_CLUSTER_AGAIN_MS_MAX,
  REDIS_CLUSTER_BACK_MS,
  REDIS_CLUSTER_CHECK_MS,
  REDIS_CLUSTER_NODE_MS,
} from '../limits.ts';
import { type Settleable, settleable } from '../port/waiters.ts';
import type { Clients, Commands, Kind } from './clients.ts';
import { isNotNow, isSaid, type Text, textOf } from './replies.ts';
import type { Server } from './server.ts';
import { type Address, addressOf, addressText, SLOTS, shardsOf, slotOf } from './slots.ts';

/** A master. */
interface Node {
  readonly at: Address;
  readonly says: Commands;
  hears: Commands;
  /** Who waits for jobs there. */
  readonly waits: Set<Commands>;
  lost: boolean;
  /** It has taken away some of what was listened for. */
  deaf: boolean;
}
/** A node that is about to have its first slot. */
interface Coming {
  readonly says: Promise<Commands>;
  /** How much is being asked of it. */
  asked: number;
}
interface Listening {
  readonly kind: Kind;
  readonly name: string;
  readonly heard: Heard;
  /** Who has been told. */
  at: Commands | undefined;
}

const NOTHING = new Uint8Array(0);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Cluster implements Server {
  readonly #clients: Clients;
  readonly #toAll: (channel: string) => boolean;
  readonly #nodes = new Map<string, Node>();
  #bySlot: Node[] = [];
  readonly #coming = new Map<string, Coming>();
  readonly #listening = new Map<string, Listening>();
  /** Publications that no node has answered yet. */
  readonly #saying = new Set<Promise<unknown>>();
  readonly #watching: ((up: boolean) => void)[] = [];
  readonly #check: ReturnType<typeof setInterval>;
  #ready: Settleable<void> = settleable();
  /** When each slot has had another node than before. */
  readonly #changedMs = new Float64Array(SLOTS).fill(Number.NEGATIVE_INFINITY);
  #up = false;
  #closed = false;
  #looking: Promise<void> | undefined;
  #lookAgain = false;

  private constructor(clients: Clients, toAll: (channel: string) => boolean) {
    this.#clients = clients;
    this.#toAll = toAll;
    this.#ready.promise.catch(() => {});
    this.#check = setInterval(() => this.#look(), REDIS_CLUSTER_CHECK_MS);
    (this.#check as { unref?(): void }).unref?.();
  }
  /** @throws (rejects) AddressError ERR_UNREACHABLE, or what a node says */
  static async over(clients: Clients, toAll: (channel: string) => boolean): Promise<Cluster> {
    const cluster = new Cluster(clients, toAll);
    try {
      await cluster.#settle();
      // One that was lost as it came is looked for.
      if (cluster.#looking === undefined) cluster.#setUp(true);
      const text = `Cannot use Redis at ${clients.where}: nodes of its cluster are lost as they are found`;
      const late = (): Error => new AddressError('ERR_UNREACHABLE', text, { address: clients.where });
      await inTime(cluster.#ready.promise, ENGINE_OPEN_MS, late);
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  get up(): boolean {
    return this.#up;
  }
  #setUp(up: boolean): void {
    if (up === this.#up) return;
    this.#up = up;
    if (up) this.#ready.resolve();
    else {
      this.#ready = settleable();
      this.#ready.promise.catch(() => {});
    }
    for (const told of this.#watching) told(up);
  }
  watch(told: (up: boolean) => void): void {
    this.#watching.push(told);
  }
  /** Nodes are looked for until it is closed. */
  whenOver(): void {}

  async call(key: string, ...parts: readonly Text[]): Promise<unknown> {
    return await this.#at(key, (says) => says.call(...parts));
  }
  publish(channel: string, bytes: Uint8Array, given?: () => boolean): Promise<unknown> {
    const said = this.#publish(channel, bytes, given);
    this.#saying.add(said);
    const settled = (): void => void this.#saying.delete(said);
    said.then(settled, settled);
    return said;
  }
  async settled(): Promise<void> {
    await Promise.allSettled(this.#saying);
  }
  async #publish(channel: string, bytes: Uint8Array, given?: () => boolean): Promise<unknown> {
    const toAll = this.#toAll(channel);
    return await this.#at(channel, async (says) => {
      if (given?.() === true) return 1;
      return await (toAll ? says.publish(channel, bytes) : says.publishSharded(channel, bytes));
    });
  }
  async channels(start: string): Promise<string[]> {
    for (;;) {
      const found = await this.call(start, 'PUBSUB', 'SHARDCHANNELS', `${start}*`);
      if ((found as Text[]).length > 0) return (found as Text[]).map(textOf);
      // A node that has the slot no more has none either, and says so of what has a key alone; and whoever listens may be on the way to its new one.
      const asked = this.#nodeOf(start);
      await this.#at(start, (says) => says.publishSharded(start, NOTHING));
      if (this.#nodeOf(start) !== asked) continue;
      if (performance.now() - (this.#changedMs[slotOf(start)] as number) > REDIS_CLUSTER_BACK_MS) return [];
      await pause(REDIS_CLUSTER_AGAIN_MS);
    }
  }
  #nodeOf(name: string): Node {
    return this.#bySlot[slotOf(name)] as Node;
  }
  /** Says it at once to the node that has the key; again, where the cluster is changing, and nothing was done. */
  async #at<R>(key: string, say: (says: Commands) => Promise<R>): Promise<R> {
    const untilMs = performance.now() + ENGINE_OPEN_MS;
    let toldMs = REDIS_CLUSTER_AGAIN_MS;
    for (let asked: Address | undefined; ; ) {
      try {
        return await (asked === undefined ? say(this.#nodeOf(key).says) : this.#asked(asked, say));
      } catch (thrown) {
        if (!isNotNow(thrown) || this.#closed || performance.now() > untilMs) throw thrown;
        const before = asked;
        const [word, , to] = (thrown as Error).message.split(' ');
        asked = word === 'ASK' && to !== undefined ? this.#addressOf(to, key) : undefined;
        if (asked !== undefined && before === undefined) continue;
        this.#look();
        await pause(toldMs);
        toldMs = Math.min(2 * toldMs, REDIS_CLUSTER_AGAIN_MS_MAX);
        await inTime(this.#ready.promise, ENGINE_OPEN_MS, () => thrown as Error);
      }
    }
  }
  /** A node that does not know what it is called is where the one is that speaks of it. */
  #addressOf(said: string, key: string): Address {
    const { host, port } = addressOf(said);
    return { host: host === '' || host === '?' ? this.#nodeOf(key).at.host : host, port };
  }
  /** A slot that is on its way to another node: that one is told in the same breath that it was asked for. */
  async #asked<R>(at: Address, say: (says: Commands) => Promise<R>): Promise<R> {
    const name = addressText(at);
    const coming = this.#coming.get(name) ?? { says: this.#clients.once(at, REDIS_CLUSTER_NODE_MS), asked: 0 };
    this.#coming.set(name, coming);
    coming.asked++;
    try {
      const says = await coming.says;
      says.call('ASKING').catch(() => {});
      return await say(says);
    } catch (error) {
      // It is lost, or was not to be had.
      if (!isSaid(error) && this.#coming.get(name) === coming) this.#forgetOne(name, coming.says);
      throw error;
    } finally {
      coming.asked--;
    }
  }
  /** Connections that were needed for a slot on its way, and are of no use any more. */
  #forgetComing(): void {
    for (const [name, { says, asked }] of this.#coming) {
      if (asked === 0) this.#forgetOne(name, says);
    }
  }
  #forgetOne(name: string, says: Promise<Commands>): void {
    this.#coming.delete(name);
    says.then(
      (late) => this.#clients.end(late),
      () => {},
    );
  }

  async listen(name: string, isPattern: boolean, heard: Heard): Promise<void> {
    const kind = isPattern ? 'pattern' : this.#toAll(name) ? 'channel' : 'sharded';
    const listening: Listening = { kind, name, heard, at: undefined };
    this.#listening.set(name, listening);
    while (listening.at === undefined || !this.#up) {
      await this.#ready.promise;
      // Who looks has told the node, mostly.
      if (listening.at !== undefined) continue;
      try {
        await this.#listenAt(listening);
      } catch (error) {
        if (isSaid(error) && !isNotNow(error)) {
          this.#listening.delete(name);
          throw error;
        }
        this.#look();
        await pause(REDIS_CLUSTER_AGAIN_MS);
      }
    }
  }
  async #listenAt(listening: Listening): Promise<void> {
    const { kind, name, heard } = listening;
    const node = this.#nodeOf(name);
    const { hears } = node;
    listening.at = hears;
    try {
      await this.#inTime(node, hears.listen(kind, name, heard));
    } catch (error) {
      if (listening.at === hears) listening.at = undefined;
      throw error;
    }
    // Who has left meanwhile may have been told of another place.
    if (!this.#listening.has(name)) await this.#inTime(node, hears.unlisten(kind, name));
  }
  /** One that stands still is one that is lost. */
  async #inTime(node: Node, said: Promise<void>): Promise<void> {
    await inTime(said, ENGINE_OPEN_MS, () => {
      this.#lose(node);
      return new Error(`the node at ${addressText(node.at)} has not answered in ${ENGINE_OPEN_MS} ms`);
    });
  }
  async unlisten(name: string): Promise<void> {
    const listening = this.#listening.get(name);
    this.#listening.delete(name);
    const { at, kind } = listening ?? {};
    const node = [...this.#nodes.values()].find(({ hears }) => hears === at);
    if (node !== undefined && kind !== undefined) await this.#inTime(node, node.hears.unlisten(kind, name));
  }

  /** Of the one that has the key; where it moves, it says so, and another connection is to be had. */
  async waits(key: string): Promise<Commands> {
    await this.#ready.promise;
    const node = this.#nodeOf(key);
    const waits = await this.#clients.once(node.at, REDIS_CLUSTER_NODE_MS);
    node.waits.add(waits);
    if (node.lost) this.endWaits(waits);
    return waits;
  }
  endWaits(waits: Commands): void {
    for (const node of this.#nodes.values()) node.waits.delete(waits);
    this.#clients.end(waits);
  }

  /** Asks how the cluster is now, until all of it is there. */
  #look(): void {
    this.#lookAgain = true;
    this.#looking ??= this.#lookUntilUp().finally(() => {
      this.#looking = undefined;
    });
  }
  async #lookUntilUp(): Promise<void> {
    for (let tries = 0; !this.#closed; tries++) {
      const ms = Math.min(REDIS_CLUSTER_AGAIN_MS * 2 ** tries, REDIS_CLUSTER_AGAIN_MS_MAX);
      // Many that have lost the same node do not come all at once.
      if (tries > 0) await pause(ms * (0.5 + Math.random() / 2));
      try {
        while (this.#lookAgain) {
          this.#lookAgain = false;
          await this.#settle();
        }
        if (!this.#closed) this.#setUp(true);
        return;
      } catch {
        this.#lookAgain = true;
        this.#setUp(false);
      }
    }
  }
  /** Has the nodes that there are now, and listens there. */
  async #settle(): Promise<void> {
    const bySlot = await this.#slots();
    const names = new Set(bySlot);
    for (const [name, node] of this.#nodes) if (node.lost) this.#drop(name, node);
    this.#forgetComing();
    const heardAt = new Map([...this.#nodes].map(([address, node]) => [node.hears, [address, node] as const]));
    for (const { kind, name, at } of this.#listening.values()) {
      const [address, node] = (at && heardAt.get(at)) ?? [];
      // Of a slot that it has no more it has taken away what was listened for; which, a client may not have understood.
      if (node !== undefined && kind === 'sharded' && bySlot[slotOf(name)] !== address) node.deaf = true;
    }
    const have = async (name: string): Promise<void> => {
      const node = this.#nodes.get(name);
      if (node === undefined) await this.#enter(name);
      else if (node.deaf) await this.#hearAnew(node);
    };
    // All of them, before anything is said of it: one that is late would be there twice.
    const had = await Promise.allSettled([...names].map(have));
    for (const each of had) if (each.status === 'rejected') throw each.reason;
    if (this.#closed) return;
    const before = this.#bySlot;
    this.#bySlot = bySlot.map((name) => this.#nodes.get(name) as Node);
    for (const [slot, node] of before.entries())
      if (node !== this.#bySlot[slot]) this.#changedMs[slot] = performance.now();
    for (const [name, node] of this.#nodes) if (!names.has(name)) this.#drop(name, node);
    const hears = new Set([...this.#nodes.values()].map((node) => node.hears));
    const isThere = ({ kind, name, at }: Listening): boolean =>
      kind === 'sharded' ? at === this.#nodeOf(name).hears : at !== undefined && hears.has(at);
    const moved = [...this.#listening.values()].filter((each) => !isThere(each));
    if (moved.length === 0) return;
    // What came meanwhile was heard by nobody here.
    this.#setUp(false);
    await Promise.all(moved.map((each) => this.#listenAt(each)));
  }
  /**
   * The node of each slot.
   * @throws (rejects) where nobody knows, or not each has one
   */
  async #slots(): Promise<string[]> {
    const bySlot: string[] = Array.from({ length: SLOTS }, () => '');
    for (const { from, to, at } of await this.#ask()) bySlot.fill(addressText(at), from, to + 1);
    const missing = bySlot.indexOf('');
    if (missing < 0) return bySlot;
    throw new Error(`the cluster at ${this.#clients.where} has no node for slot ${missing}`);
  }
  async #ask(): Promise<ReturnType<typeof shardsOf>> {
    let why: unknown = new ClosedError(`The client of Redis at ${this.#clients.where} is closed`, 'closed');
    const nodes = [...this.#nodes.values()].sort(() => Math.random() - 0.5);
    const say = async (says: Commands, host: string): Promise<ReturnType<typeof shardsOf>> => {
      const late = (): Error => new Error(`no answer in ${REDIS_CLUSTER_NODE_MS} ms`);
      return shardsOf(await inTime(says.call('CLUSTER', 'SLOTS'), REDIS_CLUSTER_NODE_MS, late), host);
    };
    for (const { says, at, lost } of nodes) {
      if (lost) continue;
      try {
        return await say(says, at.host);
      } catch (error) {
        why = error;
      }
    }
    for (const at of [...nodes.map((node) => node.at), undefined, ...this.#clients.seeds]) {
      let says: Commands | undefined;
      try {
        says = await this.#clients.once(at, REDIS_CLUSTER_NODE_MS);
        return await say(says, at?.host ?? this.#clients.host);
      } catch (error) {
        why = error;
      } finally {
        if (says !== undefined) this.#clients.end(says);
      }
    }
    throw why;
  }
  async #enter(name: string): Promise<void> {
    const at = addressOf(name);
    const [says, hears] = await bothOf(
      () => this.#clients.once(at, REDIS_CLUSTER_NODE_MS),
      (late) => this.#clients.end(late),
    );
    const node: Node = { at, says, hears, waits: new Set(), lost: false, deaf: false };
    this.#nodes.set(name, node);
    this.#keep(node, says);
    this.#keep(node, hears);
  }
  async #hearAnew(node: Node): Promise<void> {
    const before = node.hears;
    node.hears = await this.#clients.once(node.at, REDIS_CLUSTER_NODE_MS);
    node.deaf = false;
    this.#keep(node, node.hears);
    this.#clients.end(before);
  }
  #keep(node: Node, connection: Commands): void {
    connection.watch((up) => {
      // One that was put in the place of it is there.
      if (!up && (connection === node.says || connection === node.hears)) this.#lose(node);
    });
    connection.whenMoved(() => {
      if (connection !== node.hears) return;
      node.deaf = true;
      this.#look();
    });
    if (this.#clients.isDown(connection)) this.#lose(node);
  }
  #lose(node: Node): void {
    if (node.lost || this.#closed) return;
    node.lost = true;
    this.#setUp(false);
    this.#look();
  }
  #drop(name: string, node: Node): void {
    this.#nodes.delete(name);
    for (const each of [node.hears, ...node.waits]) this.#clients.end(each);
    if (node.lost) this.#clients.end(node.says);
    else {
      node.lost = true;
      // What it was asked it may be about to answer, with where that is now.
      const timer = setTimeout(() => this.#clients.end(node.says), REDIS_CLUSTER_NODE_MS);
      (timer as { unref?(): void }).unref?.();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#check);
    this.#setUp(false);
    this.#ready.reject(new ClosedError(`The client of Redis at ${this.#clients.where} is closed`, 'closed'));
    await this.#clients.close();
  }
}

/** Two, or none. */
async function bothOf<T>(make: () => Promise<T>, end: (one: T) => void): Promise<[T, T]> {
  const [one, other] = await Promise.allSettled([make(), make()]);
  if (one.status === 'fulfilled' && other.status === 'fulfilled') return [one.value, other.value];
  for (const each of [one, other]) if (each.status === 'fulfilled') end(each.value);
  throw one.status === 'rejected' ? one.reason : (other as PromiseRejectedResult).reason;
}
