// `npm run damage`: damaged bytes between processes: on the line of descriptors and in memory, after `npm run native`; and over real sockets.
//
//   npm run damage -- --inputs 100000                        so many of each; this is the default
//   npm run damage -- --kind line,unix                       only these, of line, memory, topic-line, topic-memory, unix, tcp
//   npm run damage -- --json bench/results/damage/today.json keeps the record
//   SEED=123 npm run damage                                  the same again
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { commit, machineFacts, runtimeFacts } from '../../bench/machine.ts';
import { seed } from '../kit/prng.ts';

const overStreams = ['unix', 'tcp'] as const;
const inMemory = ['line', 'memory', 'topic-line', 'topic-memory'] as const;
type Kind = (typeof overStreams | typeof inMemory)[number];

/** Those over streams need no addon. */
async function damaged(kind: Kind, inputs: number) {
  const [stream] = overStreams.filter((each) => each === kind);
  if (stream !== undefined) return (await import('./stream-damage.ts')).damagedStreams(stream, seed, inputs);
  return (await import('./memory-hostile.ts')).damaged(kind as (typeof inMemory)[number], seed, inputs);
}

const args = process.argv.slice(2);
const { values } = parseArgs({
  args,
  options: {
    inputs: { type: 'string', default: '100000' },
    kind: { type: 'string', default: [...inMemory, ...overStreams].join() },
    json: { type: 'string' },
  },
});

const date = new Date().toISOString();
const series: unknown[] = [];
for (const kind of values.kind.split(',') as Kind[]) {
  const started = performance.now();
  const found = await damaged(kind, Number(values.inputs));
  const seconds = Math.round((performance.now() - started) / 1000);
  series.push({ ...found, seconds });
  const ended = Object.entries(found.ended).map(([how, count]) => `${count} ${how}`);
  console.log(
    `${kind}: ${found.inputs} inputs over ${found.connections} connections (${ended.join(', ')}), ${seconds} s`,
  );
}
if (values.json !== undefined) {
  const command = `SEED=${seed} npm run damage -- ${args.join(' ')}`;
  const facts = { machine: machineFacts(), runtime: runtimeFacts({}), commit: commit(), load: loadavg() };
  mkdirSync(dirname(values.json), { recursive: true });
  writeFileSync(values.json, `${JSON.stringify({ date, command, ...facts, series }, null, 2)}\n`);
}
