// The other end of a channel, by hand: it writes records and says things that no Port would, at the moment that a test wants.
import type { MessagePort } from 'node:worker_threads';
import { MessageChannel } from 'node:worker_threads';
import { type ChannelOptions, channel, type Port } from '../../src/index.ts';
import { RingSink } from '../../src/lane/ring-records.ts';
import { MOVES, SIDE_1 } from '../../src/memory/layout.ts';
import { openRegion } from '../../src/memory/region.ts';
import { LatestProducer } from '../../src/ring/latest-producer.ts';
import { MOVED } from '../../src/transport/thread/stretch.ts';

/** What makes what was late come, or tells that it will not. */
export interface News {
  readonly message?: readonly unknown[];
  readonly side?: MessagePort;
  readonly tether?: MessagePort;
  readonly memory?: SharedArrayBuffer;
  readonly word?: number;
  readonly value?: number;
}

export class Stranger {
  readonly port: Port;
  readonly #words: Int32Array;
  readonly #sink: RingSink;
  readonly #tether: MessagePort;
  readonly #side: MessagePort;
  readonly #more: MessagePort[] = [];
  readonly #memory: SharedArrayBuffer;
  /** A handle that is garbage has been dropped, and its channel ends. */
  readonly remote: unknown;

  constructor(options: ChannelOptions = {}) {
    const { port, remote } = channel(options);
    const { memory, tether, side } = remote as unknown as {
      memory: SharedArrayBuffer;
      tether: MessagePort;
      side: MessagePort;
    };
    const { lanes, views } = openRegion(memory);
    this.port = port;
    this.remote = remote;
    this.#memory = memory;
    this.#words = views.words;
    this.#sink = new RingSink(lanes[1], views);
    this.#tether = tether;
    this.#side = side;
  }
  /** What another thread is to say from here on. */
  thatSays(...message: unknown[]): News {
    return { message, side: this.#side, tether: this.#tether };
  }
  thatSets(word: number, value: number): News {
    return { memory: this.#memory, word: SIDE_1 + word, value };
  }
  write(kind: number, ...words: number[]): void {
    const at = this.#sink.tryClaim(words.length * 4) >>> 2;
    for (const [i, word] of words.entries()) this.#sink.views.words[at + i] = word;
    this.#sink.commit(words.length * 4, kind);
    this.#sink.publish();
  }
  /** The kind of the record that was written first. */
  rewrite(kind: number): void {
    this.#words[(openRegion(this.#memory).lanes[1].data >>> 2) + 1] = kind;
  }
  latest(kind: number, ...words: number[]): void {
    const { lanes, views } = openRegion(this.#memory);
    const slots = new LatestProducer(lanes[1]);
    const at = slots.offset >>> 2;
    for (const [i, word] of words.entries()) views.words[at + i] = word;
    slots.publish(words.length * 4, kind, 0);
  }
  set(word: number, value: number): void {
    Atomics.store(this.#words, SIDE_1 + word, value);
  }
  say(message: readonly unknown[], moved: MessagePort[] = []): void {
    this.#side.postMessage(message, moved);
    this.#tether.postMessage(1);
  }
  /** As who goes over to a thread that nobody hears of, and has not left its first line yet. */
  moves(): void {
    const [tether, side] = [new MessageChannel(), new MessageChannel()];
    this.#more.push(tether.port2, side.port2);
    this.say([MOVED, 0, 1, 2, tether.port1, side.port1, 1], [tether.port1, side.port1]);
    this.set(MOVES, 1);
  }
  close(): void {
    this.port.close();
    for (const each of [this.#tether, this.#side, ...this.#more]) each.close();
  }
}
