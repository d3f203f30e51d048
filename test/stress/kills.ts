// `npm run kills`: processes killed with SIGKILL in the middle of their work, over each transport, and what became of all that they had said.
//
//   npm run kills -- --transport unix,tcp,pipe --kills 1000     so many over each; this is the default
//   npm run kills -- --transport unix+tcp+pipe                  processes that have a connection over each: a kill over each
//   npm run kills -- --runtime bun                              on another runtime
//   npm run kills -- --transport memory                         after `npm run native`
//   npm run kills -- --way unix                                 by which way each is to go; default the transport's own name
//   npm run kills -- --jobs 3                                   at a time (2)
//   npm run kills -- --json bench/results/kills/today.json      keeps the record
//   SEED=123 CASE=45 npm run kills -- --transport tcp           one of them again
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { commit, machineFacts, runtimeFacts } from '../../bench/machine.ts';
import { runtimesNamed } from '../../bench/runtimes.ts';
import { seed } from '../kit/prng.ts';
import { SOCKETS, TRANSPORTS } from './kill-round.ts';
import { playSeries, type Series } from './kill-series.ts';

const args = process.argv.slice(2);
const { values } = parseArgs({
  args,
  options: {
    transport: { type: 'string', default: SOCKETS.join() },
    kills: { type: 'string', default: '1000' },
    jobs: { type: 'string', default: '2' },
    way: { type: 'string' },
    runtime: { type: 'string' },
    json: { type: 'string' },
  },
});

/** The same on another runtime. */
function elsewhere(name: string): number {
  const [runtime] = runtimesNamed([name]);
  const [program, ...flags] = runtime?.command ?? [];
  if (program === undefined) throw new Error(`Cannot run on ${name}: ${runtime?.reason}`);
  const at = args.findIndex((it) => it.startsWith('--runtime'));
  const rest = args.toSpliced(at, args[at]?.includes('=') ? 1 : 2);
  return spawnSync(program, [...flags, fileURLToPath(import.meta.url), ...rest], { stdio: 'inherit' }).status ?? 1;
}

function told({ transport, kills, roles, messages, settleMs, found, texts }: Series): string {
  const wrong = Object.entries(found).map(([kind, count]) => `${count} ${kind}`);
  const played = Object.entries(roles).map(([role, count]) => `${count} ${role}`);
  return [
    `${transport}: ${kills} kills (${played.join(', ')}), ${messages.read} messages read and ${messages.posted} posted, ${messages.certain} acknowledged`,
    `  ${wrong.join(', ')}`,
    `  settled after ${settleMs.median} ms (median), ${settleMs.p99} (p99), ${settleMs.max} (most)`,
    ...texts.map((text) => `  ${text}`),
  ].join('\n');
}

async function here(): Promise<number> {
  const series: Series[] = [];
  const date = new Date().toISOString();
  for (const transport of values.transport.split(',')) {
    if (transport.split('+').some((each) => TRANSPORTS[each] === undefined))
      throw new Error(`Cannot kill over ${transport}: there are ${Object.keys(TRANSPORTS).join(', ')}`);
    const options = {
      transport,
      way: values.way,
      kills: Number(values.kills),
      jobs: Number(values.jobs),
      seed,
    };
    series.push(await playSeries(options));
    console.log(told(series.at(-1) as Series));
  }
  if (values.json !== undefined) {
    const command = `SEED=${seed} npm run kills -- ${args.join(' ')}`;
    const facts = { machine: machineFacts(), runtime: runtimeFacts({}), commit: commit(), load: loadavg() };
    mkdirSync(dirname(values.json), { recursive: true });
    writeFileSync(values.json, `${JSON.stringify({ date, command, ...facts, series }, null, 2)}\n`);
  }
  return series.some(({ texts }) => texts.length > 0) ? 1 : 0;
}

process.exitCode = values.runtime === undefined ? await here() : elsewhere(values.runtime);
