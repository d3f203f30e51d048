// The time between contestants: what one leaves behind must not be charged to the next, nor to the machine.
import { CpuMeter } from './cpu.ts';

const LOOK_MS = 10;
const QUIET_CORES = 0.2;

/**
 * Waits until this process leaves the cores alone, `limitMs` at most. After a round compiler and collector threads are
 * still at work, and readers that were polling have not gone to sleep yet (measured: 3 to 8 ms of processor time in
 * the 40 ms after a round).
 */
export async function settle(limitMs: number): Promise<void> {
  for (const end = performance.now() + limitMs; performance.now() < end; ) {
    const meter = new CpuMeter();
    const began = performance.now();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const usedMs = (meter.stop() ?? 0) / 1000;
    if (usedMs < (performance.now() - began) * QUIET_CORES) return;
  }
}
