// Runs one compiled test file on one runtime, in its own process, and counts what its JUnit report says.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const strictDeno = fileURLToPath(new URL('./strict-deno.mjs', import.meta.url));
const OUTPUT_CHARACTERS_MAX = 1_000_000;
/** Of what gives way: a third of a processor's time where others want it too, all of it where nobody does. */
const LOW_PRIORITY = 5;
const posix = process.platform !== 'win32';
const running = new Set();

/** Command lines that run node:test files. `bun run` and `deno run` would load the file and run no test in it. */
const commands = {
  // TAP says of a test that has failed why, at once: one that is killed later never comes to what other reporters say at the end.
  node: (file, report) => [
    ...['--test-reporter=tap', '--test-reporter-destination=stdout'],
    ...['--test-reporter=junit', `--test-reporter-destination=${report}`, file],
  ],
  bun: (file, report) => ['test', '--timeout=0', '--reporter=junit', `--reporter-outfile=${report}`, file],
  deno: (file, report) => [
    'test',
    '-A',
    '--no-check',
    '--no-lock',
    `--preload=${strictDeno}`,
    `--junit-path=${report}`,
    file,
  ],
};

/** Ends a child and what it started, and nothing else: on POSIX the child leads a process group of its own. */
function kill(child) {
  try {
    if (posix) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It ended by itself in the meantime.
  }
}
export function killAll() {
  for (const child of running) kill(child);
}

function giveWay(child) {
  try {
    setPriority(child.pid, LOW_PRIORITY);
  } catch {
    // It did not start, or ended by itself in the meantime.
  }
}

/** Settles with `{ status, output, timedOut }` when the child has ended; never rejects. `givesWay`: others come first. */
export function runChild(command, args, { cwd, env, timeoutMs, givesWay = false }) {
  return new Promise((settle) => {
    const child = spawn(command, args, { cwd, env, detached: posix, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    if (givesWay) giveWay(child);
    let output = '';
    let timedOut = false;
    const watchdog = setTimeout(() => {
      timedOut = true;
      kill(child);
    }, timeoutMs);
    const collect = (text) => {
      if (output.length < OUTPUT_CHARACTERS_MAX) output += text;
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', collect);
    const finish = (status) => {
      clearTimeout(watchdog);
      running.delete(child);
      // What the child started and left behind goes with it; it would also keep the pipes open.
      kill(child);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      settle({ status, output, timedOut });
    };
    child.on('error', (error) => {
      output += `${error}\n`;
      finish(1);
    });
    child.on('exit', (status, signal) => {
      const code = status ?? `killed by ${signal}`;
      child.on('close', () => finish(code));
      setTimeout(finish, 2000, code).unref();
    });
  });
}

/** Counts tests that have no subtests; `undefined` when the text is no whole report. */
export function countReport(xml) {
  if (!xml.includes('</testsuites>')) return undefined;
  const cases = [...xml.matchAll(/<testcase((?:\s+[\w-]+="[^"]*")*)\s*(?:\/>|>([\s\S]*?)<\/testcase>)/g)].map(
    ([, attributes, body = '']) => ({
      name: /\sname="([^"]*)"/.exec(attributes)?.[1] ?? '',
      failed: /<(failure|error)\b/.test(body),
      skipped: /<skipped\b/.test(body),
    }),
  );
  // Deno reports a test with steps beside its steps, which are named `parent > step`; with a failed step both fail.
  const parents = new Set(cases.flatMap(({ name }) => prefixes(name)));
  const leaves = cases.filter(({ name }) => !parents.has(name));
  const skippedNames = leaves.filter((it) => it.skipped && !it.failed).map((it) => it.name);
  const failed = leaves.filter((it) => it.failed).length || (cases.some((it) => it.failed) ? 1 : 0);
  return { passed: leaves.length - failed - skippedNames.length, failed, skippedNames };
}
/** Lines of what a failed file has said that name its tests and errors: the end of a long log is all that some see. */
export function gistOf(output) {
  const lines = output.split('\n').map((line) => line.trim());
  const telling = lines.filter((line) => /^(not ok|\(fail\)|hang: |\w*Error\b|error:)|\.\.\. FAILED/.test(line));
  return [...new Set(telling)].slice(0, 6).map((line) => line.slice(0, 300));
}
function prefixes(name) {
  const parts = name.split(' &gt; ');
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join(' &gt; '));
}

/**
 * `// runtimes: node, bun`, `// watchdog: 300 s`, `// needs: packages` (or `native`) and `// native: ffi` at the top of a test or
 * example bind this file's runs.
 */
export function directives(file) {
  const head = readFileSync(file, 'utf8').slice(0, 4000);
  const names = /^\/\/ runtimes: *(.+)$/m.exec(head)?.[1];
  const seconds = /^\/\/ watchdog: *(\d+) s\b/m.exec(head)?.[1];
  const asked = /^\/\/ asked for: *(.+)$/m.exec(head)?.[1];
  const needs = /^\/\/ needs: *(\w+)$/m.exec(head)?.[1];
  const native = /^\/\/ native: *(\w+)$/m.exec(head)?.[1] ?? (needs === 'native' ? undefined : 'none');
  const alone = /^\/\/ neighbours: none$/m.test(head);
  return {
    kinds: names?.split(/[\s,]+/),
    askedFor: asked?.split(/[\s,]+/),
    // What does not depend on the runtime asks nothing of the time either.
    givesWay: names?.split(/[\s,]+/).includes('once') ?? false,
    watchdogSeconds: seconds === undefined ? undefined : Number(seconds),
    needs,
    native,
    alone,
  };
}

/**
 * Runs `file` on `runtime`: counts, seconds, and the whole output with the reason when something failed.
 * `watchdogFixed`: the file's own `watchdog` line does not count.
 */
export async function runTestFile(runtime, file, { cwd, watchdogSeconds, watchdogFixed = false }) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'));
  // A test is another user for a moment (test/native/other-user.test.ts), and a thread of the runtime's opens its report then.
  chmodSync(folder, 0o777);
  const report = join(folder, 'report.xml');
  const stray = join(folder, 'stray.txt');
  const env = { ...process.env, NO_COLOR: '1', MILLRACE_STRAY: stray };
  for (const name of ['FORCE_COLOR', 'NODE_TEST_CONTEXT', 'NODE_OPTIONS']) delete env[name];
  const started = performance.now();
  const { watchdogSeconds: own, givesWay, native } = directives(file);
  // Whoever does not need the addon is tested without it, as most users are.
  if (native !== undefined) env.MILLRACE_NATIVE = native;
  // What the line at the top says is for the usual number of cases.
  const patience = process.env.SOAK === '1' ? 10 : 1;
  const limit = (watchdogFixed ? undefined : own && own * patience) ?? watchdogSeconds;
  const args = commands[runtime.kind](file, report);
  const bounds = { cwd, env, timeoutMs: limit * 1000, givesWay };
  const { status, output, timedOut } = await runChild(runtime.path, args, bounds);
  const seconds = (performance.now() - started) / 1000;
  const read = (path) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return '';
    }
  };
  const strays = read(stray);
  const counts = countReport(read(report)) ?? { passed: 0, failed: 0, skippedNames: [] };
  rmSync(folder, { recursive: true, force: true });

  let reason;
  if (timedOut) reason = `still running after ${limit} s: killed`;
  else if (strays !== '') reason = `an error outside of every test:\n${strays}`;
  else if (counts.failed === 0 && status !== 0) reason = `no test failed, but the process ended with ${status}`;
  else if (counts.passed + counts.failed + counts.skippedNames.length === 0)
    reason = 'the file ended before its tests did, or has none';
  const failed = counts.failed + (reason === undefined ? 0 : 1);
  return { ...counts, failed, seconds, reason, output };
}
