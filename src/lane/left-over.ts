// What did not go out before its sender ended: left beside the lane, for the other side to read behind everything else.
import { KIND_MASK, KIND_SIDE, MARKER_BYTES } from '../frame/header.ts';
import type { Beside } from './beside.ts';

/** One frame that did not fit the lane any more when its sender ended: second header word, payload. */
export type SpilledFrame = readonly [tag: number, payload: Uint8Array];

export interface LeftOver {
  /** Leaves frames for the other side. The last thing an ending side does. */
  leave(frames: readonly SpilledFrame[]): void;
  /**
   * Whether what the other side has left may come after its end is known. False once its way is over: what has not come by then is lost, and
   * nobody may wait for it.
   */
  readonly late: boolean;
  /** What the other side has left, which stays where it is; `undefined` while it has not arrived. */
  lookForSpill(): readonly SpilledFrame[] | undefined;
  /** The same, which nobody finds again. */
  takeSpill(): readonly SpilledFrame[] | undefined;
  readonly spillArrived: boolean;
}

/**
 * Where its reader has moved the left-over may be quicker than a value that stands in it by its marker. Tells, if one is on its way, whether
 * all have come by now, or will not any more. Each frame is looked at once, however often that is asked and whatever stands in it.
 */
export function awaitedIn(
  frames: readonly SpilledFrame[],
  beside: Pick<Beside, 'has' | 'late'>,
): (() => boolean) | undefined {
  // From the end: values that are late come in their order.
  let left = frames.length;
  const came = (): boolean => {
    if (!beside.late) return true;
    for (; left > 0; left--) {
      const [tag, payload] = frames[left - 1] as SpilledFrame;
      if ((tag & KIND_MASK) !== KIND_SIDE || payload.length < MARKER_BYTES) continue;
      const marker = new DataView(payload.buffer, payload.byteOffset, MARKER_BYTES);
      if (!beside.has(marker.getInt32(0, true), marker.getInt32(4, true))) return false;
    }
    return true;
  };
  return came() ? undefined : came;
}
