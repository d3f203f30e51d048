// What a thread dies of, written down and read again; and that the bootstrap, which is source text, writes the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEATH_TEXT_MAX } from '../limits.ts';
import { NODE_BOOTSTRAP } from '../platform/bootstrap.ts';
import {
  createLifePage,
  ERROR_LENGTH,
  ERROR_TEXT_BYTE,
  endedOn,
  isLifePage,
  readError,
  tellEnded,
  writeError,
} from './life-page.ts';

const hostile = new Proxy(new Error('x'), {
  get() {
    throw new Error('a getter of its own');
  },
});
const THROWN: readonly unknown[] = [
  new TypeError('wrong'),
  Object.assign(new Error('with code'), { code: 'E_CODE', other: 5n }),
  Object.assign(new Error('odd'), { code: 5, stack: undefined, name: Symbol('name') }),
  new Error('long '.repeat(DEATH_TEXT_MAX)),
  new Error('"\\\u0000'.repeat(DEATH_TEXT_MAX)),
  new Error('lone \ud800 and \u{1f600}'),
  { message: 'no Error', name: 'Thing' },
  { other: 1 },
  Object.create(null),
  'text',
  '',
  'x'.repeat(3 * DEATH_TEXT_MAX),
  5,
  Number.NaN,
  true,
  false,
  null,
  undefined,
  10n,
  Symbol('s'),
  () => {},
  hostile,
];

/** The text on the page. */
function textOn(page: SharedArrayBuffer): string {
  const length = Atomics.load(new Int32Array(page), ERROR_LENGTH);
  assert.ok(length > 0 && length <= DEATH_TEXT_MAX, `${length} characters`);
  return String.fromCharCode(...new Uint16Array(page, ERROR_TEXT_BYTE, length));
}

test('the bootstrap tells of an error as the library does', () => {
  const [source] = /const textOf = [\s\S]*?\n};\n/.exec(NODE_BOOTSTRAP) as RegExpExecArray;
  const theirs = new Function('end', `${source} return textOf;`)({ errorMax: DEATH_TEXT_MAX }) as (
    it: unknown,
  ) => string;
  for (const thrown of THROWN) {
    const page = createLifePage();
    writeError(page, thrown);
    assert.equal(textOn(page), theirs(thrown));
  }
});

test('an Error comes back with its name, message, stack and code; a value as it was, or as a text', () => {
  const page = (thrown: unknown): unknown => {
    const memory = createLifePage();
    writeError(memory, thrown);
    return readError(memory);
  };
  const thrown = Object.assign(new RangeError('far'), { code: 'E_FAR' });
  const read = page(thrown) as RangeError & { code: string };
  assert.ok(read instanceof Error);
  assert.deepEqual([read.name, read.message, read.stack, read.code], ['RangeError', 'far', thrown.stack, 'E_FAR']);
  assert.deepEqual(['text', 5, true, false].map(page), ['text', 5, true, false]);
  assert.deepEqual([undefined, 10n, Symbol('s')].map(page), ['undefined', '10', 'Symbol(s)']);
  assert.ok((page(new Error('long '.repeat(DEATH_TEXT_MAX))) as Error).message.startsWith('long long '));
});

test('the first error stays, and so does the first word about the end', () => {
  const page = createLifePage();
  assert.deepEqual([endedOn(page), readError(page)], [undefined, undefined]);
  writeError(page, 'first');
  writeError(page, 'second');
  assert.equal(readError(page), 'first');
  tellEnded(page, 'crash');
  tellEnded(page, 'terminated');
  assert.equal(endedOn(page), 'crash');
});

test('whatever stands on a page, reading it gives an error, a value or nothing', () => {
  const texts = [
    '',
    'no JSON',
    '5',
    'null',
    '[]',
    '{}',
    '{"name":{"a":1}}',
    '{"value":null}',
    '{"__proto__":{"value":1}}',
  ];
  for (const text of texts) {
    const page = createLifePage();
    for (let i = 0; i < text.length; i++) new Uint16Array(page, ERROR_TEXT_BYTE)[i] = text.charCodeAt(i);
    for (const length of [text.length, -1, DEATH_TEXT_MAX, DEATH_TEXT_MAX + 1, 2 ** 31 - 1]) {
      new Int32Array(page)[ERROR_LENGTH] = length;
      const read = readError(page);
      assert.ok(read === undefined || read === null || read instanceof Error, `${text}: ${String(read)}`);
    }
  }
  assert.equal(isLifePage(new SharedArrayBuffer(4)), false);
  assert.equal(isLifePage(new ArrayBuffer(1 << 20)), false);
});
