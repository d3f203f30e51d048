// What each runtime's console asks for, asked here on all of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showAs } from './show.ts';

class Thing {
  facts: object | undefined = { state: 'open' };
}
showAs(Thing.prototype, 'Thing', (it) => it.facts);

type Show = Record<symbol, (...parameters: unknown[]) => string>;
const show = (name: string, ...parameters: unknown[]): string =>
  (new Thing() as unknown as Show)[Symbol.for(name)]!(...parameters);
const inspect = (facts: unknown, options: unknown): string => `${JSON.stringify(facts)} ${String(options)}`;

test("Node's console gets name and facts down to the last level that is shown, and the name alone below", () => {
  const node = 'nodejs.util.inspect.custom';
  for (const depth of [2, 1, 0]) assert.equal(show(node, depth, 'options', inspect), 'Thing {"state":"open"} options');
  assert.equal(show(node, null, 'options', inspect), 'Thing {"state":"open"} options', 'without a limit');
  assert.equal(show(node, -1, 'options', inspect), '[Thing]');
});

test("Deno's console gets name and facts", () => {
  assert.equal(show('Deno.customInspect', inspect, 'options'), 'Thing {"state":"open"} options');
});

test('what is no instance has no facts', () => {
  const prototype = Thing.prototype as unknown as Show;
  assert.equal(prototype[Symbol.for('Deno.customInspect')]!(inspect, 0), 'Thing {} 0');
});
