// What a service worker does for a page without headers, and what is said where it cannot.
import { isolate } from '../../../src/browser/service-worker.ts';
import { check, equal, ok } from './checks.ts';

async function rejection(promise: Promise<unknown>): Promise<{ code: string; name: string; message: string }> {
  try {
    await promise;
  } catch (error) {
    return error as { code: string; name: string; message: string };
  }
  throw new Error('it did not reject');
}

for (const [what, call, code, says] of [
  ['a script that is not there', () => isolate('/nowhere.js'), 'ERR_OPTION', /404/],
  ['what is no script', () => isolate('/empty'), 'ERR_OPTION', /text\/html/],
  ['no address', () => isolate('http://:'), 'ERR_OPTION', /no address/],
  [
    'a scope that does not cover the page',
    () => isolate('/service-worker.js', { scope: '/elsewhere/' }),
    'ERR_OPTION',
    /does not cover this page/,
  ],
  [
    'a script that serves nothing',
    () => isolate('/service-worker.silent.js', { timeoutMs: 500 }),
    'ERR_TIMEOUT',
    /call serve\(\)/,
  ],
  ['a time limit of nothing', () => isolate('/service-worker.js', { timeoutMs: 0 }), 'ERR_OPTION', /timeoutMs/],
  [
    'one that does not isolate',
    () => isolate('/service-worker.classic.js', { type: 'classic' }),
    'ERR_UNSUPPORTED',
    /isolate: true/,
  ],
] as const) {
  check(`${what} is refused with a reason`, async () => {
    const error = await rejection(call());
    equal(error.code, code, `${error.name}: ${error.message}:`);
    ok(says.test(error.message), error.message);
  });
}
