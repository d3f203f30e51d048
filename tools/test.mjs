// `npm test`: builds what is stale, then runs every dist/**/*.test.js on each runtime that is there.
//
//   npm test -- --runtime node-24,bun    only these (names as in test/runtimes/package.json, or `current`)
//   npm test -- --only ring/             only files whose path contains the text
//   npm test -- --require-all            an absent runtime or a skipped test is a failure (CI)
//   npm test -- --jobs 4                 files at the same time (2)
//   npm test -- --watchdog 300           seconds that one file may take (120)
//   npm test -- --unsteady 1             so many files that failed may pass three times in a row by themselves instead (CI; 0)
//   npm test -- --times 20               say at the end which files took longest, over all runtimes, and how busy the processors were
//   npm test -- --neighbours 100         channels share their links with so many others (test/kit/neighbours.ts)
//
// The last line is `<n> passed, <n> failed, <n> skipped`, and what was unsteady if anything was; an absent runtime counts as one skipped, and so does
// a file whose packages, or whose addon, are absent, and a browser that is absent.
import { readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ENGINES, programOf } from '../test/browser/engines.mjs';
import { build } from './build.mjs';
import { NATIVE_COMMAND, nativeBuilt } from './native.mjs';
import { PACKAGES_COMMAND, packagesInstalled } from './packages.mjs';
import { INSTALL_COMMAND, runtimes } from './runtimes.mjs';
import { directives, gistOf, killAll, runTestFile } from './test-file.mjs';
import { TestQueue } from './test-queue.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const options = parseOptions();

function parseOptions() {
  const named = {
    runtime: { type: 'string' },
    only: { type: 'string', multiple: true },
    'require-all': { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
    watchdog: { type: 'string', default: '120' },
    unsteady: { type: 'string', default: '0' },
    times: { type: 'string', default: '0' },
    neighbours: { type: 'string' },
  };
  try {
    return parseArgs({ options: named }).values;
  } catch (error) {
    return fail(
      `${error.message}\nOptions: --runtime <names>, --only <text>, --require-all, --jobs <n>, --watchdog <seconds>, --unsteady <n>, --times <n>, --neighbours <n>`,
    );
  }
}

/** The runtimes to use and the ones to miss. The Node at hand stands in for its release when that is not installed. */
function choose(names) {
  const known = runtimes();
  const version = process.versions.node;
  const release = `node-${version.split('.')[0]}`;
  const here = { name: release, kind: 'node', version, path: process.execPath, installed: true };
  const all = known.map((it) => (it.name === release && !it.installed ? here : it));
  if (!known.some((it) => it.name === release)) all.unshift(here);
  if (names === undefined)
    return { present: all.filter((it) => it.installed), absent: all.filter((it) => !it.installed) };
  const wanted = names.split(',').map((name) => {
    const found = name === 'current' ? here : all.find((it) => it.name === name);
    if (found === undefined)
      fail(`No runtime is called "${name}"; there are ${all.map((it) => it.name).join(', ')} and current.`);
    return found;
  });
  return { present: wanted.filter((it) => it.installed), absent: wanted.filter((it) => !it.installed) };
}

function fail(message) {
  console.error(message);
  process.exit(2);
}

function testFiles() {
  const files = readdirSync(join(root, 'dist'), { recursive: true })
    .filter((path) => path.endsWith('.test.js') && !path.includes('node_modules'))
    .map((path) => join(root, 'dist', path))
    .sort();
  const chosen = files.filter((file) => (options.only ?? ['']).some((text) => relative(root, file).includes(text)));
  if (chosen.length === 0) fail('No test file matches.');
  return chosen;
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    killAll();
    process.exit(130);
  });
}

if (options.neighbours !== undefined) process.env.MILLRACE_TEST_NEIGHBOURS = options.neighbours;
await build();
const { present, absent } = choose(options.runtime);
const chosen = testFiles();
const heads = new Map(chosen.map((file) => [file, directives(file)]));
/** What a test may need, and what brings it. */
const needs = {
  packages: { there: packagesInstalled, command: PACKAGES_COMMAND },
  native: { there: nativeBuilt, command: NATIVE_COMMAND },
};
const absentNeeds = Object.keys(needs).filter((need) => !needs[need].there());
const lacking = chosen.filter((file) => absentNeeds.includes(heads.get(file).needs));
const files = chosen.filter(
  (file) => !lacking.includes(file) && !(options.neighbours !== undefined && heads.get(file).alone),
);
const tallies = new Map(present.map((it) => [it, { left: 0, passed: 0, failed: 0, skippedNames: [], seconds: 0 }]));
const tasks = [];
/** Runs what `// runtimes: once` asks for: the newest Node, which walks the models in two thirds of the oldest one's time. */
const newest = present.filter((it) => it.kind === 'node').sort((a, b) => major(b) - major(a))[0];
function major({ version }) {
  return Number.parseInt(version, 10);
}
/** Whether a release beside this one runs what is to be asked for here. */
function neighbourRuns({ name, kind }, askedFor = []) {
  if (options.runtime !== undefined || !askedFor.includes(name)) return false;
  return present.some((other) => other.kind === kind && !askedFor.includes(other.name));
}
const isFor = ({ kinds }, { kind, name }) => kinds === undefined || kinds.includes(kind) || kinds.includes(name);
/** Whether the same file runs here over dist/lib, which is those modules put together, and what users have. */
function runsPacked(file, runtime) {
  const packed = join(root, 'dist/packed', relative(join(root, 'dist/test'), file));
  return (
    options.runtime === undefined && packed !== file && files.includes(packed) && isFor(heads.get(packed), runtime)
  );
}
for (const runtime of present) {
  for (const file of files) {
    const head = heads.get(file);
    if (neighbourRuns(runtime, head.askedFor) || runsPacked(file, runtime)) continue;
    if (isFor(head, runtime) || (head.kinds.includes('once') && runtime === newest))
      tasks.push({ runtime, file, ...head });
  }
}
for (const { runtime } of tasks) tallies.get(runtime).left++;
console.log(`${files.length} test files on ${present.map((it) => it.name).join(', ') || 'no runtime'}`);

/** Seconds from which on a file is named as slow: there is little left up to the watchdog. */
const SLOW_SECONDS = 40;
const slowFiles = [];
const failedTasks = [];
const queue = new TestQueue(tasks);
/** Seconds by file, over all runtimes. */
const times = new Map();
async function work(lane) {
  for (let task = queue.take(lane); task !== undefined; task = queue.take(lane)) {
    const { runtime, file } = task;
    const result = await runTestFile(runtime, file, { cwd: root, watchdogSeconds: Number(options.watchdog) });
    const name = relative(root, file);
    const tally = tallies.get(runtime);
    tally.passed += result.passed;
    tally.failed += result.failed;
    tally.skippedNames.push(...result.skippedNames.map((test) => `${name}: ${test}`));
    tally.seconds += result.seconds;
    times.set(name, (times.get(name) ?? 0) + result.seconds);
    if (result.seconds > SLOW_SECONDS) slowFiles.push(`${runtime.name} ${name} ${result.seconds.toFixed(0)} s`);
    if (result.failed > 0) {
      const why = result.reason ? ` (${result.reason.split('\n')[0]})` : '';
      const line = [`${runtime.name.padEnd(8)} ${name}${why}`, ...gistOf(result.output)].join('\n             ');
      failedTasks.push({ ...task, failed: result.failed, line });
      console.log(`\n--- FAILED on ${runtime.name}: ${name} ---\n${result.output.trimEnd()}`);
      if (result.reason) console.log(`--- ${result.reason}`);
      console.log('---');
    }
    if (--tally.left === 0) report(runtime, tally);
  }
}
function report({ name, version }, { passed, failed, skippedNames, seconds }) {
  const skipped = skippedNames.length > 0 ? `, ${skippedNames.length} skipped` : '';
  console.log(
    `${name.padEnd(8)} ${version.padEnd(8)} ${passed} passed, ${failed} failed${skipped} in ${seconds.toFixed(1)} s`,
  );
  for (const test of skippedNames) console.log(`           skipped: ${test}`);
}
/** Milliseconds of all processors since the machine started, those that were busy and all. */
function processorTime() {
  const times = cpus().map((it) => it.times);
  const all = times.reduce((sum, it) => sum + it.user + it.nice + it.sys + it.irq + it.idle, 0);
  return { all, busy: all - times.reduce((sum, { idle }) => sum + idle, 0) };
}
const before = processorTime();
await Promise.all(Array.from({ length: Math.max(1, Number(options.jobs)) }, (_, lane) => work(lane)));
const after = processorTime();

/** Runs in a row that show that a file which failed can pass: with nothing beside it, as on a machine with processors enough. */
const STEADY_RUNS = 3;
/** Whether what has failed passes by itself, each time. It is named all the same: docs/decisions/0039 says what for. */
async function isUnsteady({ runtime, file }) {
  for (let i = 0; i < STEADY_RUNS; i++) {
    const { failed } = await runTestFile(runtime, file, { cwd: root, watchdogSeconds: Number(options.watchdog) });
    if (failed > 0) return false;
  }
  return true;
}
const unsteady = [];
if (failedTasks.length <= Number(options.unsteady)) {
  for (const task of failedTasks) if (await isUnsteady(task)) unsteady.push(task);
  for (const task of unsteady) tallies.get(task.runtime).failed -= task.failed;
}
const failedFiles = failedTasks.filter((task) => !unsteady.includes(task)).map(({ line }) => line);

const sum = (key) => [...tallies.values()].reduce((total, tally) => total + tally[key], 0);
const skippedTests = [...tallies.values()].reduce((total, tally) => total + tally.skippedNames.length, 0);
let failures = sum('failed');
if (absent.length > 0) {
  console.log(
    `absent: ${absent.map((it) => it.name).join(', ')}; "${INSTALL_COMMAND}" installs them, and npm test then uses them`,
  );
  // Under --require-all each of them is a failure, so that the closing line can't say that all is well.
  if (options['require-all']) failures += absent.length;
}
for (const need of absentNeeds) {
  const files = lacking.filter((file) => heads.get(file).needs === need).map((file) => relative(root, file));
  if (files.length > 0) console.log(`absent: what ${files.join(' and ')} need; "${needs[need].command}" brings it`);
}
if (options['require-all']) failures += lacking.length;
const absentEngines = ENGINES.filter((engine) => programOf(engine) === undefined).map(({ name }) => name);
if (absentEngines.length > 0) {
  console.log(
    `skipped: test/browser in ${absentEngines.join(', ')}; "bash test/browser/install.sh" brings them on Debian, "npm run test:browser" runs its pages`,
  );
  if (options['require-all']) failures += absentEngines.length;
}
const longest = [...times].sort(([, a], [, b]) => b - a).slice(0, Number(options.times));
if (longest.length > 0) console.log('seconds over all runtimes:');
for (const [name, seconds] of longest) console.log(`${seconds.toFixed(1).padStart(8)} ${name}`);
if (longest.length > 0) {
  const share = (100 * (after.busy - before.busy)) / (after.all - before.all);
  console.log(`the processors were busy for ${share.toFixed(0)} % of the time`);
}
if (slowFiles.length > 0) console.log(`slow: ${slowFiles.join(', ')}`);
if (failedFiles.length > 0) console.log(`\nfailed:\n  ${failedFiles.join('\n  ')}`);
if (unsteady.length > 0) {
  console.log(
    `\nunsteady, a defect of the test or of what it tests: failed once (above), passed ${STEADY_RUNS} times by itself`,
  );
  for (const { line } of unsteady) console.log(`  ${line}`);
}
const strict = options['require-all'] && skippedTests > 0;
if (strict) console.log('--require-all allows no skipped test');
const skipped = skippedTests + (options['require-all'] ? 0 : absent.length + lacking.length + absentEngines.length);
const alsoUnsteady = unsteady.length > 0 ? `, ${unsteady.length} unsteady` : '';
console.log(`\n${sum('passed')} passed, ${failures} failed, ${skipped} skipped${alsoUnsteady}`);
process.exit(failures > 0 || strict || sum('passed') === 0 ? 1 : 0);
