// What may happen to threads whose channels join their links, and what must come of it: lines-stage.ts in every order of turns.
import type { World } from '../kit/explore-turns.ts';
import { digest } from './lines-look.ts';
import { Channel, End, type EndOnItsWay, entangled, NativeEnd, type Natives, Thread } from './lines-stage.ts';
import { countMemories, type Touches, touch, touchedBy } from './lines-touched.ts';
import { modelled } from './platform.ts';
import type { Shipped } from './shipped.ts';

type Link = InstanceType<Shipped['ThreadLink']>;

/** Something that may happen once, when `ready`: what is of one `line` in the order in which it was written down. */
export interface Act {
  readonly name: string;
  readonly line?: Thread | undefined;
  /** Whose turn it is, if it is no more than that. */
  readonly turnOf?: () => Thread | undefined;
  ready(): boolean;
  run(): void;
}

/** Threads, channels between them, and what may happen. */
export class LinesWorld implements World {
  readonly shipped: Shipped;
  readonly threads: Thread[] = [];
  readonly channels: Channel[] = [];
  readonly acts: Act[] = [];
  /** More that must be right at each moment, and in the end. */
  also: () => string | undefined = () => undefined;
  /** Whose other end is in the hands of a liar: that one may do with them what it likes. */
  readonly lost: Set<Channel> = new Set();
  /** A liar may keep the others from having a link. */
  mayStayAlone = false;
  /** Nobody is left who could bring two ends together. */
  mayLose = false;
  readonly #done: Set<string> = new Set();
  #tokens = 0;
  #touched: Touches | undefined;
  readonly #memories: { count: number } = { count: 0 };
  readonly #made: NativeEnd[] = [];
  /** Those of the channels, and then those that were made on the way. */
  #ports: NativeEnd[] = [];
  /** Ends that have left, and where they are to be opened. */
  readonly #onTheWay: Map<EndOnItsWay, Thread> = new Map();
  readonly #lostOnTheWay: Set<Channel> = new Set();
  /** Tasks for later, by thread. */
  readonly #later: { readonly thread: Thread | undefined; readonly task: () => void }[] = [];
  readonly #microtasks: (() => void)[] = [];

  constructor(shipped: Shipped) {
    this.shipped = shipped;
  }

  // ---- how it is set up ---------------------------------------------------------------------------------------

  thread(name: string, takes = true): Thread {
    const thread = this.within(undefined, () => new Thread(this.shipped, name, takes));
    this.threads.push(thread);
    return thread;
  }
  channel(name: string): Channel {
    const channel = this.within(undefined, () => new Channel(name, this.channels.length));
    this.channels.push(channel);
    this.#ports = [...this.channels.flatMap(({ all }) => all), ...this.#made];
    for (const [nth, port] of this.#ports.entries()) port.nth = nth;
    return channel;
  }
  /** Its maker's end is open. */
  make(name: string, maker: Thread): Channel {
    const channel = this.channel(name);
    this.within(maker, () => new End(this.shipped, channel, 0, maker));
    return channel;
  }
  /** Attaches an end, at some time. @param claimed who has made the channel, as its handle says */
  attach(channel: Channel, thread: Thread, claimed: Thread | undefined, side: 0 | 1 = 1): void {
    this.act(`${thread.name} attaches ${channel.name}`, thread, () => {
      const end = new End(this.shipped, channel, side, thread);
      end.joining.introduce(claimed?.links.card, side === 1);
    });
  }
  /** Posts so many values over an end, one at a time. @param looks as `End.post` */
  posts(channel: Channel, side: 0 | 1, count = 1, looks = false): void {
    for (let i = 0; i < count; i++) {
      this.acts.push({
        name: `${channel.name}: side ${side} posts ${i}`,
        ready: () => {
          const end = channel.ends[side];
          return end?.posted === i && end.ended === undefined && end.thread.alive;
        },
        turnOf: () => channel.ends[side]?.thread,
        run: () => this.within(channel.ends[side]?.thread, () => channel.ends[side]?.post(looks)),
      });
    }
  }
  /**
   * All that is under way arrives, in some order: nothing of it is what the model is about.
   * @param at these threads; the others have no turn
   */
  settle(at: readonly Thread[] = this.threads): void {
    for (;;) {
      const port = this.#ports.findIndex(({ due, owner }) => due && at.includes(owner as Thread));
      if (port < 0) return;
      this.step(`port ${port}`);
    }
  }
  closes(channel: Channel, side: 0 | 1): void {
    const name = `${channel.name}: side ${side} closes`;
    this.acts.push({
      name,
      ready: () => {
        const end = channel.ends[side];
        return end !== undefined && end.ended === undefined && end.thread.loops;
      },
      run: () => this.within(channel.ends[side]?.thread, () => channel.ends[side]?.close()),
    });
  }
  /** Goes over to another thread at some moment, and is opened there at a later one. */
  travels(channel: Channel, side: 0 | 1, to: Thread, times = 1): void {
    let handle: EndOnItsWay | undefined;
    const name = `${channel.name}: side ${side} `;
    this.acts.push({
      name: `${name}leaves for ${to.name} ${times}`,
      ready: () => {
        const end = channel.ends[side];
        return end !== undefined && end.ended === undefined && end.thread.loops && end.thread !== to;
      },
      run: () =>
        this.within(channel.ends[side]?.thread, () => {
          handle = channel.ends[side]?.leave();
          if (handle !== undefined) this.#onTheWay.set(handle, to);
        }),
    });
    this.acts.push({
      name: `${name}arrives at ${to.name} ${times}`,
      ready: () => handle !== undefined && to.loops,
      run: () =>
        this.within(to, () => {
          if (handle === undefined) return;
          this.#onTheWay.delete(handle);
          handle.open(to).joining.introduce(undefined, true);
        }),
    });
  }
  /** One of them is killed at some moment, or none. */
  dies(...threads: readonly Thread[]): void {
    for (const thread of threads) {
      this.acts.push({
        name: `${thread.name} is killed`,
        ready: () => threads.every(({ alive }) => alive),
        run: () => {
          thread.alive = false;
          for (const port of this.#ports) if (port.owner === thread) port.close();
          for (const [handle, to] of this.#onTheWay) if (to === thread) this.#lose(handle);
        },
      });
    }
  }
  #lose({ channel, ports }: EndOnItsWay): void {
    this.#lostOnTheWay.add(channel);
    for (const port of ports) port.close();
  }
  /** Its thread blocks for some time: only what it takes itself comes to it. */
  blocks(thread: Thread): void {
    this.acts.push({
      name: `${thread.name} blocks`,
      ready: () => thread.alive,
      run: () => {
        thread.blocked = true;
      },
    });
    this.acts.push({
      name: `${thread.name} goes on`,
      ready: () => thread.blocked,
      run: () => {
        thread.blocked = false;
        this.within(thread, () => {});
      },
    });
  }
  act(name: string, thread: Thread, run: () => void, ready: () => boolean = () => thread.loops): void {
    this.acts.push({ name, line: thread, ready, run: () => this.within(thread, run) });
  }

  // ---- what happens -------------------------------------------------------------------------------------------

  get ends(): readonly End[] {
    const all: End[] = [];
    for (const { ends } of this.channels) for (const end of ends) if (end !== undefined) all.push(end);
    return all;
  }

  /** Runs code of a thread, and what it has put off to the end of the turn. */
  within<T>(thread: Thread | undefined, run: () => T): T {
    const microtask = globalThis.queueMicrotask;
    const { crypto } = globalThis;
    const uncounted = countMemories(this.#memories);
    globalThis.queueMicrotask = (task) => void this.#microtasks.push(task);
    Object.defineProperty(crypto, 'getRandomValues', {
      configurable: true,
      value: (array: Uint32Array) => {
        touch.naming();
        return array.fill(4711).fill(++this.#tokens, 0, 1);
      },
    });
    modelled.canTake = thread?.takes ?? true;
    modelled.thread = thread;
    modelled.isNativePort = (value) => value instanceof NativeEnd;
    modelled.channel = () => {
      const ends = entangled();
      touch.making();
      for (const end of ends) {
        end.owner = thread;
        end.nth = this.#ports.length;
        this.#made.push(end);
        this.#ports.push(end);
      }
      return ends;
    };
    modelled.later = (task) => {
      touch.puttingOff();
      this.#later.push({ thread, task });
    };
    try {
      const result = run();
      do {
        for (let task = this.#microtasks.shift(); task !== undefined; task = this.#microtasks.shift()) task();
        // Whoever was told looks before the turn is over, unless it blocks. What that puts off is this turn's, too.
        for (const end of this.ends) if (end.told && end.thread === thread && thread.loops) end.look();
      } while (this.#microtasks.length > 0);
      return result;
    } finally {
      modelled.canTake = true;
      uncounted();
      globalThis.queueMicrotask = microtask;
      Reflect.deleteProperty(crypto, 'getRandomValues');
    }
  }

  moves(): string[] {
    const first = new Set<Thread>();
    const moves: string[] = [];
    for (const { name, line, ready } of this.acts) {
      if (this.#done.has(name) || (line !== undefined && first.has(line))) continue;
      if (line !== undefined) first.add(line);
      if (ready()) moves.push(name);
    }
    const before = moves.length;
    this.#ports.forEach((port, i) => {
      if (port.due) moves.push(`port ${i}`);
    });
    // A timer is long: what is on its way is there before it.
    const quiet = moves.length === before;
    this.#later.forEach(({ thread }, i) => {
      if (quiet && thread?.loops !== false) moves.push(`later ${i}`);
    });
    this.ends.forEach((end, i) => {
      if (end.thread.alive && end.ended === undefined && end.incoming.length > 0) moves.push(`read ${i}`);
    });
    return moves;
  }

  step(move: string): void {
    const [what, which] = move.split(' ') as [string, string];
    const act = this.acts.find(({ name }) => name === move);
    this.#touched = undefined;
    if (act !== undefined) {
      this.#done.add(move);
      this.#turn(act.turnOf?.(), () => act.run());
    } else if (what === 'port') {
      const port = this.#ports[Number(which)] as NativeEnd;
      this.#turn(port.owner, () => this.within(port.owner, () => port.turn()));
    } else if (what === 'later') {
      const [{ thread, task }] = this.#later.splice(Number(which), 1) as [{ thread: Thread; task: () => void }];
      const others = this.#later.length;
      this.within(thread, task);
      // One that goes on for ever changes nothing by that: it is no way out of an ending.
      this.#later.splice(Number(which), 0, ...this.#later.splice(others));
    } else {
      const end = this.ends[Number(which)] as End;
      this.#turn(end.thread, () => this.within(end.thread, () => end.read()));
    }
  }

  /** Of the last step; nothing where more than one thread may have to do with it. */
  touched(): Touches | undefined {
    return this.#touched;
  }
  #turn(thread: Thread | undefined, run: () => void): void {
    const nth = thread === undefined ? -1 : this.threads.indexOf(thread);
    if (nth < 0) run();
    else this.#touched = touchedBy(nth, run);
  }

  key(): string {
    return digest.of([this.threads, this.channels, this.#made, this.#later, [...this.#done].sort()]);
  }

  // ---- what must be right -------------------------------------------------------------------------------------

  wrong(): string | undefined {
    const { ends } = this;
    const unheard = ends.find(({ thread, ended, seatSaid }) => thread.alive && ended === undefined && !seatSaid);
    if (unheard !== undefined) return `${unheard.name} has a seat, and SEAT says another one`;
    return ends.find(({ wrong }) => wrong !== undefined)?.wrong ?? this.also();
  }

  unfinished(): string | undefined {
    for (const end of this.ends) {
      const held = end.thread.alive && !this.lost.has(end.channel);
      const why = held ? this.#unfinished(end) : undefined;
      if (why !== undefined) return `${end.name} ${why}`;
    }
    for (const { name, alive, links } of this.threads) {
      const left = Reflect.get(links, '$expected') as Map<string, unknown>;
      if (alive && this.lost.size === 0 && left.size > 0) return `${name} still waits for ${left.size} tokens`;
      const gone = Reflect.get(links.left, '$all') as Set<unknown>;
      if (alive && gone.size > 0) return `${name} still waits for what may come for an end that has left`;
    }
    return undefined;
  }
  #unfinished(end: End): string | undefined {
    const other = end.channel.ends[end.side === 0 ? 1 : 0];
    const { first } = end.joining;
    const { tether, side } = end.channel.natives[end.side];
    if (end.ended !== undefined) {
      if (this.mayLose && end.ended === 'lost') return undefined;
      const lost = this.#lostOnTheWay.has(end.channel);
      const lived = other === undefined ? !lost : other.thread.alive || other.ended !== undefined;
      if (lived && end.ended !== 'closed') return `was told ${end.ended}`;
      const stays = end.link === first || this.#isLink(tether);
      return tether.closed || stays ? undefined : 'still listens, though it has ended';
    }
    if (other === undefined) return undefined;
    if (!other.thread.alive) return 'never hears that the other thread has died';
    if (other.ended !== undefined) return 'never hears that the other one has ended';
    if (end.received !== other.posted) return `has ${end.received} of ${other.posted} values`;
    if (end.tie.peer.unsettled) return 'still waits for what an earlier line may bring';
    if (end.link === undefined) return this.mayStayAlone ? undefined : 'has no link';
    const there = (link: Link): unknown => (Reflect.get(link, '$natives') as Natives).tether.peer;
    const natives = Reflect.get(other.link ?? {}, '$natives') as Natives | undefined;
    if (there(end.link) !== natives?.tether) return 'posts over another line than the other one';
    if (end.link !== first && !(tether.closed && side.closed) && !this.#isLink(tether))
      return 'keeps the ports that came with the handle open';
    return undefined;
  }

  /** Ports that came with a handle, and are a link for others, too, wherever the ends of their channel are now. */
  #isLink(tether: NativeEnd): boolean {
    return this.threads.some(({ links }) => {
      const known = Reflect.get(links, '$byAgent') as ReadonlyMap<string, ReadonlySet<{ readonly link: Link }>>;
      const all = [...known.values()].flatMap((each) => [...each]);
      return all.some(({ link }) => (Reflect.get(link, '$natives') as Natives | undefined)?.tether === tether);
    });
  }

  outcome(): string {
    const words = this.ends.map((end) => {
      const line = end.link === undefined ? 'alone' : end.link === end.joining.first ? 'founder' : 'joined';
      return `${end.name}: ${end.thread.alive ? (end.ended ?? line) : 'dead'} ${end.received}`;
    });
    return words.join(', ');
  }
}
