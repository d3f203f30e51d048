// What one end of a channel leaves behind when it ends, over its lines.
import { platform } from '#platform';
import type { LeftOver, SpilledFrame } from '../../lane/left-over.ts';
import type { ChannelLines } from './channel-lines.ts';
import { outOfSight, SPILL, SPILL_UNSEEN } from './native-values.ts';

/** Bytes from which on a frame that is left behind is moved instead of copied. */
const MOVED_BYTES_MIN = 64 * 1024;

export class NativeLeftOver implements LeftOver {
  readonly late: boolean = !platform.canTake;
  readonly #lines: ChannelLines;
  #spill: readonly SpilledFrame[] | undefined;

  constructor(lines: ChannelLines) {
    this.#lines = lines;
  }

  leave(frames: readonly SpilledFrame[]): void {
    // Moving is for the large: a transfer list is looked through for doubles, and a million entries take minutes.
    const transfer = frames
      .map(([, payload]) => payload.buffer)
      .filter((buffer) => buffer.byteLength >= MOVED_BYTES_MIN);
    const { address } = this.#lines;
    this.#lines.post(
      platform.walksMessages ? [SPILL_UNSEEN, address, outOfSight(frames)] : [SPILL, address, frames],
      transfer,
    );
  }

  accept(content: unknown): void {
    const frames = content instanceof Map ? (content.get(0) as unknown) : content;
    if (Array.isArray(frames)) this.#spill = frames.filter(isFrame);
  }
  takeSpill(): readonly SpilledFrame[] | undefined {
    if (this.#spill === undefined) this.#lines.pull();
    return this.#spill;
  }
  get spillArrived(): boolean {
    return this.#spill !== undefined;
  }
}

function isFrame(frame: unknown): frame is SpilledFrame {
  return Array.isArray(frame) && typeof frame[0] === 'number' && frame[1] instanceof Uint8Array;
}
