// `npm run soak -- --transport memory --minutes 10`: one child that lives all the time and others that come and go, or are killed; values of all sizes,
// channels that are opened and closed. Memory and descriptors of both processes have to stay as they were.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { commit, machineFacts, runtimeFacts } from '../../bench/machine.ts';
import { CLOSED } from '../../src/index.ts';
import { type Forked, fork, type Port } from '../../src/process/index.ts';
import { collect } from '../kit/collect.ts';
import { Random, seed } from '../kit/prng.ts';
import { within } from '../kit/watchdog.ts';

const { values } = parseArgs({
  options: {
    transport: { type: 'string', default: 'memory' },
    minutes: { type: 'string', default: '10' },
    json: { type: 'string' },
  },
});
/** As the issue tracker of our users would name it, too. */
const way = values.transport === 'shm' ? 'memory' : values.transport;
if (way !== 'memory' && way !== 'pipe') throw new Error(`Cannot soak over ${way}: there are memory (shm) and pipe`);

const CHILD = new URL('./process-soak-child.js', import.meta.url);
const random = new Random(seed);
const SAMPLE_MS = 2000;
/** Bytes by which a process may have grown at the end: what allocators keep. */
const GROWTH_MAX = 16 * 1024 * 1024;

interface Sample {
  readonly second: number;
  readonly rss: readonly [here: number, there: number];
  readonly descriptors: readonly [here: number, there: number];
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

async function started(): Promise<Forked> {
  const forked = fork(CHILD, { memory: way === 'memory', child: { stdio: ['ignore', 'inherit', 'inherit'] } });
  await within('a child', forked.port.ready);
  const taken = forked.port.stats().way;
  if (taken?.name !== way) throw new Error(`It goes by ${taken?.name} and not by ${way}: ${taken?.why}`);
  return forked;
}

function value(i: number): unknown {
  const size = random.int(0, 9) === 0 ? random.int(0, 400_000) : random.int(0, 400);
  return { i, bytes: new Uint8Array(size).fill(i), text: 'x'.repeat(size >> 2), list: [i, { i }] };
}
let messages = 0;
/** So many there and back, in their order. */
async function echoes(port: Port, count: number): Promise<void> {
  for (let i = 0; i < count; i++) port.postMessage(value(i));
  for (let i = 0; i < count; i++) {
    const back = (await within('an echo', port.receiveAsync())) as { i: number } | typeof CLOSED;
    if (back === CLOSED || back.i !== i) throw new Error(`Message ${i} came back as ${String(back)}`);
  }
  messages += count;
}

let channels = 0;
async function channel(port: Port): Promise<void> {
  const own = port.link?.channel(`c${channels++}`) as Port;
  await echoes(own, random.int(1, 20));
  own.close();
}
let children = 0;
/** Another child, which ends in one way or the other. */
async function visitor(): Promise<void> {
  const { port, child } = await started();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await echoes(port, 20);
  if (random.int(0, 1) === 0) {
    for (let i = 0; i < 100; i++) port.postMessage(value(i));
    child.kill('SIGKILL');
    await within('its end', port.closed);
  } else port.close();
  await within('its exit', ended);
  children++;
}

const samples: Sample[] = [];
const { port, child } = await started();
const start = performance.now();
const endMs = start + Number(values.minutes) * 60_000;
let sampledMs = start;
while (performance.now() < endMs) {
  await echoes(port, 50);
  await channel(port);
  if (random.int(0, 20) === 0) await visitor();
  if (performance.now() < sampledMs) continue;
  sampledMs = performance.now() + SAMPLE_MS;
  // What is garbage is no leak, however long a collector leaves it.
  collect();
  const pids = [process.pid, child.pid as number] as const;
  samples.push({
    second: Math.round((performance.now() - start) / 1000),
    rss: [residentBytes(pids[0]), residentBytes(pids[1])],
    descriptors: [descriptors(pids[0]), descriptors(pids[1])],
  });
}
port.close();
await within('the end', new Promise((resolve) => child.once('exit', resolve)));

/** Allocators grow for some minutes to what such work takes at a time, and stay there: what is compared is the middle third of the time, and the last. */
const third = Math.ceil(samples.length / 3);
const [middle, last] = [samples.slice(third, -third), samples.slice(-third)];
function median(of: readonly Sample[], what: (sample: Sample) => number): number {
  return of.map(what).sort((a, b) => a - b)[of.length >> 1] as number;
}
const grown = ([0, 1] as const).map((side) => {
  const rss = (sample: Sample): number => sample.rss[side];
  const open = (sample: Sample): number => sample.descriptors[side];
  return {
    process: side === 0 ? 'here' : 'there',
    rssBytes: [median(middle, rss), median(last, rss)],
    descriptors: [median(middle, open), median(last, open)],
  };
});
const flat = grown.every(
  ({ rssBytes: [was = 0, is = 0], descriptors: [had = 0, has = 0] }) => is - was <= GROWTH_MAX && has <= had,
);
const record = {
  date: new Date().toISOString(),
  command: `SEED=${seed} npm run soak -- --transport ${values.transport} --minutes ${values.minutes}`,
  machine: machineFacts(),
  runtime: runtimeFacts({}),
  commit: commit(),
  way,
  messages,
  channels,
  children,
  middleAndLastThird: grown,
  flat,
  samples,
};
if (values.json !== undefined) {
  mkdirSync(dirname(values.json), { recursive: true });
  writeFileSync(values.json, `${JSON.stringify(record, undefined, 2)}\n`);
}
const { samples: _, ...short } = record;
console.log(JSON.stringify(short, undefined, 2));
console.log(flat ? 'flat' : 'it grows');
process.exitCode = flat && samples.length >= 10 ? 0 : 1;
