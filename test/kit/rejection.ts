// What a promise rejects with. One that does not settle is a hang, and is told as one.
import assert from 'node:assert/strict';
import { ClosedError } from '../../src/index.ts';
import { within } from './watchdog.ts';

/** Fails if it resolves. What is thrown need be no error: whoever expects one looks at it. */
export async function rejection(
  promise: unknown,
  what: string = 'the promise',
): Promise<Error & Record<string, unknown>> {
  const settled = Promise.resolve(promise).then(
    (value) => assert.fail(`${what} resolved: ${String(value)}`),
    (error: unknown) => error as Error & Record<string, unknown>,
  );
  return await within(`${what} to reject`, settled);
}

/** The same by the end of the other side. */
export async function closing(what: string, promise: unknown): Promise<ClosedError> {
  const error: unknown = await rejection(promise, what);
  assert.ok(error instanceof ClosedError, `${what}: ${String(error)}`);
  return error;
}
