// The process behind isolate.ts.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type IsolatedOrder, MARK } from './isolate.ts';
import { scenarios } from './scenarios/list.ts';

const order = JSON.parse(process.argv.at(-1)!) as IsolatedOrder;
const scenario = scenarios.find((one) => one.name === order.scenario)!;
const rows = await (scenario.inner ?? scenario.rows)(order.setting);
const contestant = rows
  .find((row) => row.label === order.row)!
  .contestants.find((one) => one.subject === order.subject)!;

function answer(value: object): void {
  process.stdout.write(`${MARK}${JSON.stringify(value)}\n`);
}

/** Highest resident size so far. */
function peakBytes(): number {
  try {
    const line = readFileSync('/proc/self/status', 'utf8').match(/VmHWM:\s+(\d+) kB/);
    if (line) return Number(line[1]) * 1024;
  } catch {
    // Not Linux: the runtime's own count has to do.
  }
  return process.resourceUsage().maxRSS * 1024;
}

try {
  const session = await contestant.start();
  for await (const line of createInterface({ input: process.stdin })) {
    const sample = await session.round(Number(line));
    answer({ sample: { ...sample, peakBytes: peakBytes() } });
  }
  await session.stop();
} catch (error) {
  answer({ error: error instanceof Error ? error.message : String(error) });
}
process.exit(0);
