// What one end of a channel leaves behind when it ends, over its lines.

import { platform } from '#platform';
import type { LeftOver, SpilledFrame } from '../../lane/left-over.ts';
import { LEFT_OVER_MOVED_MIN } from '../../limits.ts';
import type { ChannelLines } from './channel-lines.ts';
import { outOfSight, SPILL, SPILL_UNSEEN } from './native-values.ts';

export class NativeLeftOver implements LeftOver {
  readonly #lines: ChannelLines;
  #spill: readonly SpilledFrame[] | undefined;

  constructor(lines: ChannelLines) {
    this.#lines = lines;
  }

  get late(): boolean {
    return !platform.canTake || this.#lines.unsettled;
  }
  /** What has come and was not taken, for who goes on for this end. */
  get luggage(): readonly SpilledFrame[] | undefined {
    return this.#spill;
  }

  leave(frames: readonly SpilledFrame[]): void {
    // Moving is for the large: a transfer list is looked through for doubles, and a million entries take minutes.
    const transfer = frames
      .map(([, payload]) => payload.buffer)
      .filter((buffer) => buffer.byteLength >= LEFT_OVER_MOVED_MIN);
    if (platform.walksMessages) this.#lines.post(SPILL_UNSEEN, [outOfSight(frames)], transfer);
    else this.#lines.post(SPILL, [frames], transfer);
  }

  accept(content: unknown): void {
    const frames = content instanceof Map ? (content.get(0) as unknown) : content;
    if (Array.isArray(frames)) this.#spill = frames.filter(isFrame);
  }
  lookForSpill(): readonly SpilledFrame[] | undefined {
    // Also for what stands in it by markers.
    this.#lines.pull();
    return this.#spill;
  }
  takeSpill(): readonly SpilledFrame[] | undefined {
    const taken = this.lookForSpill();
    // Once: whoever goes on for this end must not find it again, nor miss it again.
    this.#spill = [];
    return taken;
  }
  get spillArrived(): boolean {
    return this.#spill !== undefined;
  }
}

function isFrame(frame: unknown): frame is SpilledFrame {
  return Array.isArray(frame) && typeof frame[0] === 'number' && frame[1] instanceof Uint8Array;
}
