// A channel of a connection whose values go through memory of its own, if the two processes have any in common: asked for as any channel
// is, and its port there at once; by what it goes is known when both take part in it, and what is posted meanwhile waits (asked.ts). Who
// accepts makes the memory, and so has it at once; where both have opened, who has made the connection.
import { LayoutError } from '../../errors.ts';
import { HeldCopies } from '../../lane/held-copies.ts';
import { FUTEX_SLICE_MS, MEMORY_CHANNELS_MAX } from '../../limits.ts';
import * as layout from '../../memory/layout.ts';
import { openMapped, type Region, regionBytes, writeHeader } from '../../memory/region.ts';
import { takeSide } from '../../memory/sides.ts';
import type { Mapping } from '../../native/primitives.ts';
import type { EndReason } from '../../outcome.ts';
import { Asked, AskedTransport } from '../asked.ts';
import { type SharedRingOptions, SharedRingTransport } from '../ring/shared-ring.ts';
import type { TieEvents } from '../ring/tie.ts';
import type { ChannelOwner, ChannelTerms, StreamChannel } from '../stream/channel.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { type StreamOptions, StreamTransport } from '../stream/stream-transport.ts';
import type { ProcessTopicHandle, SharableTopic } from '../topic-medium.ts';
import type { Transport, TransportEvents, Way } from '../transport.ts';
import type { Said } from './descriptor-line.ts';
import { futexParking } from './futex.ts';
import { type MemoryLink, NO_REGION, REGION, TOPIC } from './memory-link.ts';
import { MEMORY, type MemoryMeeting } from './memory-meeting.ts';
import { MemoryLines, MemoryTie } from './memory-tie.ts';
import { ASKS, FOR_TOPIC, SHARES, TopicChannel } from './topic-channel.ts';
import { asking, sharing } from './topic-ends.ts';

export interface MemoryChannelOptions {
  /** For the case that it goes over the connection. */
  readonly stream: StreamOptions;
  readonly spinUs: number;
}

/** Of a channel that has not begun: its memory, and LENT, LEFT and DONE. */
const EARLY_MAX = 4;

/** One of which it is not known yet by what it goes: a channel, or the end of a topic. */
interface Expected {
  /** The number by which this side knows it. */
  readonly number: number;
  /** The number by which both know it; undefined before. */
  readonly joinedAs: number | undefined;
  decide(): void;
  /** Its memory, or that there is none; the descriptors are its own. */
  came(said: Said): void;
}

/** Those of one connection that have memory of their own, or may yet. */
export class MemoryChannels {
  readonly #meeting: MemoryMeeting;
  readonly #connection: StreamConnection;
  /** What they go by is not known. */
  readonly #asked = new Set<Expected>();
  /** Memory that came for a channel which is not known to be one yet, and what was said of that behind it. */
  readonly #early = new Map<number, Said[]>();

  /** @param decided told once it is known whether they have any */
  constructor(meeting: MemoryMeeting, connection: StreamConnection, decided: () => void) {
    this.#meeting = meeting;
    this.#connection = connection;
    meeting.stray = (said) => this.#stray(said);
    meeting.begin(connection, () => {
      for (const asked of [...this.#asked]) asked.decide();
      if (meeting.link === undefined) this.#letGo();
      decided();
    });
  }

  get way(): Way | undefined {
    return this.#meeting.link?.way;
  }

  /** What to say of a channel that is opened or accepted. */
  get flags(): number {
    return this.#meeting.offered && this.#meeting.why === undefined && !this.#full ? MEMORY : 0;
  }
  get #full(): boolean {
    return (this.#meeting.link?.count ?? 0) + this.#asked.size >= MEMORY_CHANNELS_MAX;
  }

  /** @param channel opened or accepted with `flags` */
  transport(channel: StreamChannel, options: MemoryChannelOptions, events: TransportEvents): Transport {
    const connection = this.#connection;
    if ((channel.flags & MEMORY) === 0) {
      const why = `this connection has ${MEMORY_CHANNELS_MAX} channels in memory, as many as it may`;
      const way = this.#full && connection.way !== undefined ? { ...connection.way, why } : undefined;
      return new StreamTransport(connection, channel, { ...options.stream, way }, events);
    }
    const parts = { connection, meeting: this.#meeting, channel, options, events };
    const asked = new MemoryChannel(
      parts,
      (number) => this.#takeEarly(number),
      () => this.#settled(asked),
    );
    this.#asked.add(asked);
    asked.decide();
    return asked.transport;
  }

  /** @throws (rejects) as `sharing` */
  share(name: string, topic: SharableTopic): Promise<void> {
    return sharing(this.#topic(name, SHARES), topic);
  }
  /** @throws (rejects) as `asking` */
  askForTopic(name: string): Promise<ProcessTopicHandle> {
    return asking(this.#topic(name, ASKS), (number) => {
      const [first, ...rest] = this.#takeEarly(number);
      for (const said of rest) this.#close(said);
      return first;
    });
  }
  #topic(name: string, wants: number): TopicChannel {
    const connection = this.#connection;
    const { flags } = this;
    const channel = connection.open(name, { flags: flags === 0 ? 0 : flags | FOR_TOPIC | wants });
    const settled = (one: TopicChannel): void => this.#settled(one);
    const topic = new TopicChannel({ connection, meeting: this.#meeting, channel, settled });
    this.#asked.add(topic);
    return topic;
  }

  /** @throws LayoutError */
  #stray(said: Said): void {
    const { kind, number } = said;
    if (kind !== REGION && kind !== NO_REGION && kind !== TOPIC) {
      const early = this.#early.get(number);
      // Its end has closed, or has not begun.
      if (early === undefined) this.#close(said);
      else this.#keep(early, said);
      return;
    }
    let expected = false;
    for (const asked of this.#asked) {
      if (asked.joinedAs === number) {
        asked.came(said);
        return;
      }
      expected ||= asked.number === number;
    }
    if (!expected && this.#connection.knows(number)) {
      // This side has closed it in the meantime.
      this.#close(said);
      return;
    }
    // Each is for a channel that this side has opened, and of which it has not been told yet that the other one takes part, or has asked for it as well.
    if (this.#early.has(number) || this.#early.size >= this.#asked.size) {
      this.#close(said);
      throw new LayoutError(`Cannot take memory for channel ${number}: nobody has asked for it`, { value: number });
    }
    this.#early.set(number, [said]);
  }
  /** @throws LayoutError */
  #keep(early: Said[], said: Said): void {
    if (early.length < EARLY_MAX) {
      early.push(said);
      return;
    }
    this.#close(said);
    throw new LayoutError(`Cannot take so much for channel ${said.number} before it begins`, { value: said.number });
  }
  /** It is known by what this one goes. What was kept for a number of the other side's that was never met goes with the last of them. */
  #settled(asked: Expected): void {
    this.#asked.delete(asked);
    for (const said of this.#takeEarly(asked.number)) this.#close(said);
    if (this.#asked.size === 0) this.#letGo();
  }
  #takeEarly(number: number): readonly Said[] {
    const early = this.#early.get(number) ?? [];
    this.#early.delete(number);
    return early;
  }
  /** The connection is over, or does without. */
  #letGo(): void {
    for (const said of [...this.#early.values()].flat()) this.#close(said);
    this.#early.clear();
  }
  #close({ descriptors }: Said): void {
    for (const each of descriptors) this.#meeting.link?.native.close(each);
  }
}

interface Parts {
  readonly connection: StreamConnection;
  readonly meeting: MemoryMeeting;
  readonly channel: StreamChannel;
  readonly options: MemoryChannelOptions;
  readonly events: TransportEvents;
}

class MemoryChannel implements ChannelOwner, Expected {
  readonly transport: AskedTransport;
  readonly #parts: Parts;
  readonly #asked: Asked;
  readonly #early: (number: number) => readonly Said[];
  readonly #over: () => void;
  #settled = false;
  /** This side was asked, and has said yes. */
  readonly #accepted: boolean;
  #lines: MemoryLines | undefined;

  constructor(parts: Parts, early: (number: number) => readonly Said[], over: () => void) {
    const { connection, meeting, channel, options, events } = parts;
    this.#parts = parts;
    this.#accepted = channel.attached;
    this.#early = early;
    this.#over = over;
    this.#asked = new Asked({
      link: connection,
      get way() {
        return meeting.link?.way ?? connection.way;
      },
      hold: (held) => connection.hold(held),
      withdraw: (reason) => {
        channel.end(reason);
        // What still comes for it is nobody's.
        this.#overStream();
      },
      pull: () => {
        connection.receiveSync(0);
        meeting.link?.pull();
      },
      // What is missing comes over the line, which a thread that is blocked can look at; what is agreed on before, where the connection can be.
      canPull: () => this.#settled || connection.blocks || (channel.attached && meeting.link !== undefined),
    });
    const { stream } = options;
    const held = new HeldCopies(stream.codec, stream.codecOptions, channel.terms.messageMax);
    channel.owner = this;
    this.transport = new AskedTransport(this.#asked, held, events, stream.outboxLimit);
  }

  /** The number by which this side knows it. */
  get number(): number {
    return this.#parts.channel.number;
  }
  /** The number by which both know it; undefined before. */
  get joinedAs(): number | undefined {
    const { channel } = this.#parts;
    return channel.attached ? channel.number : undefined;
  }

  /** Looks whether it is known by now by what the channel goes. */
  decide(): void {
    const { channel, meeting } = this.#parts;
    if (this.#settled) return;
    if (channel.ended !== undefined) this.turned();
    else if (!channel.attached) return;
    else if ((channel.flags & MEMORY) === 0 || meeting.why !== undefined) this.#overStream();
    else if (meeting.link === undefined) return;
    else if (this.#accepted || (channel.met && meeting.initiator)) this.#make(meeting.link);
    else this.#take(meeting.link);
  }

  // ---- memory ----------------------------------------------------------------------------------------------------

  /** Bytes of each lane, and of the longest message: both sides find the same. */
  get #measures(): { readonly capacities: readonly [number, number]; readonly messageMax: number } {
    const { channel, meeting } = this.#parts;
    const { terms } = channel;
    const theirs = channel.peerTerms as ChannelTerms;
    // What a side takes lies in the lane that leads to it. Side 0 is who has made the connection.
    const capacities = meeting.initiator ? [theirs.window, terms.window] : [terms.window, theirs.window];
    return {
      capacities: capacities as [number, number],
      messageMax: Math.min(terms.messageMax, theirs.messageMax),
    };
  }
  #make(link: MemoryLink): void {
    const { number } = this.#parts.channel;
    const { native } = link;
    const { capacities, messageMax } = this.#measures;
    const bytes = regionBytes(...capacities);
    let descriptor: number | undefined;
    let mapping: Mapping;
    try {
      if (link.busy) throw new LayoutError('the other side does not take what it is sent');
      descriptor = link.createMemory(bytes);
      mapping = native.map(descriptor, bytes);
    } catch (error) {
      // There is no memory, or no descriptor, to be had just now.
      if (descriptor !== undefined) native.close(descriptor);
      link.say(NO_REGION, number, [(error as { errno?: number }).errno ?? 0]);
      this.#overStream();
      return;
    }
    writeHeader(mapping.buffer, ...capacities, messageMax);
    const region = openMapped(mapping.buffer);
    for (const side of [0, 1] as const) takeSide(region, side);
    this.#overMemory(link, region, mapping);
    link.say(REGION, number, [bytes], [descriptor]);
  }
  #take(link: MemoryLink): void {
    const [first, ...rest] = this.#early(this.#parts.channel.number);
    if (first === undefined) {
      link.pull();
      return;
    }
    this.came(first);
    for (const said of rest) {
      if (this.#lines !== undefined) this.#lines.said(said);
      else for (const each of said.descriptors) link.native.close(each);
    }
  }
  /** REGION or NO_REGION. */
  came(said: Said): void {
    const link = this.#parts.meeting.link as MemoryLink;
    try {
      if (said.kind === TOPIC) throw new LayoutError('a topic came for it');
      if (said.kind === NO_REGION) this.#overStream();
      else this.#map(link, said);
    } catch (error) {
      const { channel } = this.#parts;
      const text = `Cannot take the memory of channel ${channel.number}: ${(error as Error).message}`;
      channel.reset(new LayoutError(text, { cause: error }));
    } finally {
      for (const each of said.descriptors) link.native.close(each);
    }
  }
  /** @throws LayoutError, and what the system says */
  #map(link: MemoryLink, { descriptors }: Said): void {
    const { capacities, messageMax } = this.#measures;
    const [descriptor] = descriptors;
    if (descriptor === undefined || descriptors.length > 1) throw new LayoutError('it is not one descriptor');
    const mapping = link.native.map(descriptor, regionBytes(...capacities));
    const region = openMapped(mapping.buffer);
    const fits = region.lanes.every(({ capacity }, i) => capacity === capacities[i]);
    if (!fits || region.messageMax !== messageMax) throw new LayoutError('its header is not what was agreed on');
    this.#overMemory(link, region, mapping);
  }
  #overMemory(link: MemoryLink, region: Region<ArrayBuffer>, mapping: Mapping): void {
    const { channel, meeting, events } = this.#parts;
    const lines = new MemoryLines(link, channel);
    const side = meeting.initiator ? 0 : 1;
    const [here, there] = side === 0 ? [layout.SIDE_0, layout.SIDE_1] : [layout.SIDE_1, layout.SIDE_0];
    const words = { words: region.views.words, here, there };
    const parking = futexParking(link.native, mapping);
    const tieUp = (each: TieEvents): MemoryTie => new MemoryTie(lines, words, parking, each);
    const options = this.#ringOptions();
    this.#lines = lines;
    this.#settle(() => {
      const transport = new SharedRingTransport(region, side, tieUp, options, events);
      if (channel.ended !== undefined) this.turned();
      return transport;
    });
  }
  #ringOptions(): SharedRingOptions {
    const { channel, options } = this.#parts;
    const { stream, spinUs } = options;
    const theirs = channel.peerTerms as ChannelTerms;
    const least = (name: 'texts' | 'textBytes'): number => Math.min(channel.terms[name], theirs[name]);
    return {
      codec: stream.codec,
      codecs: stream.codecs,
      codecOptions: { ...stream.codecOptions, knownTexts: least('texts'), knownTextBytes: least('textBytes') },
      overflow: stream.overflow,
      highWaterMark: stream.highWaterMark,
      outboxLimit: stream.outboxLimit,
      spinUs,
      livenessSliceMs: FUTEX_SLICE_MS,
      startTimeoutMs: Number.POSITIVE_INFINITY,
    };
  }

  #overStream(): void {
    const { connection, channel, options, events } = this.#parts;
    this.#settle(() => new StreamTransport(connection, channel, options.stream, events));
  }
  #settle(open: () => Transport): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#over();
    this.#asked.settle(open);
  }

  // ---- its channel ------------------------------------------------------------------------------------------------

  changed(): void {}
  drain(): void {}
  joined(): void {
    this.decide();
  }
  /** The channel has ended, over there or with the connection: what stands in the memory comes first. */
  turned(): void {
    const { connection, channel, meeting } = this.#parts;
    if (!this.#settled) meeting.link?.pull();
    if (!this.#settled) this.#overStream();
    const error = channel.error ?? (channel.ended === connection.ended ? connection.error : undefined);
    this.#lines?.gone(channel.ended as EndReason, error);
  }
  /** The connection ends, with all that its channels have accepted. */
  close(reason: EndReason): void {
    if (this.#settled) this.transport.close(reason);
    else this.#parts.channel.end(reason);
  }
}
