// `node dist/bench/cli.js bench [options]`, the same as `npm run bench -- [options]` and `npx millrace bench`.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Pace, Scenario, Setting } from './contest.ts';
import { HELP } from './help.ts';
import { typedCommand } from './home.ts';
import { keep, store, usualFolder } from './keep.ts';
import { commit, machineFacts, runtimeFacts } from './machine.ts';
import { NoiseProbe } from './noise.ts';
import { Progress } from './progress.ts';
import { report } from './report/report.ts';
import { costOf, deriveScenario, type PlannedScenario, runScenario } from './run.ts';
import { runtimesNamed, spawnRuntime } from './runtimes.ts';
import { scenarios } from './scenarios/list.ts';
import { type Results, SCHEMA, type ScenarioResults } from './schema.ts';
import { absentees } from './subjects/list.ts';
import { versions } from './subjects/rival.ts';
import { printHead, printScenario } from './table.ts';

const STOPS = ['SIGINT', 'SIGTERM'] as const;

const PACES: Readonly<Record<Setting['size'], Pace>> = {
  full: { rounds: 8, roundMs: 50, warmMs: 200, startMs: 100 },
  quick: { rounds: 5, roundMs: 30, warmMs: 100, startMs: 100 },
  smoke: { rounds: 2, roundMs: 2, warmMs: 4, startMs: 100 },
};

const OPTIONS = {
  scenario: { type: 'string', multiple: true },
  subjects: { type: 'string', multiple: true },
  payload: { type: 'string', multiple: true },
  runtime: { type: 'string', multiple: true },
  rounds: { type: 'string' },
  quick: { type: 'boolean' },
  smoke: { type: 'boolean' },
  json: { type: 'string' },
  out: { type: 'string' },
  list: { type: 'boolean' },
  help: { type: 'boolean' },
  'sab-message-port': { type: 'string' },
  'nxtedition-shared': { type: 'string' },
} as const;

/** The wishes of one run, resolved. */
export interface Wishes {
  readonly scenarios: readonly Scenario[];
  readonly setting: Setting;
  readonly rounds: number | undefined;
  readonly command: string;
}

/** Runs the command line; returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  if (command === 'report') return report(rest);
  if (command !== 'bench') {
    console.error(HELP);
    return command === undefined || command === '--help' ? 0 : 2;
  }
  if (rest[0] === 'browsers') return (await import('./browser/cli.js')).measureBrowsers(rest.slice(1));
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(rest);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    return 2;
  }
  const { values } = parsed;
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const runtimes = list(values.runtime);
  if (runtimes.length > 0) return spawnAll(runtimes, rest, values.json, typedCommand(rest));
  const wishes = resolveWishes(values, rest);
  if (typeof wishes === 'string') {
    console.error(wishes);
    return 2;
  }
  if (values.list) return printPlan(wishes);
  const results = await measure(wishes, (scenario) => console.log(printScenario(scenario)));
  console.log(`\n${printHead(results)}`);
  const folder = values.out ?? usualFolder();
  const written = folder === undefined ? [] : keep(folder, results);
  if (values.json) store(values.json, results);
  for (const file of [...written, ...(values.json ? [values.json] : [])]) console.log(`written: ${file}`);
  return results.scenarios.some(wrong) ? 1 : 0;
}

function parse(args: string[]): ReturnType<typeof parseArgs<{ args: string[]; options: typeof OPTIONS }>> {
  return parseArgs({ args, options: OPTIONS });
}

function list(values: readonly string[] | undefined): string[] {
  return (values ?? []).flatMap((value) => value.split(',')).filter((value) => value !== '');
}

function resolveWishes(values: ReturnType<typeof parse>['values'], args: readonly string[]): Wishes | string {
  const names = list(values.scenario);
  const unknown = names.filter((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown.length > 0) {
    return `there is no scenario ${unknown.join(', ')}; there are ${scenarios.map((scenario) => scenario.name).join(', ')}`;
  }
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) {
    return `--rounds takes a whole number above 0, not ${values.rounds}`;
  }
  const setting: Setting = {
    size: values.smoke ? 'smoke' : values.quick ? 'quick' : 'full',
    subjects: list(values.subjects),
    payloads: list(values.payload),
    options: {
      sabMessagePort: values['sab-message-port'] ?? process.env['SAB_MESSAGE_PORT'],
      nxteditionShared: values['nxtedition-shared'] ?? process.env['NXTEDITION_SHARED'],
    },
  };
  const asked = names.length === 0 ? scenarios : scenarios.filter((scenario) => names.includes(scenario.name));
  return { scenarios: asked, setting, rounds, command: typedCommand(args) };
}

async function planAll(wishes: Wishes): Promise<PlannedScenario[]> {
  const usual = PACES[wishes.setting.size];
  const plans: PlannedScenario[] = [];
  for (const scenario of wishes.scenarios) {
    if (isDerived(scenario, wishes)) continue;
    const pace = { ...usual, ...scenario.pace?.(wishes.setting) };
    if (wishes.rounds !== undefined) pace.rounds = wishes.rounds;
    plans.push({ scenario, rows: await scenario.rows({ ...wishes.setting, scenario: scenario.name }), pace });
  }
  return plans;
}

function isDerived(scenario: Scenario, wishes: Wishes): boolean {
  return scenario.derived !== undefined && wishes.scenarios.some((other) => other.name === scenario.derived!.from);
}

async function printPlan(wishes: Wishes): Promise<number> {
  const plans = await planAll(wishes);
  for (const { scenario, rows } of plans) {
    console.log(`${scenario.name}: ${scenario.title}`);
    for (const row of rows) console.log(`  ${row.label}: ${row.contestants.map((one) => one.subject).join(', ')}`);
  }
  for (const { subject, reason, remedy } of absentees.values())
    console.log(`absent: ${subject}: ${reason}; ${remedy ?? ''}`);
  console.log(`planned: ${Math.round(costOf(plans) / 1000)} s`);
  return 0;
}

/** Measures everything wished for; `done` sees each scenario as soon as it is there. SIGINT and SIGTERM keep what was measured. */
export async function measure(wishes: Wishes, done: (scenario: ScenarioResults) => void): Promise<Results> {
  const date = new Date().toISOString();
  const began = performance.now();
  let stopped = false;
  const onInterrupt = (): void => {
    if (stopped) process.exit(130);
    stopped = true;
  };
  for (const signal of STOPS) process.on(signal, onInterrupt);
  const plans = await planAll(wishes);
  const noise = await NoiseProbe.start();
  const progress = new Progress(costOf(plans), wishes.setting.size === 'smoke');
  const found: ScenarioResults[] = [];
  const show = (scenario: ScenarioResults): void => {
    if (scenario.rows.length === 0) return;
    found.push(scenario);
    progress.clear();
    done(scenario);
  };
  for (const plan of plans) {
    if (stopped) break;
    const measured = await runScenario(plan, noise, progress, () => stopped);
    show(measured);
    for (const other of wishes.scenarios) {
      if (other.derived?.from === plan.scenario.name) show(deriveScenario(other, measured));
    }
  }
  progress.clear();
  await noise.stop();
  for (const signal of STOPS) process.off(signal, onInterrupt);
  return {
    schema: SCHEMA,
    date,
    command: wishes.command,
    commit: commit(),
    quick: wishes.setting.size !== 'full',
    partial: stopped,
    seconds: Math.round((performance.now() - began) / 1000),
    machine: machineFacts(),
    runtime: runtimeFacts({ ...versions }),
    noise: noise.result(),
    scenarios: found,
    absent: [...absentees.values()],
  };
}

function wrong(scenario: ScenarioResults): boolean {
  return scenario.rows.some((row) => row.results.some((result) => result.samples.length > 0 && !result.checked));
}

async function spawnAll(
  names: readonly string[],
  args: readonly string[],
  json: string | undefined,
  command: string,
): Promise<number> {
  let worst = 0;
  for (const runtime of runtimesNamed(names)) {
    const kept = args.filter(
      (arg, i) => !/^--(runtime|json)\b/.test(arg) && !/^--(runtime|json)$/.test(args[i - 1] ?? ''),
    );
    const file = json?.replace(/(\.json)?$/, `-${runtime.name}.json`);
    if (!runtime.command) {
      console.error(`absent: ${runtime.name}: ${runtime.reason}`);
      continue;
    }
    const code = await spawnRuntime(runtime, ['bench', ...kept, ...(file ? ['--json', file] : [])], command);
    worst = Math.max(worst, code);
  }
  return worst;
}

// Also when tools/run.mjs imports it: that sets argv[1].
if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main(process.argv.slice(2));
