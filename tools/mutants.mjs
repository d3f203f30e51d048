// Are the tests any good? Makes small changes to the built source, one at a time, and sees whether some test notices.
//
//   npm run mutants -- --sample 200 --seed 1                  so many changes, drawn by chance
//   npm run mutants -- --only src/ring --sample 50            in these files only
//   npm run mutants -- --only src/hub --tests engines/hub     by these tests only: quick, and who survives may be noticed by others
//   npm run mutants -- --json record.json --jobs 2            keep the record
//   npm run mutants -- --again record.json                    the survivors of a record, once more
//
// First every test file runs unchanged, and V8 tells which characters each of them ran. Then each change runs the tests
// that ran its place, the quickest first, until one fails. Whoever survives all of them is a gap in the tests or makes no
// difference: test/mutants/equivalent.json keeps those that were looked at and make none, with the reason.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { startedFiles } from './bundle.mjs';
import { readCoverage } from './coverage.mjs';
import { apply, changesIn, random, sample } from './mutations.mjs';
import { runtimes } from './runtimes.mjs';
import { killAll, runTestFile } from './test-file.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const EQUIVALENT = join(root, 'test/mutants/equivalent.json');
/** Tests that are about other things than src/: they would only take time. */
const NOT_ASKED = /^dist\/(bench|test\/(tools|types|iife|examples|doc-examples|package))/;
/** Tests that read the source by themselves, so that no coverage tells, and what they read. */
const READERS = [
  { test: /^dist\/test\/model\//, source: /^dist\/src\/(ring|wait|lane|transport|memory|frame)\// },
  { test: /^dist\/test\/docs\.test/, source: /^dist\/src\/(errors|memory\/layout|frame\/header)\.js$/ },
];
/** Of its usual time a test may take so many before it counts as hung, and at least so many seconds. */
const PATIENCE = 6;
const SECONDS_MIN = 15;

const { values: options } = parseArgs({
  options: {
    sample: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    only: { type: 'string', multiple: true },
    tests: { type: 'string', multiple: true },
    json: { type: 'string' },
    again: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    runtime: { type: 'string', default: 'node-24' },
  },
});

const filesBelow = (folder, wanted) =>
  readdirSync(join(root, folder), { recursive: true })
    .map((path) => join(folder, path))
    .filter((path) => wanted(path) && !path.includes('node_modules'))
    .sort();

function chooseRuntime() {
  const found = runtimes().find((it) => it.name === options.runtime);
  if (found?.installed) return found;
  const release = `node-${process.versions.node.split('.')[0]}`;
  return { name: release, kind: 'node', version: process.versions.node, path: process.execPath, installed: true };
}

/** A tree like this one whose dist/ may be changed. */
function workTree() {
  const folder = mkdtempSync(join(root, '.mutants-'));
  for (const name of readdirSync(root)) {
    if (name === 'dist' || name === '.git' || name.startsWith('.mutants-')) continue;
    if (name === 'package.json') cpSync(join(root, name), join(folder, name));
    else symlinkSync(join(root, name), join(folder, name));
  }
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  // What tests start is to load the modules, for a mutant is in one of them, and what covers it is asked of each.
  for (const file of startedFiles) rmSync(join(folder, file));
  return folder;
}

/** Runs every test unchanged: seconds, and what it ran. Those that fail anyway can tell nothing. */
async function baseline(runtime, tests, sources, tree) {
  const lengths = new Map(sources.map((file) => [join(tree, file), readFileSync(join(root, file), 'utf8').length]));
  const known = [];
  for (const test of tests) {
    const folder = join(tree, '.coverage');
    mkdirSync(folder, { recursive: true });
    process.env.NODE_V8_COVERAGE = folder;
    const result = await runTestFile(runtime, join(tree, test), { cwd: tree, watchdogSeconds: 300 });
    delete process.env.NODE_V8_COVERAGE;
    if (result.failed > 0) console.log(`left out, it fails unchanged: ${test} ${result.reason ?? ''}`);
    else known.push({ test, seconds: result.seconds, covered: readCoverage(folder, (file) => lengths.get(file)) });
    rmSync(folder, { recursive: true });
  }
  console.log(`${known.length} of ${tests.length} test files run, unchanged`);
  return known.sort((a, b) => a.seconds - b.seconds);
}

/** The tests that may notice a change at this place, the quickest first. */
function candidates(known, { file, start }, tree) {
  const path = join(tree, file);
  const ran = known.filter(({ covered }) => covered.get(path)?.[start] === 1);
  // Threads that are killed write no coverage.
  const found = ran.length > 0 ? ran : known.filter(({ covered }) => covered.has(path));
  const readers = READERS.filter(({ source }) => source.test(file));
  const reads = (one) => readers.some(({ test }) => test.test(one.test));
  return [...found, ...known.filter((one) => reads(one) && !found.includes(one))];
}

function lineOf(source, at) {
  const from = source.lastIndexOf('\n', at - 1) + 1;
  const to = source.indexOf('\n', at);
  return { line: source.slice(0, at).split('\n').length, code: source.slice(from, to < 0 ? undefined : to).trim() };
}

function allMutants(sources) {
  return sources.flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8');
    const met = new Map();
    return changesIn(source).map(({ change, ...where }) => {
      const place = lineOf(source, where.start);
      // The same change may be possible at several places of a line.
      const key = `${place.line} ${change}`;
      const nth = (met.get(key) ?? 0) + 1;
      met.set(key, nth);
      return { file, ...where, ...place, change: nth === 1 ? change : `${change}, place ${nth}` };
    });
  });
}

const keyOf = ({ file, code, change }) => `${file}\n${code}\n${change}`;

/** Its own copy of dist/, so that jobs do not meet. */
async function work(queue, runtime, known, first, tree, report) {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    const path = join(tree, mutant.file);
    const source = readFileSync(path, 'utf8');
    const started = performance.now();
    writeFileSync(path, apply(source, mutant));
    let outcome = 'survived';
    let by;
    try {
      for (const { test, seconds } of candidates(known, mutant, first)) {
        const watchdogSeconds = Math.max(SECONDS_MIN, Math.ceil(seconds * PATIENCE));
        const result = await runTestFile(runtime, join(tree, test), {
          cwd: tree,
          watchdogSeconds,
          watchdogFixed: true,
        });
        if (result.failed === 0) continue;
        outcome = /still running/.test(result.reason ?? '') ? 'hung' : 'killed';
        by = test;
        break;
      }
    } finally {
      writeFileSync(path, source);
    }
    report({ ...mutant, outcome, by, seconds: Math.round((performance.now() - started) / 1000) });
  }
}

const trees = [];
function cleanUp() {
  killAll();
  for (const tree of trees) rmSync(tree, { recursive: true, force: true });
}
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    cleanUp();
    process.exit(130);
  });
}

await build();
const runtime = chooseRuntime();
const sources = filesBelow('dist/src', (path) => path.endsWith('.js') && !path.endsWith('.test.js'));
const asked = sources.filter((file) => (options.only ?? ['']).some((text) => file.includes(text)));
const tests = filesBelow('dist', (path) => path.endsWith('.test.js') && !NOT_ASKED.test(path)).filter((file) =>
  (options.tests ?? ['']).some((text) => file.includes(text)),
);
const all = allMutants(asked);
const equivalent = new Set(existsSync(EQUIVALENT) ? JSON.parse(readFileSync(EQUIVALENT, 'utf8')).map(keyOf) : []);
const again =
  options.again === undefined
    ? undefined
    : new Set(
        JSON.parse(readFileSync(options.again, 'utf8'))
          .mutants.filter(({ outcome }) => outcome === 'survived')
          .map(keyOf),
      );
const pool = again === undefined ? all : all.filter((mutant) => again.has(keyOf(mutant)));
const seed = Number(options.seed);
const drawn = again === undefined ? sample(pool, Number(options.sample), random(seed)) : pool;
const chosen = drawn.filter((mutant) => !equivalent.has(keyOf(mutant)));
console.log(
  `${all.length} changes in ${asked.length} files; ${drawn.length} drawn with seed ${seed}, ${drawn.length - chosen.length} of them known to make no difference; ${runtime.name} ${runtime.version}`,
);
const results = [];

function counts() {
  const survived = results.filter(({ outcome }) => outcome === 'survived').length;
  return { noticed: results.length - survived, survived };
}
/** Written anew with each result: what a run that is stopped has found is not lost. */
function keepRecord() {
  if (options.json === undefined) return;
  const mutants = results
    .map(({ file, line, code, change, outcome, by }) => ({ file, line, code, change, outcome, by }))
    .sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
  const record = {
    date: new Date().toISOString().slice(0, 10),
    runtime: `${runtime.name} ${runtime.version}`,
    seed,
    changes: all.length,
    drawn: chosen.length,
    ...counts(),
    mutants,
  };
  writeFileSync(options.json, `${JSON.stringify(record, null, 1)}\n`);
}

try {
  const jobs = Math.max(1, Number(options.jobs));
  for (let i = 0; i < jobs; i++) trees.push(workTree());
  const known = await baseline(runtime, tests, sources, trees[0]);
  const queue = [...chosen];
  const report = (result) => {
    results.push(result);
    keepRecord();
    const { outcome, file, line, change, code, by, seconds } = result;
    const where = `${relative('dist', file)}:${line}`;
    if (outcome === 'survived') console.log(`SURVIVED  ${where}  ${change}  | ${code} | ${seconds} s`);
    else console.log(`${outcome.padEnd(8)}  ${where}  ${change}  by ${relative('dist', by)}  ${seconds} s`);
  };
  await Promise.all(trees.map((tree) => work(queue, runtime, known, trees[0], tree, report)));
} finally {
  cleanUp();
}
const { noticed, survived } = counts();
console.log(
  `\n${noticed} of ${results.length} noticed (${Math.round((noticed / Math.max(1, results.length)) * 100)} %), ${survived} survived`,
);
