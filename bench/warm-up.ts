// Warm-up by time, the same for every contestant of a row: a thousand round trips of a fast one are over before its
// loops are compiled, and the compiler's threads would then take a core from the rounds that count. Measured on Node 24:
// the loops of a stream are compiled after 0.2 s, those of round trips after 0.5 s.
import type { Pace, Session } from './contest.ts';

/** Who has not come to rest after so many times the planned warm-up never will. */
const PATIENCE = 1.5;
const STEADY = 0.1;

/** Runs rounds that don't count, until the time is over and two in a row differ by less than a tenth. */
export async function warmUp(session: Session, { roundMs, warmMs }: Pace): Promise<void> {
  if (session.cold) return;
  const began = performance.now();
  for (let before = Number.NaN; ; ) {
    const { value } = await session.round(roundMs);
    const spentMs = performance.now() - began;
    const steady = Math.abs(value - before) < STEADY * Math.max(value, before);
    if ((steady && spentMs >= warmMs) || spentMs >= warmMs * PATIENCE) break;
    before = value;
  }
  session.warmedUp?.();
}
