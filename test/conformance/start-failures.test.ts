// Threads that fail before they have opened their end of the channel, or right behind that: whoever started them learns it
// at once, with the reason and the error, whether it blocks or not and whether anybody listens to the Worker's errors.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { features } from '../../src/index.ts';
import { type Role, startThread } from '../kit/thread.ts';
import { STEP_MS, within } from '../kit/watchdog.ts';

interface Failure {
  /** The module's name and text; no text: there is no such file. */
  readonly file: string;
  readonly text?: string;
  readonly reason: 'crash' | 'exit';
  /** What the error's message says, or the thrown value that is no Error. */
  readonly says?: RegExp | string;
}

const index = JSON.stringify(new URL('../../src/index.js', import.meta.url).href);
const open = `import { parentPort } from ${index}; parentPort();`;
const FAILURES: readonly Failure[] = [
  { file: 'not-there.mjs', reason: 'crash', says: /not-there\.mjs/ },
  { file: 'syntax.mjs', text: 'let x = = 5;', reason: 'crash', says: /Unexpected|Expression expected/ },
  { file: 'import.mjs', text: `${open} import './lacking.mjs';`, reason: 'crash', says: /lacking\.mjs/ },
  { file: 'name.mjs', text: `import { lacking } from ${index};`, reason: 'crash', says: /lacking/ },
  { file: 'throws.mjs', text: 'throw new TypeError("on purpose");', reason: 'crash', says: /on purpose/ },
  { file: 'throws.cjs', text: 'throw new TypeError("on purpose");', reason: 'crash', says: /on purpose/ },
  { file: 'rejects.mjs', text: 'await null; throw new Error("on purpose");', reason: 'crash', says: /on purpose/ },
  {
    file: 'later.mjs',
    text: 'setTimeout(() => { throw new Error("on purpose"); }, 5);',
    reason: 'crash',
    says: /on purpose/,
  },
  { file: 'value.mjs', text: 'throw "on purpose";', reason: 'crash', says: 'on purpose' },
  {
    file: 'long.mjs',
    text: 'throw new Error("on purpose".padEnd(20_000, "\\u2028"));',
    reason: 'crash',
    says: /on purpose/,
  },
  { file: 'opened.mjs', text: `${open} throw new Error("on purpose");`, reason: 'crash', says: /on purpose/ },
  { file: 'returns.mjs', text: '', reason: 'exit' },
  { file: 'imports.mjs', text: `import ${index};`, reason: 'exit' },
  { file: 'exit-0.mjs', text: 'import process from "node:process"; process.exit(0);', reason: 'exit' },
  { file: 'exit-3.mjs', text: 'import process from "node:process"; process.exit(3);', reason: 'exit' },
  { file: 'exit-code.mjs', text: 'import process from "node:process"; process.exitCode = 3;', reason: 'exit' },
];

/** Enough to tell one way of learning from another, where starting them all would take long. */
const NAMES = ['not-there.mjs', 'syntax.mjs', 'throws.mjs', 'value.mjs', 'opened.mjs', 'returns.mjs', 'exit-3.mjs'];
const SOME: readonly Failure[] = FAILURES.filter(({ file }) => NAMES.includes(file));

const folder = mkdtempSync(join(tmpdir(), 'millrace-start-'));
after(() => rmSync(folder, { recursive: true, force: true }));
for (const { file, text } of FAILURES) if (text !== undefined) writeFileSync(join(folder, file), text);
const urlOf = (file: string): string => pathToFileURL(join(folder, file)).href;

interface Outcome {
  readonly closed: boolean;
  /** What became of `port.ready`: `open`, or the error. */
  readonly ready: unknown;
  readonly reason: unknown;
  readonly error: unknown;
  readonly ms: number;
}

function check({ file, reason, says }: Failure, outcome: Outcome): void {
  assert.equal(outcome.closed, true, `${file}: the call answers CLOSED`);
  assert.equal(outcome.reason, reason, `${file}: ${JSON.stringify(outcome)}`);
  const opened = file === 'opened.mjs';
  const cause = opened || says === undefined ? undefined : typeof says === 'string' ? 'string' : 'object';
  assert.deepEqual(outcome.ready, opened ? 'open' : { code: 'ERR_CLOSED', reason, cause: cause ?? 'undefined' }, file);
  if (says === undefined) assert.equal(outcome.error, undefined, file);
  else if (typeof says === 'string') assert.equal(outcome.error, says, file);
  else {
    const { message, stack } = outcome.error as { message: string; stack: string };
    assert.match(message, says, file);
    assert.equal(typeof stack, 'string', file);
  }
}

/** What a parent does; it runs in a thread of its own, which an error that nobody listens to may end. */
interface Part {
  readonly urls: readonly string[];
  readonly blocked: boolean;
  readonly listen: boolean;
  readonly timeoutMs: number;
}

const parent: Role = async ({ data, millrace, say, exit }) => {
  const { urls, blocked, listen, timeoutMs } = data as Part;
  const told = (error: unknown): unknown =>
    error instanceof Error ? { name: error.name, message: error.message.slice(0, 999), stack: error.stack } : error;
  for (const url of urls) {
    const start = performance.now();
    const { port, worker } = millrace.spawn(url, { worker: { stderr: true } });
    if (listen) worker.on('error', () => {});
    const whetherReady = (): Promise<unknown> =>
      port.ready.then(
        () => 'open',
        ({ code, reason, cause }) => ({ code, reason, cause: typeof cause }),
      );
    const asked = blocked ? undefined : whetherReady();
    const first = blocked ? port.receive({ timeoutMs }) : await port.receiveAsync({ timeoutMs });
    const ms = performance.now() - start;
    const reason = port.reason;
    const ready = await (asked ?? whetherReady());
    say({ closed: first === millrace.CLOSED, ready, reason, error: told(port.error), ms });
  }
  // Before the event loop hears of errors that nobody listens to.
  if (!listen) exit();
};

/** One after the other in each of some parents at the same time: what blocks in a thread of Deno waits half a second for each. */
const PARENTS = 4;
async function inParents(play: (failures: readonly Failure[]) => Promise<void>): Promise<void> {
  const shares = Array.from({ length: PARENTS }, (_, nth) => FAILURES.filter((_, i) => i % PARENTS === nth));
  await Promise.all(shares.map(play));
}

for (const listen of [true, false]) {
  const how = listen ? 'listens to its errors' : 'does not listen to its errors';
  test(`a blocked parent that ${how} learns why a thread failed, and of what`, () =>
    inParents(async (failures) => {
      const data: Part = { urls: failures.map(({ file }) => urlOf(file)), blocked: true, listen, timeoutMs: STEP_MS };
      const thread = startThread(parent, { data });
      for (const failure of failures) check(failure, (await thread.next()) as Outcome);
      await within('the parent to end', listen ? thread.done() : thread.ended);
      await thread.kill();
    }));
}

test('an event loop that listens to its errors learns the same', () =>
  inParents(async (failures) => {
    const urls = failures.map(({ file }) => urlOf(file));
    const data: Part = { urls, blocked: false, listen: true, timeoutMs: STEP_MS };
    const thread = startThread(parent, { data });
    for (const failure of failures) check(failure, (await thread.next()) as Outcome);
    await thread.done();
    await thread.kill();
  }));

test('an event loop that does not listen to its errors learns the same, unless it dies of them as with any Worker', async () => {
  for (const failure of SOME) {
    const data: Part = { urls: [urlOf(failure.file)], blocked: false, listen: false, timeoutMs: STEP_MS };
    const thread = startThread(parent, { data });
    const outcome = thread.next().then(
      (it) => it as Outcome,
      () => undefined,
    );
    const said = await outcome;
    if (said !== undefined) check(failure, said);
    else {
      assert.equal(failure.reason, 'crash', `${failure.file} ended its parent`);
      assert.notEqual(features().runtime, 'deno', 'where an error without a listener ends nothing');
    }
    await within('the parent to end', thread.ended);
  }
});
