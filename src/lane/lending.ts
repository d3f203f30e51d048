// Memory beside a lane, in which its sender puts larger messages (annex.ts, latest-growth.ts). The medium makes it, because the
// medium knows what the other agent can look at: shared memory between threads, a region that can be mapped between processes.
import type { Views } from '../memory/region.ts';

export interface Lending {
  /**
   * Makes memory, all zero, and gives it to the other side as number `number`, for slot `slot`, in the place of what it had for
   * that slot before. `undefined`: there is none to be had, and nothing was given.
   */
  lend(bytes: number, number: number, slot: number): Views | undefined;
  /**
   * Whether the other side can look into what it was lent first, also while it blocks. Where only its event loop takes memory in, not
   * before it has said that it did: a thread that blocks would never find what lies there.
   */
  readonly held: boolean;
  /** Whether memory may come after the record that names it. False once its way is over, as of LeftOver. */
  readonly late: boolean;
  /** Memory `number` of the other side's; `undefined` while it has not arrived. */
  borrowed(number: number): Views | undefined;
}
