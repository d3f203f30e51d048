// A worker that never returns to its event loop and hears many others: `select` blocks on all their ports at once, and on that of
// its parent, who may ask in between or call it off.
import assert from 'node:assert/strict';
import { pair, spawn } from '../src/index.ts';
import { heading, isProgram, say, table } from './screen.ts';
import type { Ask, Collected } from './workers/collector.ts';
import type { Job } from './workers/sensor.ts';

const SENSORS = 3;
const READINGS = 200;

export async function select(): Promise<void> {
  heading('One blocked reader, many writers');
  const collector = spawn<Collected, Ask>(new URL('./workers/collector.js', import.meta.url));
  const sensors = Array.from({ length: SENSORS }, (_, number) => {
    // The two talk directly: this thread takes no part.
    const [near, far] = pair();
    const sensor = spawn<never, Job>(new URL('./workers/sensor.js', import.meta.url));
    collector.port.postMessage({ ask: 'listen', to: near }, near.transfer);
    sensor.port.postMessage({ number, readings: READINGS, each: 1 + number, remote: far }, far.transfer);
    return sensor;
  });

  collector.port.postMessage({ ask: 'report' });
  const early = await collector.port.receiveAsync();
  assert(typeof early === 'object');
  say(`while they send it answers: ${early.readings.reduce((sum, count) => sum + count, 0)} readings so far`);

  collector.port.postMessage({ ask: 'finish' });
  const late = await collector.port.receiveAsync();
  assert(typeof late === 'object');
  assert.deepEqual(late.readings, Array(SENSORS).fill(READINGS));
  table([['writer', 'readings heard'], ...late.readings.map((count, number) => [`sensor ${number}`, String(count)])]);
  collector.port.close();
  for (const { port } of sensors) port.close();
}

if (isProgram(import.meta.url)) await select();
