// What did not go out before its sender ended: left beside the lane, for the other side to read behind everything else.

/** One frame that did not fit the lane any more when its sender ended: second header word, payload. */
export type SpilledFrame = readonly [tag: number, payload: Uint8Array];

export interface LeftOver {
  /** Leaves frames for the other side. The last thing an ending side does. */
  leave(frames: readonly SpilledFrame[]): void;
  /** Whether what the other side has left may come after its end is known, and only the event loop can take it in. */
  readonly late: boolean;
  /** What the other side has left; `undefined` while it has not arrived. */
  takeSpill(): readonly SpilledFrame[] | undefined;
  readonly spillArrived: boolean;
}
