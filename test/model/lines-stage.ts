// Threads whose channels join their links: the shipped lines over native ports of the model, and of the rings no more than the
// markers in them. A turn of an event loop takes one message from one port, as a runtime may choose.
import * as layout from '../../src/memory/layout.ts';
import { closeReason } from '../../src/memory/layout.ts';
import type { TetherHandlers } from '../../src/platform/contract.ts';
import { DoorbellWait } from '../../src/wait/async.ts';
import { type Parking, sharedParking } from '../../src/wait/parking.ts';
import { touch } from './lines-touched.ts';
import { type ModelPort, modelled } from './platform.ts';
import type { Shipped } from './shipped.ts';

/** Sleeps are not counted, so that states do not differ by them. */
const parking: Parking = {
  place: sharedParking('doorbell').place,
  onLoop: (place) => new DoorbellWait(place, place.words.length),
};

type Agents = InstanceType<Shipped['AgentLinks']>;
type Tie = InstanceType<Shipped['ThreadTie']>;
type Link = InstanceType<Shipped['ThreadLink']>;

/** One end of a native port. What was posted is there for who takes at will, and comes by turns to who listens. */
export class NativeEnd implements ModelPort {
  peer!: NativeEnd;
  /** Among those of its world. */
  nth = 0;
  readonly queue: unknown[] = [];
  /** Who holds it; a port in a handle that nobody has attached has no owner. */
  owner: Thread | undefined;
  handlers: TetherHandlers | undefined;
  closed = false;
  closeTold = false;

  postMessage(message: unknown, transfer: readonly unknown[] = []): void {
    this.owner?.looks();
    for (const port of transfer as readonly NativeEnd[]) {
      port.owner = undefined;
      port.handlers = undefined;
    }
    touch.seesClosed(this.nth);
    touch.seesClosed(this.peer.nth);
    if (this.closed || this.peer.closed) {
      discard(message);
      return;
    }
    // A bell that was rung and not heard yet: who hears it finds all that has come by then.
    if (typeof message === 'number') {
      touch.seesLast(this.peer.nth);
      if (this.peer.queue.at(-1) === message) return;
    }
    touch.posting(this.peer.nth);
    this.peer.queue.push(Array.isArray(message) ? [...message] : message);
  }
  #shift(): unknown {
    const message = this.queue.shift();
    if (this.queue.length === 0) touch.emptying(this.nth);
    return message;
  }
  /** With what is on its way here goes what moves in it. */
  close(): void {
    touch.closing(this.nth);
    touch.seesEmpty(this.nth);
    touch.emptying(this.nth);
    this.closed = true;
    for (const message of this.queue.splice(0)) discard(message);
  }
  listen(handlers: TetherHandlers): void {
    this.handlers = handlers;
    this.owner ??= modelled.thread as Thread | undefined;
  }
  take(): { readonly message: unknown } | undefined {
    touch.seesClosed(this.nth);
    if (this.closed || this.owner?.takes === false) return undefined;
    if (this.queue.length > 0) return { message: this.#shift() };
    touch.seesEmpty(this.nth);
    return undefined;
  }
  gone(): boolean {
    touch.seesClosed(this.peer.nth);
    touch.seesEmpty(this.nth);
    return this.peer.closed && this.queue.length === 0;
  }
  /** Whether a turn of its owner's event loop would find something here. */
  get due(): boolean {
    if (this.closed || this.handlers === undefined || !this.owner?.loops) return false;
    return this.queue.length > 0 || (this.peer.closed && !this.closeTold);
  }
  turn(): void {
    touch.seesClosed(this.nth);
    if (this.queue.length > 0) this.handlers?.message(this.#shift());
    else {
      touch.seesEmpty(this.nth);
      touch.seesClosed(this.peer.nth);
      this.closeTold = true;
      this.handlers?.closed();
    }
  }
}

function discard(message: unknown): void {
  if (Array.isArray(message)) for (const part of message) if (part instanceof NativeEnd) part.close();
}

export interface Natives {
  readonly tether: NativeEnd;
  readonly side: NativeEnd;
}

export function entangled(): [NativeEnd, NativeEnd] {
  const ends: [NativeEnd, NativeEnd] = [new NativeEnd(), new NativeEnd()];
  ends[0].peer = ends[1];
  ends[1].peer = ends[0];
  return ends;
}

/** One thread: its links, and whether its event loop turns. */
export class Thread {
  readonly name: string;
  /** It takes from native ports at will, also while it blocks; else what comes has to come by the event loop. */
  readonly takes: boolean;
  readonly links: Agents;
  readonly ends: End[] = [];
  alive = true;
  blocked = false;
  /** Its channels join links; else they keep to their own ports. */
  joins = true;
  /** What a getter of the value that is being cloned does, once. */
  getter: (() => void) | undefined;

  constructor(shipped: Shipped, name: string, takes: boolean) {
    this.name = name;
    this.takes = takes;
    this.links = new shipped.AgentLinks(new shipped.OwnAgent());
  }
  get loops(): boolean {
    return this.alive && !this.blocked;
  }
  looks(): void {
    const { getter } = this;
    this.getter = undefined;
    getter?.();
  }
}

/** Of a value, beside the ring: what a marker in the ring says of it. */
interface Marker {
  readonly number: number;
  readonly where: number;
}

/** A channel as far as its lines go: its words, the markers in its rings, and the natives that came with its handle. */
export class Channel {
  readonly name: string;
  /** Among those of its world. */
  readonly nth: number;
  readonly words: Int32Array = new Int32Array(new SharedArrayBuffer(layout.DATA * 4));
  readonly markers: readonly [Marker[], Marker[]] = [[], []];
  readonly natives: readonly [Natives, Natives];
  readonly ends: (End | undefined)[] = [undefined, undefined];

  constructor(name: string, nth: number) {
    this.name = name;
    this.nth = nth;
    const [tether0, tether1] = entangled();
    const [side0, side1] = entangled();
    this.natives = [
      { tether: tether0, side: side0 },
      { tether: tether1, side: side1 },
    ];
  }
  get all(): readonly NativeEnd[] {
    return this.natives.flatMap(({ tether, side }) => [tether, side]);
  }
}

/** What an end takes along to another thread. */
interface Luggage {
  readonly natives: Natives;
  readonly tail: Natives;
  readonly tie: object;
  readonly posted: number;
  readonly received: number;
}

/** An end that has left, and was not opened yet. */
export interface EndOnItsWay {
  readonly channel: Channel;
  /** Those that travel with it. */
  readonly ports: readonly NativeEnd[];
  open(thread: Thread): End;
}

/** One end of a channel that a thread has opened. */
export class End {
  readonly #shipped: Shipped;
  readonly channel: Channel;
  readonly side: 0 | 1;
  readonly thread: Thread;
  readonly tie: Tie;
  posted = 0;
  received = 0;
  /** Something was said to have changed: it looks. */
  told = false;
  ended: string | undefined;
  wrong: string | undefined;

  /** @param luggage of the one that this end goes on for */
  constructor(shipped: Shipped, channel: Channel, side: 0 | 1, thread: Thread, luggage?: Luggage) {
    this.#shipped = shipped;
    this.channel = channel;
    this.side = side;
    this.thread = thread;
    const natives = luggage?.natives ?? channel.natives[side];
    const own = (pair: Natives): void => {
      pair.tether.owner = thread;
      pair.side.owner = thread;
    };
    own(natives);
    if (luggage !== undefined) own(luggage.tail);
    const [here, there] = side === 0 ? [layout.SIDE_0, layout.SIDE_1] : [layout.SIDE_1, layout.SIDE_0];
    Atomics.store(channel.words, here + layout.ATTACHED, 1);
    const first = new shipped.ThreadLink(natives as never);
    this.tie = new shipped.ThreadTie(
      first,
      thread.joins ? thread.links : undefined,
      { words: channel.words, here, there },
      { parking, life: null },
      {
        arrived: () => {
          this.told = true;
        },
        closed: (how) => this.end(this.peerSaid ?? how ?? 'terminated'),
      },
      luggage && ({ ...luggage.tie, tail: new shipped.ThreadLink(luggage.tail as never) } as never),
    );
    this.posted = luggage?.posted ?? 0;
    this.received = luggage?.received ?? 0;
    channel.ends[side] = this;
    thread.ends.push(this);
  }

  /** Goes over to another thread. */
  leave(): EndOnItsWay {
    const { natives, tail, luggage: tie } = this.tie.leave();
    const { posted, received, channel, side } = this;
    const luggage = { natives, tail, tie, posted, received } as unknown as Luggage;
    this.ended = 'moved';
    channel.ends[side] = undefined;
    const ports = [natives.tether, natives.side, tail.tether, tail.side] as unknown as readonly NativeEnd[];
    for (const port of ports) port.owner = undefined;
    return {
      channel,
      ports,
      open: (thread) => new End(this.#shipped, channel, side, thread, luggage),
    };
  }
  get joining(): Tie['peer']['joining'] {
    return this.tie.peer.joining;
  }
  get link(): Link | undefined {
    return this.joining.link;
  }
  /** Whoever is to ring it where it sleeps finds its seat. */
  get seatSaid(): boolean {
    const { seat } = this.joining;
    const here = this.side === 0 ? layout.SIDE_0 : layout.SIDE_1;
    return !seat.taken || Atomics.load(this.channel.words, here + layout.SEAT) - 1 === Reflect.get(seat, '$own');
  }
  get peerSaid(): string | undefined {
    const there = this.side === 0 ? layout.SIDE_1 : layout.SIDE_0;
    const code = Atomics.load(this.channel.words, there + layout.CLOSED);
    return code === 0 ? undefined : closeReason(code);
  }
  #ring(reader: 0 | 1): number {
    return this.channel.nth * 2 + reader;
  }
  /** What is marked in the ring that this end reads. */
  get incoming(): Marker[] {
    touch.seesMarks(this.#ring(this.side));
    return this.channel.markers[this.side];
  }

  /** @param looks whether a getter of the value takes in whatever has come */
  post(looks = false): void {
    if (looks) this.thread.getter = () => this.tie.peer.pull();
    const number = this.tie.beside.post([this.channel.name, this.side, this.posted++], []);
    const there = this.side === 0 ? 1 : 0;
    touch.marking(this.#ring(there));
    this.channel.markers[there].push({ number, where: this.tie.beside.postedWhere });
  }
  /** Takes the value of the first marker, if it has come. */
  read(): void {
    const { number, where } = this.incoming[0] as Marker;
    const found = this.tie.beside.take(number, where);
    if (found === undefined) return;
    touch.marking(this.#ring(this.side));
    this.incoming.shift();
    const wanted = JSON.stringify([this.channel.name, this.side === 0 ? 1 : 0, this.received++]);
    const got = found.unreadable === undefined ? JSON.stringify(found.value) : 'nothing: it is lost';
    this.told = true;
    if (got !== wanted) this.wrong = `${this.name} reads ${got} in the place of ${wanted}`;
  }
  /** Looks whether the other side has ended, once all is read that it had sent. */
  look(): void {
    this.told = false;
    if (this.peerSaid !== undefined && this.incoming.length === 0) this.end(this.peerSaid);
  }
  close(): void {
    this.tie.teller.tell('closed', 0);
    this.end('closed');
  }
  end(how: string): void {
    if (this.ended !== undefined) return;
    this.ended = how;
    const there = this.side === 0 ? layout.SIDE_1 : layout.SIDE_0;
    this.tie.close(Atomics.load(this.channel.words, there + layout.ATTACHED) !== 0);
  }
  /** Whose channel the values go to that come to an address on this end's line. */
  memberAt(address: number): string | undefined {
    const members = Reflect.get(this.link ?? this.joining.first, '$members') as Map<number, unknown>;
    const member = members.get(address);
    return this.thread.ends.find(({ tie }) => tie.peer === member)?.channel.name;
  }
  get name(): string {
    return `${this.thread.name} of ${this.channel.name}`;
  }
}
