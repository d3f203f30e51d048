// The two ends of a topic that goes over a connection: who shares it, and who has asked for it.
import { LayoutError } from '../../errors.ts';
import type { EndReason } from '../../outcome.ts';
import {
  PROCESS_TOPIC,
  type ProcessTopicHandle,
  type ReaderLine,
  type SharableTopic,
  type TakenTopic,
  type TopicShare,
} from '../topic-medium.ts';
import type { Said } from './descriptor-line.ts';
import { futexParking } from './futex.ts';
import { type MemoryLink, TOPIC } from './memory-link.ts';
import type { TopicChannel } from './topic-channel.ts';

/** Shares a topic over it. The promise comes once the other side has its memory on the line. @throws (rejects) as TopicChannel fails, and as `topic.share` */
export function sharing(channel: TopicChannel, topic: SharableTopic): Promise<void> {
  return new Promise((resolve, reject) => {
    let share: TopicShare | undefined;
    const waitsNoMore = topic.expect((error) => channel.fail(error));
    const line: ReaderLine = {
      ring: () => channel.link.ring(),
      bell: () => channel.link.bell(),
      get gone() {
        return channel.link.peerGone() !== undefined;
      },
      close: () => channel.close(),
    };
    channel.user = {
      linked(link: MemoryLink): void {
        share = topic.share(line);
        const { piece, number, sleeps } = share;
        try {
          const descriptor = link.native.duplicate(piece.descriptor);
          link.say(TOPIC, channel.number, [piece.buffer.byteLength, sleeps, number], [descriptor]);
        } catch (error) {
          share.gone();
          throw error;
        }
        channel.settle();
        waitsNoMore();
        resolve();
      },
      take(): void {
        throw new LayoutError('this side shares it');
      },
      failed(error: unknown): void {
        waitsNoMore();
        reject(error);
      },
      over(): void {
        channel.close();
        share?.gone();
      },
    };
    channel.decide();
  });
}

/**
 * Asks for a topic over it: the promise comes with its memory.
 * @param early takes what has come already, under this number
 * @throws (rejects) as TopicChannel fails
 */
export function asking(
  channel: TopicChannel,
  early: (number: number) => Said | undefined,
): Promise<ProcessTopicHandle> {
  return new Promise((resolve, reject) => {
    const reader = new ReaderEnd(channel);
    channel.user = {
      linked(link: MemoryLink): void {
        const said = early(channel.number);
        if (said !== undefined) channel.came(said);
        else link.pull();
      },
      take(link: MemoryLink, said: Said): void {
        const handle = reader.map(link, said);
        channel.settle();
        resolve(handle);
      },
      failed: reject,
      over: (how) => reader.over(how),
    };
    channel.decide();
  });
}

/** Who has asked, once it has what it asked for. */
class ReaderEnd {
  readonly #channel: TopicChannel;
  #rung: (() => void) | undefined;
  #broken: ((how: EndReason) => void) | undefined;
  #ended: EndReason | undefined;

  constructor(channel: TopicChannel) {
    this.#channel = channel;
  }

  /** @throws LayoutError, and what the system says */
  map(link: MemoryLink, { kind, words, descriptors }: Said): ProcessTopicHandle {
    const [bytes, sleeps, number] = words as unknown as [number, number, number];
    const [descriptor] = descriptors;
    if (kind !== TOPIC || descriptor === undefined || descriptors.length > 1 || number < 1)
      throw new LayoutError(`what came is no topic: kind ${kind}`, { kind });
    const mapping = link.native.map(descriptor, bytes);
    const taken: TakenTopic = {
      buffer: mapping.buffer,
      parking: futexParking(link.native, mapping),
      number,
      sleeps,
      gone: () => this.#ended ?? link.peerGone(),
      hold: (held) => this.#channel.hold(held),
      close: () => {
        if (this.#rung !== undefined) link.bells.delete(this.#rung);
        this.#channel.close();
      },
    };
    const take = (rung: () => void, broken: (how: EndReason) => void): TakenTopic | undefined => {
      if (this.#broken !== undefined) return undefined;
      this.#rung = rung;
      this.#broken = broken;
      link.bells.add(rung);
      // Who takes it is about to be told.
      if (this.#ended !== undefined) queueMicrotask(() => broken(this.#ended as EndReason));
      return taken;
    };
    return { type: PROCESS_TOPIC, take };
  }

  over(how: EndReason): void {
    if (this.#ended !== undefined) return;
    this.#ended = how;
    this.#broken?.(how);
  }
}
