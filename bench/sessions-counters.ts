// Instructions: by hardware counters where the machine has them, by callgrind where it hasn't.
import { spawn, spawnSync } from 'node:child_process';
import type { BenchOptions, Contestant, Sample, Session } from './contest.ts';
import type { LoadSpec } from './loads.ts';
import { ownCommand } from './runtimes.ts';
import { labelOf, type ThreadSubject } from './subject.ts';

export type Counting = 'perf' | 'callgrind' | 'none';

let known: Counting | undefined;

/** What can count here. Hypervisors often hide the counters: perf is asked, not looked for. */
export function counting(): Counting {
  known ??= probe();
  return known;
}

function probe(): Counting {
  const perf = spawnSync('perf', ['stat', '-x,', '-e', 'instructions:u,cycles:u', 'true'], { encoding: 'utf8' });
  if (perf.status === 0 && /^\d+,/m.test(perf.stderr)) return 'perf';
  // Callgrind would have to run JavaScriptCore's or Deno's own threads: only Node has --single-threaded.
  const isNode = !process.versions['bun'] && !process.versions['deno'];
  return isNode && spawnSync('valgrind', ['--version']).status === 0 ? 'callgrind' : 'none';
}

interface Counts {
  readonly instructions: number;
  readonly cycles: number;
}

async function run(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (part: string) => {
    text += part;
  });
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}: ${text.trim().split('\n').at(-1)}`);
  return text;
}

async function count(subject: string, spec: LoadSpec, messages: number): Promise<Counts> {
  const [executable, ...rest] = ownCommand('single.js');
  const job = [...rest, subject, JSON.stringify(spec), String(messages)];
  if (counting() === 'perf') {
    const text = await run('perf', ['stat', '-x,', '-e', 'instructions:u,cycles:u', executable, ...job]);
    const of = (event: string): number => Number(new RegExp(`^(\\d+),[^,]*,${event}`, 'm').exec(text)?.[1]);
    return { instructions: of('instructions'), cycles: of('cycles') };
  }
  const valgrind = ['--tool=callgrind', '--callgrind-out-file=/dev/null', '--smc-check=all-non-file'];
  const text = await run('valgrind', [...valgrind, executable, '--single-threaded', ...job]);
  return { instructions: Number(/Collected : (\d+)/.exec(text)?.[1]), cycles: 0 };
}

/** Enough for the loops to be compiled in the short run; the difference to the long one has no start-up in it. */
const SHORT = 30_000;
const LONG = { perf: 400_000, callgrind: 90_000, none: 0 };

class CountSession implements Session {
  readonly #subject: string;
  readonly #spec: LoadSpec;
  readonly cold = true;

  constructor(subject: string, spec: LoadSpec) {
    this.#subject = subject;
    this.#spec = spec;
  }

  async round(): Promise<Sample> {
    const long = LONG[counting()];
    // Side by side: what is counted is the process's own, whatever else the machine does.
    const [first, second] = await Promise.all([
      count(this.#subject, this.#spec, SHORT),
      count(this.#subject, this.#spec, long),
    ]);
    const instructions = second.instructions - first.instructions;
    const each = instructions / (long - SHORT);
    if (counting() === 'callgrind') return { value: each, checked: true, messages: long };
    const value = instructions / (second.cycles - first.cycles);
    return { value, checked: true, messages: long, extra: { 'instructions/message': each } };
  }

  stop(): void {}
}

export function counts(subject: ThreadSubject, spec: LoadSpec, options: BenchOptions): Contestant {
  return {
    subject: subject.name,
    label: labelOf(subject, options),
    start: async () => new CountSession(subject.name, spec),
  };
}
