// Two agents as two processes are to each other, both here: what they have in common is memory that each has mapped (plain
// ArrayBuffers: Atomics.wait throws there, and a notify wakes nobody), a control socket that hands memory over as descriptors are
// handed over, and a bell each, which ends a poll() or a turn of the event loop. Whatever a transport between processes is to be
// made of is made here of that, with the parts of src/ as they are.
import { LINK_PAGE_BYTES } from '../../src/link/layout.ts';
import { type AgentLink, OwnAgent } from '../../src/link/own-agent.ts';
import { Resting } from '../../src/link/resting.ts';
import type { EndReason } from '../../src/outcome.ts';
import { AgentSelect } from '../../src/transport/agent-select.ts';
import type { Behind } from '../../src/transport/ring/tie.ts';
import type { ExitStatus, Link, Way } from '../../src/transport/transport.ts';
import { DoorbellWait } from '../../src/wait/async.ts';
import type { ParkPlace } from '../../src/wait/park-place.ts';
import type { Parking } from '../../src/wait/parking.ts';
import { DOORBELL } from '../../src/wait/signal.ts';
import { MappedPlace } from './mapped-place.ts';
import type { Random } from './prng.ts';

const still = new Int32Array(new SharedArrayBuffer(4));

/** As with a futex: the word itself where a thread blocks, a bell where an event loop rests. */
export const MAPPED: Parking = {
  place: (words, index) => new MappedPlace(index, words),
  onLoop: (place, sleeps) => new DoorbellWait(place, sleeps),
};

/** Later, on the event loop: in a microtask or in a turn of its own. Keeps no process alive. */
function soon(random: Random, task: () => void): void {
  if (random.int(0, 1) === 0) queueMicrotask(task);
  else (setTimeout(task, 0) as { unref?(): void }).unref?.();
}

/** As an eventfd: rings add up until somebody takes them. */
export class Bell implements AgentBell {
  /** Rings that found it silent. */
  rings = 0;
  readonly #random: Random;
  #heard: () => void = () => {};
  #rung = false;

  constructor(random: Random) {
    this.#random = random;
  }
  ring(): void {
    if (this.#rung) return;
    this.#rung = true;
    this.rings++;
    soon(this.#random, () => {
      if (this.take()) this.#heard();
    });
  }
  take(): boolean {
    const was = this.#rung;
    this.#rung = false;
    return was;
  }
  /** Told by the event loop. */
  watch(heard: () => void): void {
    this.#heard = heard;
  }
}

/** A thread that waits for descriptors: nobody's notify ends that. */
export class PollPlace implements ParkPlace {
  readonly blocks: number = DOORBELL;
  readonly sliceMsMax = 50;
  readonly words: Int32Array;
  readonly index: number;
  readonly #bell: Bell;
  /** What the other agent does as soon as this thread sleeps: nothing else runs here then. */
  meanwhile: () => void = () => {};

  constructor(words: Int32Array, index: number, bell: Bell) {
    this.words = words;
    this.index = index;
    this.#bell = bell;
  }
  sleep(_: number, timeoutMs: number): boolean {
    const { meanwhile } = this;
    this.meanwhile = () => {};
    meanwhile();
    const end = performance.now() + timeoutMs;
    while (!this.#bell.take()) {
      if (performance.now() >= end) return false;
      Atomics.wait(still, 0, 0, 0.5);
    }
    return true;
  }
  wake(): void {}
}

/** What goes over the control socket: for which channel, and what. Memory in it arrives mapped. */
export interface Said {
  readonly address: number;
  readonly left?: readonly (readonly [tag: number, payload: Uint8Array])[];
  readonly memory?: { readonly number: number; readonly slot: number; readonly memory: ArrayBuffer };
  readonly value?: { readonly number: number; readonly value: unknown; readonly ports: readonly unknown[] };
}

class SocketEnd implements AgentSocket {
  readonly #random: Random;
  readonly #late: boolean;
  #other!: SocketEnd;
  #heard: () => void = () => {};
  /** On the way, and what a read without the event loop finds. */
  readonly #under: Said[] = [];
  readonly #readable: Said[] = [];
  #due = false;
  #closed = false;

  /** @param late nothing can be read but by the event loop */
  constructor(random: Random, late: boolean) {
    this.#random = random;
    this.#late = late;
  }
  static pair(random: Random, late: boolean): readonly [SocketEnd, SocketEnd] {
    const [one, other] = [new SocketEnd(random, late), new SocketEnd(random, late)];
    one.#other = other;
    other.#other = one;
    return [one, other];
  }
  send(said: Said): void {
    if (this.#closed || this.#other.#closed) return;
    this.#other.#under.push(said);
    this.#other.#wake();
  }
  take(): Said | undefined {
    return this.#readable.shift() ?? (this.#late ? undefined : this.#under.shift());
  }
  /** Whether the other end is closed, and everything it said was taken. */
  get hungUp(): boolean {
    return this.#other.#closed && this.#under.length === 0 && this.#readable.length === 0;
  }
  watch(heard: () => void): void {
    this.#heard = heard;
  }
  close(): void {
    this.#closed = true;
    this.#other.#wake();
  }
  #wake(): void {
    if (this.#due) return;
    this.#due = true;
    soon(this.#random, () => {
      this.#due = false;
      this.#readable.push(...this.#under.splice(0));
      this.#heard();
    });
  }
}

/** One end of a channel, as its link knows it. Leads to no port. */
export interface Member {
  accept(said: Said): void;
  arrived(): void;
  gone(how: EndReason): void;
}

/** A bell that ends a turn of the event loop, or a poll(). */
export interface AgentBell {
  /** Whether it was rung since the last time. */
  take(): boolean;
  /** Told by the event loop. */
  watch(heard: () => void): void;
}

/** One end of a control socket. */
export interface AgentSocket {
  send(said: Said): void;
  /** What has come, as far as it can be taken here. */
  take(): Said | undefined;
  /** The other end is closed, and everything it said was taken. */
  readonly hungUp: boolean;
  watch(heard: () => void): void;
  close(): void;
}

/** What an agent has in common with the other one. */
export interface AgentMeans<B extends AgentBell, P extends ParkPlace> {
  readonly page: ArrayBuffer;
  readonly parking: Parking;
  readonly bell: B;
  /** Rings the other one's. */
  ring(): void;
  readonly socket: AgentSocket;
  /** Whether what comes over the socket needs the event loop. */
  readonly late: boolean;
  /** Where it sleeps for all its links. */
  polls(words: Int32Array, index: number): P;
}

/** One agent, with its link to the other one. */
export class MappedAgent<B extends AgentBell = AgentBell, P extends ParkPlace = ParkPlace>
  implements AgentLink, Behind, Link
{
  readonly select: AgentSelect;
  readonly polls: P;
  readonly bell: B;
  readonly resting: Resting;
  /** Bytes of memory handed over. */
  lent = 0;
  /** Channels that want the process to live. */
  held = 0;
  readonly link: Link = this;
  readonly way: Way = { name: 'mapped memory', why: 'a test asks for it' };
  /** As whoever started the other process hears of its end. */
  exit: ExitStatus | undefined;
  readonly error = undefined;
  readonly silent = true;
  readonly #socket: AgentSocket;
  readonly #late: boolean;
  readonly #members = new Map<number, Member>();
  #gone: EndReason | undefined;

  constructor(side: 0 | 1, { page, parking, bell, ring, socket, late, polls }: AgentMeans<B, P>) {
    this.bell = bell;
    this.#late = late;
    let sleeps!: P;
    const own = new OwnAgent((words, index) => {
      sleeps = polls(words, index);
      return sleeps;
    });
    this.polls = sleeps;
    this.select = new AgentSelect(own);
    this.#socket = socket;
    this.resting = new Resting(new Int32Array(page), side, parking, { doorbell: ring, agent: ring });
    bell.watch(() => this.resting.rung());
    socket.watch(() => {
      this.pull();
      for (const member of [...this.#members.values()]) member.arrived();
    });
    own.add(this);
  }

  /** Whether something may come yet that only the event loop takes in: nothing does once the line is over. */
  get late(): boolean {
    return this.#late && this.#gone === undefined;
  }
  get end(): Resting['end'] {
    return this.resting.end;
  }
  rest(): void {
    this.resting.rest();
  }
  peerGone(): EndReason | undefined {
    this.pull();
    return this.#gone;
  }
  /** Takes what has come over the socket, with the event loop or without. */
  pull(): void {
    for (let said = this.#socket.take(); said !== undefined; said = this.#socket.take()) {
      this.#members.get(said.address)?.accept(said);
    }
    if (!this.#socket.hungUp || this.#gone !== undefined) return;
    this.#gone = 'terminated';
    for (const member of [...this.#members.values()]) member.gone(this.#gone);
  }
  say(said: Said): void {
    this.lent += said.memory?.memory.byteLength ?? 0;
    this.#socket.send(said);
  }
  enter(address: number, member: Member): void {
    this.#members.set(address, member);
  }
  letGo(address: number): void {
    this.#members.delete(address);
  }
  get ended(): EndReason | undefined {
    return this.#gone;
  }
  close(): void {
    this.#socket.close();
  }
  /** It is gone without a word, as after SIGKILL. */
  kill(): void {
    this.#members.clear();
    this.#socket.close();
  }
}

export type ScriptedAgent = MappedAgent<Bell, PollPlace>;

export function mappedAgents(random: Random, late: boolean): readonly [ScriptedAgent, ScriptedAgent] {
  const page = new ArrayBuffer(LINK_PAGE_BYTES);
  const bells = [new Bell(random), new Bell(random)] as const;
  const sockets = SocketEnd.pair(random, late);
  const agent = (side: 0 | 1): ScriptedAgent => {
    const bell = bells[side];
    return new MappedAgent(side, {
      page,
      parking: MAPPED,
      bell,
      ring: () => bells[side === 0 ? 1 : 0].ring(),
      socket: sockets[side],
      late,
      polls: (words, index) => new PollPlace(words, index, bell),
    });
  };
  return [agent(0), agent(1)];
}
