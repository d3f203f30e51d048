// What waits while the medium has enough: records with their channels, and the answers that replace each other, each of which is
// said once when there is room.
import type { StreamChannel } from './channel.ts';
import type { FrameWriter } from './frame-writer.ts';

export class Pressure {
  readonly #frames: FrameWriter;
  /** Channels that have found no room, who has waited longest first. */
  readonly #waiting = new Set<StreamChannel>();
  /** Channels with something to acknowledge. */
  readonly #owing = new Set<StreamChannel>();
  /** The ping to be answered: one answer does for all before it. */
  #ping: readonly [low: number, high: number] | undefined;

  constructor(frames: FrameWriter) {
    this.#frames = frames;
  }

  get full(): boolean {
    return this.#frames.full;
  }
  await(channel: StreamChannel): void {
    this.#waiting.add(channel);
  }
  owe(channel: StreamChannel): void {
    this.#owing.add(channel);
  }
  pinged(low: number, high: number): void {
    if (this.full) this.#ping = [low, high];
    else this.#frames.pong(low, high);
  }
  forget(channel: StreamChannel): void {
    this.#waiting.delete(channel);
    this.#owing.delete(channel);
  }

  /** There is room again. */
  relieved(): void {
    this.#frames.full = false;
    this.#frames.owed = 0;
    const owing = [...this.#owing];
    this.#owing.clear();
    for (const channel of owing) channel.answer();
    const ping = this.#ping;
    this.#ping = undefined;
    if (ping !== undefined) this.pinged(...ping);
    this.#serve();
  }

  /** One by one: who has waited longest finds all the room there is, and waits behind the others if that is not enough. */
  #serve(): void {
    const [channel] = this.#waiting;
    if (channel === undefined || this.full) return;
    this.#waiting.delete(channel);
    channel.roomCame();
    // It is woken in a microtask of its own, which comes first.
    queueMicrotask(() => this.#serve());
  }
}
