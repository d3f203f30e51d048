// The web's objects in parts, as far as a runtime that is no browser has their classes; test/browser/pages/values.ts has the others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webForms } from './web-forms.ts';

test('a DOMException is taken apart and put together again', () => {
  const exception = new DOMException('m', 'AbortError');
  const form = webForms.of(exception);
  assert.ok(form !== undefined);
  const copy = webForms.make(...form) as DOMException & { stack: string };
  assert.ok(copy instanceof DOMException);
  const { name, message, code, stack } = copy;
  assert.deepEqual([name, message, code], ['AbortError', 'm', 20]);
  assert.equal(stack, (exception as { stack?: string }).stack);
});

test('what inherits from a class of the web counts as one of it, and what only looks so does not', () => {
  class Mine extends DOMException {}
  assert.equal(webForms.of(new Mine('m', 'AbortError'))?.[0], 0);
  assert.equal(webForms.of(Object.create(DOMException.prototype)), undefined);
  assert.equal(webForms.of({}), undefined);
  assert.equal(webForms.of(new Map()), undefined);
});

test('a class that there is none of cannot be made', () => {
  assert.throws(() => webForms.make(99, []), TypeError);
});
