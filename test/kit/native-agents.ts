// An agent whose link to another process is made of what the addon has: memory that both have mapped, futexes, bells on the event
// loop, a socket. What mapped-agents.ts plays, for real.
import { Buffer } from 'node:buffer';
import type { ChannelOptions, Port as PublicPort } from '../../src/index.ts';
import { LINK_PAGE_BYTES } from '../../src/link/layout.ts';
import { capacityFor, regionBytes, writeHeader } from '../../src/memory/region.ts';
import { BELL, BLOCK_MS_MAX, type Mapping, READABLE, TIMED_OUT, WRITABLE } from '../../src/native/primitives.ts';
import { resolveOptions } from '../../src/port/options.ts';
import { Port } from '../../src/port/port.ts';
import { DoorbellWait } from '../../src/wait/async.ts';
import type { ParkPlace } from '../../src/wait/park-place.ts';
import type { Parking } from '../../src/wait/parking.ts';
import { BLOCKED, DOORBELL } from '../../src/wait/signal.ts';
import { type AgentBell, type AgentSocket, MappedAgent, type Said } from './mapped-agents.ts';
import { openEnd } from './mapped-pair.ts';
import { native } from './native.ts';

/** Whoever sleeps on a word is one, but for a peer that lies. */
const ALL = 2 ** 31 - 1;
/** Of a sleep in the kernel, which `worker.terminate()` does not end. */
const SLICE_MS = 100;

/** A word of a mapping, slept on with a futex. */
class FutexPlace implements ParkPlace {
  readonly words: Int32Array;
  readonly index: number;
  readonly sliceMsMax: number = SLICE_MS;
  readonly blocks: number = BLOCKED;
  readonly #place: number;

  constructor(place: number, words: Int32Array, index: number) {
    this.#place = place;
    this.words = words;
    this.index = index;
  }
  sleep(seen: number, timeoutMs: number): boolean {
    return native.wait(this.#place, this.index, seen, timeoutMs) !== TIMED_OUT;
  }
  wake(): void {
    native.wake(this.#place, this.index, ALL);
  }
}

/** Of words of this mapping, from its start. */
function futexParking({ place }: Mapping): Parking {
  return {
    place: (words, index) => new FutexPlace(place, words, index),
    onLoop: (where, sleeps) => new DoorbellWait(where, sleeps),
  };
}

/** A thread that waits for descriptors. */
class PollPlace implements ParkPlace {
  readonly words: Int32Array;
  readonly index: number;
  readonly sliceMsMax: number = SLICE_MS;
  readonly blocks: number = DOORBELL;
  readonly #table: Int32Array;
  readonly #bell: NativeBell;
  readonly #came: () => void;

  /** @param came takes what lies in the socket: else the next sleep ends at once */
  constructor(words: Int32Array, index: number, bell: NativeBell, socket: number, came: () => void) {
    this.words = words;
    this.index = index;
    this.#bell = bell;
    this.#came = came;
    this.#table = Int32Array.of(bell.descriptor, READABLE, 0, socket, READABLE, 0);
  }
  sleep(_: number, timeoutMs: number): boolean {
    const ready = native.poll(this.#table, 2, Math.min(timeoutMs, BLOCK_MS_MAX)) > 0;
    this.#bell.take();
    if (this.#table[5] !== 0) this.#came();
    return ready;
  }
  wake(): void {}
}

class NativeBell implements AgentBell {
  readonly descriptor: number;
  #watch: number | undefined;

  constructor(descriptor: number) {
    this.descriptor = descriptor;
  }
  take(): boolean {
    return native.drain(this.descriptor);
  }
  watch(heard: () => void): void {
    this.#watch = native.watch(this.descriptor, READABLE | BELL, heard);
  }
  close(): void {
    if (this.#watch !== undefined) native.unwatch(this.#watch);
    native.close(this.descriptor);
  }
}

/** Lines of JSON. */
class NativeSocket implements AgentSocket {
  readonly descriptor: number;
  readonly #came: Said[] = [];
  readonly #bytes = Buffer.alloc(65_536);
  #begun = Buffer.alloc(0);
  #unsent: Uint8Array = new Uint8Array(0);
  #watch: number | undefined;
  #over = false;

  constructor(descriptor: number) {
    this.descriptor = descriptor;
  }
  get hungUp(): boolean {
    return this.#over && this.#came.length === 0;
  }
  send({ address, left }: Said): void {
    const frames = left?.map(([tag, payload]) => [tag, Buffer.from(payload).toString('base64')]);
    this.#unsent = Buffer.concat([this.#unsent, Buffer.from(`${JSON.stringify({ address, left: frames })}\n`)]);
    this.#write();
  }
  take(): Said | undefined {
    if (this.#came.length === 0) this.#read();
    return this.#came.shift();
  }
  watch(heard: () => void): void {
    this.#watch = native.watch(this.descriptor, READABLE, () => {
      this.#write();
      heard();
    });
  }
  close(): void {
    this.#letGo();
    native.close(this.descriptor);
  }

  #write(): void {
    if (this.#over || this.#watch === undefined) return;
    try {
      const sent = this.#unsent.length === 0 ? 0 : native.send(this.descriptor, this.#unsent);
      this.#unsent = this.#unsent.subarray(Math.max(0, sent));
    } catch {
      // Nobody reads there any more.
      this.#unsent = new Uint8Array(0);
    }
    native.rewatch(this.#watch, this.#unsent.length === 0 ? READABLE : READABLE | WRITABLE);
  }
  #read(): void {
    while (!this.#over) {
      const count = this.#receive();
      if (count < 0) return;
      if (count === 0) this.#letGo();
      this.#begun = Buffer.concat([this.#begun, this.#bytes.subarray(0, count)]);
      for (let end = this.#begun.indexOf(10); end >= 0; end = this.#begun.indexOf(10)) {
        const { address, left } = JSON.parse(this.#begun.toString('utf8', 0, end));
        this.#begun = this.#begun.subarray(end + 1);
        const frames = left?.map(([tag, text]: [number, string]) => [tag, new Uint8Array(Buffer.from(text, 'base64'))]);
        this.#came.push(frames === undefined ? { address } : { address, left: frames });
      }
    }
  }
  #receive(): number {
    try {
      return native.receive(this.descriptor, this.#bytes);
    } catch {
      return 0;
    }
  }
  #letGo(): void {
    this.#over = true;
    if (this.#watch !== undefined) native.unwatch(this.#watch);
    this.#watch = undefined;
  }
}

/** One side of a link between two processes. */
export class NativeLink {
  readonly agent: MappedAgent<NativeBell, ParkPlace>;
  readonly #side: 0 | 1;
  readonly #bell: NativeBell;
  readonly #otherBell: number;
  readonly #socket: NativeSocket;
  #ports = 0;

  /** @param descriptors page, bell of side 0, bell of side 1, socket: this side's from now on */
  constructor(side: 0 | 1, descriptors: readonly number[]) {
    const [page, bell0, bell1, socket] = descriptors as [number, number, number, number];
    this.#side = side;
    const mapping = native.map(page, LINK_PAGE_BYTES);
    native.close(page);
    const otherBell = side === 0 ? bell1 : bell0;
    this.#otherBell = otherBell;
    const bell = new NativeBell(side === 0 ? bell0 : bell1);
    this.#bell = bell;
    this.#socket = new NativeSocket(socket);
    this.agent = new MappedAgent(side, {
      page: mapping.buffer,
      parking: futexParking(mapping),
      bell,
      ring: () => native.ring(otherBell),
      socket: this.#socket,
      late: false,
      polls: (words, index) => new PollPlace(words, index, bell, socket, () => this.agent.pull()),
    });
  }

  /** The port over a region: both sides count them alike. The descriptor is closed. */
  port(region: number, options: ChannelOptions = {}): PublicPort {
    const mapping = native.map(region, bytesOf(options));
    native.close(region);
    const means = { lends: false, descriptors: false, parking: futexParking(mapping) };
    const address = this.#ports++;
    return new Port((events) => openEnd(this.agent, address, mapping.buffer, this.#side, means, options, events));
  }
  /** Behind the ends of all ports. Memory goes with who looks at it last: a port that is garbage does, in a turn to come. */
  close(): void {
    this.#socket.close();
    this.#bell.close();
    native.close(this.#otherBell);
  }
}

function bytesOf(options: ChannelOptions): number {
  const capacity = capacityFor(resolveOptions(options).capacityBytes);
  return regionBytes(capacity, capacity);
}

/** The descriptor of a region. */
export function createRegion(options: ChannelOptions = {}): number {
  const { capacityBytes, maxMessageBytes } = resolveOptions(options);
  const capacity = capacityFor(capacityBytes);
  const region = native.createMemory(bytesOf(options));
  const { buffer, place } = native.map(region, bytesOf(options));
  writeHeader(buffer, capacity, capacity, maxMessageBytes);
  native.unmap(place);
  return region;
}

/** A link's first side, and the descriptors for the second one, which may be closed here once it has them. */
export function createLink(): { readonly link: NativeLink; readonly theirs: readonly number[] } {
  const ends = new Int32Array(2);
  native.socketPair(ends);
  const page = native.createMemory(LINK_PAGE_BYTES);
  const bells = [native.createBell(), native.createBell()];
  const theirs = [page, ...bells].map((each) => native.duplicate(each));
  return { link: new NativeLink(0, [page, ...bells, ends[0] as number]), theirs: [...theirs, ends[1] as number] };
}
