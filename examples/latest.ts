// A worker computes states faster than anybody looks at them. Through a queue a reader sees what was; with `latest` each look
// finds the newest state, although the worker never returns to its event loop: every state replaces the one before it, in
// place. See docs/decisions/0021-the-newest-lies-in-three-slots.md.
import { CLOSED, EMPTY, type PortOptions, spawn } from '../src/index.ts';
import { heading, isProgram, say, table } from './screen.ts';
import type { State } from './workers/simulation.ts';

const LOOKS = 20;
const LOOK_EACH_MS = 20;

interface Looks {
  readonly ages: readonly number[];
  readonly skipped: number;
  /** Whether the last state before the end was read. */
  readonly last: number;
}

/** Looks every now and then: how old is what is found? */
async function sample(overflow: PortOptions['overflow']): Promise<Looks> {
  const { port } = spawn<State>(new URL('./workers/simulation.js', import.meta.url), {
    ...(overflow === undefined ? {} : { overflow }),
    highWaterMarkBytes: 0,
  });
  const ages: number[] = [];
  let before = -1;
  let skipped = 0;
  let value = await port.receiveAsync();
  while (ages.length < LOOKS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EACH_MS));
    value = port.tryReceive();
    if (value === EMPTY || value === CLOSED) continue;
    ages.push(performance.timeOrigin + performance.now() - value.at);
    if (before >= 0) skipped += value.step - before - 1;
    before = value.step;
  }
  port.interrupt();
  for (const { step } of port.blocking()) before = step;
  return { ages, skipped, last: before };
}

export async function latest(): Promise<void> {
  heading('The newest state of a worker that never stops');
  say(`${LOOKS} looks, one every ${LOOK_EACH_MS} ms: how old is the state that is found?`);
  const ms = (value: number): string => `${value.toFixed(2)} ms`;
  const row = (name: string, { ages, skipped, last }: Looks): string[] => {
    const sorted = [...ages].sort((x, y) => x - y);
    const median = sorted[sorted.length >> 1] as number;
    return [name, ms(median), ms(sorted.at(-1) as number), String(skipped), String(last)];
  };
  table([
    ['overflow', 'median age', 'oldest', 'states not seen between', 'last one read'],
    row('drop-oldest', await sample('drop-oldest')),
    row('latest', await sample('latest')),
  ]);
}

if (isProgram(import.meta.url)) await latest();
