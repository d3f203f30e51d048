// Peers that end in every way, at random moments: 100 in CI, 1,000 under SOAK=1. The seed is printed; SEED repeats a run.
// asked for: node-22, node-26
// watchdog: 600 s
import process from 'node:process';
import { test } from 'node:test';
import { cases, Random, seed } from '../kit/prng.ts';
import { drawFault, playFault } from './faults.ts';

const AT_ONCE = 4;
const only = process.env['CASE'];
const noticed = new Map<string, number[]>();

async function play(index: number): Promise<void> {
  const random = new Random(seed, index);
  const fault = drawFault(random);
  try {
    const ms = await playFault(fault, random);
    const kind = `${fault.end}, survivor ${fault.survivor}`;
    noticed.set(kind, [...(noticed.get(kind) ?? []), ms]);
  } catch (cause) {
    const text = `${JSON.stringify(fault)}: ${(cause as Error).message}\n  repeat with SEED=${seed} CASE=${index}`;
    throw new Error(text, { cause });
  }
}

const count = cases(100, 1000);
for (let from = 0; from < count; from += 20) {
  const to = Math.min(count, from + 20);
  const indexes = Array.from({ length: to - from }, (_, i) => from + i).filter((i) => (only ?? `${i}`) === `${i}`);
  if (indexes.length === 0) continue;
  test(`peers ${from} to ${to - 1} end: all that was committed arrives, and nobody hangs (SEED=${seed})`, async () => {
    const queue = [...indexes];
    const work = async (): Promise<void> => {
      for (let index = queue.shift(); index !== undefined; index = queue.shift()) await play(index);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  });
}

test('the time that survivors took to notice is recorded', () => {
  console.log("milliseconds from a peer's end to its survivor's knowing (median, most, count):");
  for (const [kind, list] of [...noticed].sort()) {
    const sorted = list.sort((a, b) => a - b);
    const [median, most] = [sorted[sorted.length >> 1] ?? 0, sorted.at(-1) ?? 0];
    console.log(`  ${kind.padEnd(30)} ${median.toFixed(1).padStart(7)} ${most.toFixed(1).padStart(8)} ${list.length}`);
  }
});
