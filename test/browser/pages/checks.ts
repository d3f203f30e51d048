// What a page is made of: checks that run one after the other, each with a watchdog, and report to the server as they go.

export interface Report {
  readonly page: string;
  /** The check that is over now. */
  readonly done?: { readonly name: string; readonly error?: string; readonly ms: number };
  /** The one that begins. */
  readonly next?: string;
  /** Something that was measured, and what it is to be; the run prints it. */
  readonly figure?: { readonly what: string; readonly value: number; readonly unit: string; readonly goal: number };
  /** There are no more. */
  readonly over?: true;
}

interface Check {
  readonly name: string;
  readonly body: () => unknown;
  /** Begins with its neighbours that are such, too. */
  readonly together: boolean;
}
const checks: Check[] = [];
const cleanings: (() => unknown)[] = [];

const CHECK_SECONDS = 20;

export function check(name: string, body: () => unknown): void {
  checks.push({ name, body, together: false });
}

/** Checks that stand side by side and wait rather than work run at the same time. */
export function checkTogether(name: string, body: () => unknown): void {
  checks.push({ name, body, together: true });
}

/** Runs when the check is over, however it ended. */
export function afterwards(task: () => unknown): void {
  cleanings.push(task);
}

/** @returns where this browser is to go on, behind the last check; '' where it is not */
async function report(report: Report): Promise<string> {
  const answer = await fetch('/report', { method: 'POST', body: JSON.stringify(report) });
  return answer.text();
}

async function leave(page: string): Promise<void> {
  const onward = await report({ page, over: true });
  // In the place of this page, so that none is kept in memory to come back to.
  if (onward !== '') location.replace(onward);
}

/** The name of this page. */
const pageName = (): string => location.pathname.slice('/page/'.length);

/** Reports something that was measured. Nothing fails by it. */
export function figure(what: string, value: number, unit: string, goal: number): void {
  void report({ page: pageName(), figure: { what, value: Math.round(value * 10) / 10, unit, goal } });
}

interface Outcome {
  readonly error?: string;
  readonly ms: number;
}
async function outcomeOf({ body }: Check): Promise<Outcome> {
  const started = performance.now();
  let error: string | undefined;
  try {
    await within('the check', Promise.resolve().then(body), CHECK_SECONDS);
  } catch (thrown) {
    error = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  }
  return { ms: Math.round(performance.now() - started), ...(error !== undefined && { error }) };
}

export async function runChecks(page: string): Promise<void> {
  const names = new Set(checks.map(({ name }) => name));
  if (names.size !== checks.length) throw new Error('two checks have one name');
  const group: Promise<Outcome>[] = [];
  for (const [i, check] of checks.entries()) {
    await report({ page, next: check.name });
    if (group.length === 0) {
      const end = check.together ? checks.findIndex((it, at) => at > i && !it.together) : i + 1;
      for (const it of checks.slice(i, end < 0 ? undefined : end)) group.push(outcomeOf(it));
    }
    const outcome = (await group.shift()) as Outcome;
    if (group.length === 0) for (const task of cleanings.splice(0)) await task();
    await report({ page, done: { name: check.name, ...outcome } });
  }
  await leave(page);
}

/** Tells of a page that could not run its checks. */
export async function reportFailure(page: string, error: unknown): Promise<void> {
  await report({ page, done: { name: 'the page itself', error: String(error), ms: 0 }, over: true });
}

// ---- assertions ---------------------------------------------------------------------------------------------------

const show = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value)));

export function ok(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Compares primitives as they are, and what JSON can tell of objects. */
export function equal(actual: unknown, expected: unknown, what = 'got'): void {
  const plain = typeof actual === 'object' && actual !== null && typeof expected === 'object';
  if (plain ? show(actual) !== show(expected) : !Object.is(actual, expected)) {
    throw new Error(`${what} ${show(actual)}, not ${show(expected)}`);
  }
}

/** What `body` throws. */
export function thrownBy(body: () => unknown): {
  readonly name: string;
  readonly code?: string;
  readonly message: string;
} {
  try {
    body();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not throw');
}

/** What a promise is rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<{ code: string; name: string; message: string }> {
  try {
    await promise;
  } catch (error) {
    return error as { code: string; name: string; message: string };
  }
  throw new Error('it did not reject');
}

/** Seconds that one step may take. Nothing passes or fails by time: only what would hang runs into it. */
const STEP_SECONDS = 8;

export async function within<T>(what: string, promise: Promise<T>, seconds: number = STEP_SECONDS): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`hang: waited ${seconds} s for ${what}`)), seconds * 1000);
  });
  try {
    return await Promise.race([promise, hang]);
  } finally {
    clearTimeout(timer);
  }
}

export const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
