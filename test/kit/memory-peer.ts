// The other side of a connection with memory, by hand: it speaks the socket, the meeting and the line of descriptors, and says there what a test wants. It
// lives in the test's own process, so that nothing but what it says is between the two.
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { LINK_PAGE_BYTES, SAID, SIDE_0, SIDE_1 } from '../../src/link/layout.ts';
import { openMapped, regionBytes, writeHeader } from '../../src/memory/region.ts';
import { takeSide } from '../../src/memory/sides.ts';
import type { Mapping } from '../../src/native/primitives.ts';
import { type Ringer, ringerOf } from '../../src/transport/process/bell.ts';
import { REGION } from '../../src/transport/process/memory-link.ts';
import { BELL, CAME, MEET, MEMORY, PAGE, PLACE, SHARED } from '../../src/transport/process/memory-meeting.ts';
import { FrameReader } from '../../src/transport/stream/frame-reader.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import { greetingOf } from '../../src/transport/stream/greeting.ts';
import { native } from './native.ts';
import { chunk, type Frame, HELLO, WINDOW } from './stream-bench.ts';
import { until, within } from './watchdog.ts';

const FEATURES = 3;
const MESSAGE_MAX = 4096;
const TERMS: readonly number[] = [WINDOW, MESSAGE_MAX, 0, 0];
const TICKET_BYTES = 16;
const LINE_WORDS = 8;

export interface Heard {
  readonly type: number;
  readonly channel: number;
  readonly words: Int32Array;
}
export interface Said {
  readonly kind: number;
  readonly number: number;
  readonly words: readonly number[];
  readonly descriptors: readonly number[];
}

/** What it says in place of what an honest one would, where it meets. */
export interface Lies {
  readonly ticket?: (ticket: Int32Array) => Int32Array;
  readonly kind?: number;
  /** Its page and its bell. */
  readonly descriptors?: (page: number, bell: number) => readonly number[];
  readonly bytes?: number;
  readonly times?: number;
}

export class MemoryPeer {
  /** Frames that have come and that nobody has asked for. */
  readonly frames: Heard[] = [];
  /** Of messages that have come over the socket. */
  dataBytes = 0;
  /** Once it is over, which may be by either side's doing. */
  over = false;
  line = -1;
  readonly #socket: Socket;
  readonly #mine: number[] = [];
  readonly #places: number[] = [];
  #page: Mapping | undefined;
  #ringer: Ringer | undefined;
  #side: 0 | 1 = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new FrameReader(
      {
        control: (type, channel, words) => void this.frames.push({ type, channel, words: words.slice() }),
        dataBegins: () => {},
        data: (_, start, end) => {
          this.dataBytes += end - start;
        },
        dataEnds: () => {},
      },
      (type) => (type === MEET ? [8, 8] : undefined),
    );
    socket.on('data', (bytes: Uint8Array) => reader.feed(bytes));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.over = true;
    });
  }
  /** To a listener. */
  static async to(path: string): Promise<MemoryPeer> {
    const socket = connect({ path });
    const peer = new MemoryPeer(socket);
    await within('a connection', new Promise((resolve) => socket.once('connect', resolve)));
    return peer;
  }
  /** The first that connects to a listener of its own. */
  static async at(path: string): Promise<{ peer: Promise<MemoryPeer>; close(): void }> {
    const server = createServer();
    const peer = new Promise<MemoryPeer>((resolve) => server.once('connection', (it) => resolve(new MemoryPeer(it))));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    return { peer, close: () => server.close() };
  }

  // ---- the socket --------------------------------------------------------------------------------------------------

  say(...said: readonly Frame[]): void {
    this.#socket.write(chunk(...said));
  }
  /** The next frame of this type; those before it stay. */
  async heard(type: number): Promise<Heard> {
    let at = -1;
    const look = (): boolean => {
      at = this.frames.findIndex((each) => each.type === type);
      return at >= 0;
    };
    await until(`a frame of type ${type} has come`, () => look() || this.over);
    if (!look()) throw new Error(`It ended without a frame of type ${type}`);
    return this.frames.splice(at, 1)[0] as Heard;
  }
  greet(fields: readonly number[] = []): void {
    this.say([frames.HELLO, 0, ...HELLO.with(FEATURES, MEMORY), ...fields]);
  }
  open(number: number, name: readonly number[] = [0], flags: number = MEMORY): void {
    this.say([frames.OPEN, number, ...TERMS, flags, ...name]);
  }
  accept(number: number, flags: number = MEMORY): void {
    this.say([frames.ACCEPT, number, ...TERMS, flags, 0]);
  }
  meet(step: number): void {
    this.say([MEET, 0, step, 0]);
  }

  // ---- the meeting -------------------------------------------------------------------------------------------------

  /** Greets as who has connected, and goes where it was told. */
  async come(lies: Lies = {}): Promise<void> {
    this.greet();
    this.open(1);
    const { fields } = greetingOf((await this.heard(frames.HELLO)).words);
    const place = fields.find(({ kind }) => kind === PLACE)?.bytes as Uint8Array;
    const ticket = new Int32Array(place.slice(0, TICKET_BYTES).buffer);
    this.line = native.connect(`\0${new TextDecoder().decode(place.subarray(TICKET_BYTES))}`);
    const [page, bell] = [this.memory(LINK_PAGE_BYTES), this.own(native.createBell())];
    this.#page = this.map(page, LINK_PAGE_BYTES);
    const words = [lies.kind ?? PAGE, 0, ...(lies.ticket?.(ticket) ?? ticket), 0, 0];
    const bytes = new Uint8Array(Int32Array.from(words).buffer).subarray(0, lies.bytes);
    const beside = Int32Array.from(lies.descriptors?.(page, bell) ?? [page, bell]);
    for (let i = 0; i < (lies.times ?? 1); i++) native.send(this.line, bytes, beside);
    this.meet(CAME);
  }
  /** Both have a link from here on. */
  async met(): Promise<void> {
    await this.come();
    const [step] = (await this.heard(MEET)).words;
    if (step !== SHARED) throw new Error(`It says ${step}`);
    const bell = this.take();
    this.#ringer = ringerOf(native, bell?.descriptors[0] as number);
  }
  /** Greets as who was connected to; where, it says itself. */
  greetAt(name: string, ticket: readonly number[] = [1, 2, 3, 4]): void {
    const text = new TextEncoder().encode(name);
    const padded = new Uint8Array((text.length + 7) & -8);
    padded.set(text);
    this.greet([PLACE, TICKET_BYTES + text.length, ...ticket, ...new Int32Array(padded.buffer)]);
  }
  /** Who has come to a listener of its own is met, with a bell of its own unless a test has others. */
  async meetAt(listener: number, beside?: readonly number[]): Promise<void> {
    this.#side = 1;
    await this.heard(MEET);
    this.line = native.accept(listener);
    const { descriptors } = this.take() as Said;
    const [memory, bell] = descriptors as readonly [number, number];
    this.#page = this.map(memory, LINK_PAGE_BYTES);
    this.#ringer = ringerOf(native, bell);
    this.put(BELL, 0, [], beside ?? [this.own(native.createBell())]);
    this.meet(SHARED);
  }

  // ---- the line ----------------------------------------------------------------------------------------------------

  /** Says something on the line, and rings; whether there was room. */
  tell(kind: number, number: number, words: readonly number[] = [], descriptors: readonly number[] = []): boolean {
    const out = this.put(kind, number, words, descriptors);
    this.ring();
    return out;
  }
  put(kind: number, number: number, words: readonly number[] = [], descriptors: readonly number[] = []): boolean {
    const all = new Int32Array(LINE_WORDS);
    all.set([kind, number, ...words]);
    return this.write(new Uint8Array(all.buffer), descriptors);
  }
  write(bytes: Uint8Array, descriptors: readonly number[] = []): boolean {
    try {
      return this.line < 0 || native.send(this.line, bytes, Int32Array.from(descriptors)) >= 0;
    } catch (error) {
      if ((error as { code?: string }).code === 'EPIPE') return true;
      throw error;
    }
  }
  ring(): void {
    Atomics.add(this.page, (this.#side === 0 ? SIDE_0 : SIDE_1) + SAID, 1);
    this.#ringer?.ring();
  }
  get page(): Int32Array {
    return new Int32Array((this.#page as Mapping).buffer);
  }
  /** What has come over the line; its descriptors go with the peer. */
  take(): Said | undefined {
    const words = new Int32Array(LINE_WORDS);
    const came = new Int32Array(2);
    if (native.receive(this.line, new Uint8Array(words.buffer), came) <= 0) return undefined;
    const [kind, number, ...rest] = words as unknown as [number, number, ...number[]];
    const descriptors = [...came].filter((each) => each >= 0);
    for (const each of descriptors) this.own(each);
    return { kind, number, words: rest, descriptors };
  }

  // ---- descriptors -------------------------------------------------------------------------------------------------

  /** It is closed with the peer. */
  own(descriptor: number): number {
    this.#mine.push(descriptor);
    return descriptor;
  }
  /** Before the peer is closed. */
  letGo(descriptors: readonly number[]): void {
    for (const each of descriptors) {
      this.#mine.splice(this.#mine.indexOf(each), 1);
      native.close(each);
    }
  }
  memory(bytes: number): number {
    return this.own(native.createMemory(bytes));
  }
  /** Until the peer is closed. */
  map(descriptor: number, bytes: number): Mapping {
    const mapping = native.map(descriptor, bytes);
    this.#places.push(mapping.place);
    return mapping;
  }
  /** Any file; of Deno's own descriptors, which are not the system's, that of the system. */
  file(path: string, flags: string): number {
    const before = opened();
    const file = openSync(path, flags);
    try {
      const [found] = [...opened()].find(([fd, target]) => before.get(fd) !== target) as [string, string];
      return this.own(native.duplicate(Number(found)));
    } finally {
      closeSync(file);
    }
  }
  /** The region of a channel of which each side takes as much as the other; as an honest one makes it. */
  region(capacity: number = WINDOW): { descriptor: number; words: Int32Array; bytes: number } {
    const bytes = regionBytes(capacity, capacity);
    const descriptor = this.memory(bytes);
    const { buffer } = this.map(descriptor, bytes);
    writeHeader(buffer, capacity, capacity, MESSAGE_MAX);
    for (const side of [0, 1] as const) takeSide(openMapped(buffer), side);
    return { descriptor, words: new Int32Array(buffer), bytes };
  }
  /** Accepts a channel of ours, with memory. */
  share(number: number): { words: Int32Array } {
    const { descriptor, words, bytes } = this.region();
    this.accept(number);
    this.tell(REGION, number, [bytes], [descriptor]);
    return { words };
  }

  endLine(): void {
    if (this.line >= 0) native.close(this.line);
    this.line = -1;
  }
  close(): void {
    this.#socket.destroy();
    this.endLine();
    for (const each of this.#mine.splice(0)) native.close(each);
    for (const each of this.#places.splice(0)) native.unmap(each);
  }
}

/** What the system's descriptors of this process lead to, but for that with which their folder is read. */
function opened(): Map<string, string> {
  const folder = '/proc/self/fd';
  const found = new Map<string, string>();
  for (const fd of readdirSync(folder)) {
    try {
      const target = readlinkSync(`${folder}/${fd}`);
      if (!target.startsWith('/proc/')) found.set(fd, target);
    } catch {
      // It was that one.
    }
  }
  return found;
}
