import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameText } from './same-text.ts';

test('isSameText() is === for texts of any length, wherever they differ', () => {
  const base = 'abcdefghij'.repeat(5);
  assert.equal(isSameText('', ''), true);
  for (let length = 0; length < base.length; length++) {
    const text = base.slice(0, length);
    assert.equal(isSameText(text, `${base} `.slice(0, length)), true);
    assert.equal(isSameText(text, base.slice(0, length + 1)), false);
    for (let at = 0; at < length; at++) {
      assert.equal(isSameText(text, `${text.slice(0, at)}λ${text.slice(at + 1)}`), false, `${length}, ${at}`);
    }
  }
});
