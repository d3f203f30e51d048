// `node:assert/strict` in a browser, as far as the suites that run there use it. Objects are compared as structured clones are
// (test/kit/same-clone.ts), an original with itself included.
import { difference } from '../../kit/same-clone.ts';

type Matcher = RegExp | ((error: unknown) => boolean) | (new (...args: never[]) => unknown) | Record<string, unknown>;

const shown = (value: unknown): string => {
  try {
    return (typeof value === 'object' && value !== null && JSON.stringify(value)?.slice(0, 300)) || String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
};
function fail(message: unknown, otherwise: string): never {
  if (message instanceof Error) throw message;
  throw new Error(message === undefined ? otherwise : `${message}: ${otherwise}`);
}

function same(actual: unknown, expected: unknown): boolean {
  if (Object.is(actual, expected)) return true;
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null) return false;
  // Two lists may hold the same functions or symbols, which no clone has.
  if (Array.isArray(actual) && Array.isArray(expected))
    return actual.length === expected.length && actual.every((it, i) => same(it, expected[i]));
  const plain = (it: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(it));
  if (plain(actual) && plain(expected)) {
    const keys = Object.keys(expected);
    const has = (key: string): boolean =>
      Object.hasOwn(actual, key) && same(actual[key as never], expected[key as never]);
    return keys.length === Object.keys(actual).length && keys.every(has);
  }
  return difference(expected, actual, { original: false }) === undefined;
}

function matches(error: unknown, matcher: Matcher | undefined): boolean {
  if (matcher === undefined) return true;
  if (matcher instanceof RegExp) return matcher.test(String(error));
  if (typeof matcher === 'function') {
    const isClass = matcher === Error || matcher.prototype instanceof Error;
    return isClass ? error instanceof matcher : (matcher as (error: unknown) => boolean)(error);
  }
  return Object.entries(matcher).every(([key, wanted]) => {
    const found = (error as Record<string, unknown> | null)?.[key];
    return wanted instanceof RegExp ? wanted.test(String(found)) : same(found, wanted);
  });
}

function ok(value: unknown, message?: unknown): void {
  if (!value) fail(message, `${shown(value)} is not true`);
}

class AssertionError extends Error {
  constructor({ message }: { readonly message: string }) {
    super(message);
  }
}

const also = {
  ok(value: unknown, message?: unknown): void {
    ok(value, message);
  },
  fail(message?: unknown): void {
    fail(message, 'failed');
  },
  equal(actual: unknown, expected: unknown, message?: unknown): void {
    if (!Object.is(actual, expected)) fail(message, `${shown(actual)} instead of ${shown(expected)}`);
  },
  notEqual(actual: unknown, expected: unknown, message?: unknown): void {
    if (Object.is(actual, expected)) fail(message, `it is ${shown(actual)}`);
  },
  deepEqual(actual: unknown, expected: unknown, message?: unknown): void {
    if (!same(actual, expected)) fail(message, `${shown(actual)} instead of ${shown(expected)}`);
  },
  notDeepEqual(actual: unknown, expected: unknown, message?: unknown): void {
    if (same(actual, expected)) fail(message, `it is ${shown(actual)}`);
  },
  match(text: string, pattern: RegExp, message?: unknown): void {
    if (!pattern.test(text)) fail(message, `${shown(text)} does not match ${pattern}`);
  },
  doesNotMatch(text: string, pattern: RegExp, message?: unknown): void {
    if (pattern.test(text)) fail(message, `${shown(text)} matches ${pattern}`);
  },
  throws(body: () => unknown, matcher?: Matcher | string, message?: unknown): void {
    let error: unknown;
    try {
      body();
    } catch (thrown) {
      error = thrown;
      const wanted = typeof matcher === 'string' ? undefined : matcher;
      if (!matches(error, wanted))
        fail(message, `it threw ${String(error)}, code ${(error as { code?: string })?.code}`);
      return;
    }
    fail(message ?? (typeof matcher === 'string' ? matcher : undefined), 'it did not throw');
  },
  doesNotThrow(body: () => unknown): void {
    body();
  },
  async rejects(
    promise: Promise<unknown> | (() => Promise<unknown>),
    matcher?: Matcher,
    message?: unknown,
  ): Promise<void> {
    let value: unknown;
    try {
      value = await (typeof promise === 'function' ? promise() : promise);
    } catch (error) {
      if (!matches(error, matcher)) fail(message, `it rejected with ${String(error)}`);
      return;
    }
    fail(message, `it did not reject, but gave ${shown(value)}`);
  },
  async doesNotReject(promise: Promise<unknown>): Promise<void> {
    await promise;
  },
};

interface Classes {
  readonly AssertionError: typeof AssertionError;
}
const assert: typeof ok & typeof also & Classes = Object.assign(ok.bind(undefined), also, { AssertionError });
export default assert;
