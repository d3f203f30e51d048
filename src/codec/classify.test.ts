// What is the runtime's and what is the program's is told by how the engine spells what it has built in, whichever engine it is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type * as Classify from './classify.ts';

const spelt = Function.prototype.toString;
const BUILT_IN = /^(function [^{]*)\{\s*\[native code\]\s*\}$/;

/** classify.ts as it is in an engine with that spelling: it takes the function when it is loaded. */
async function withSpelling(name: string, body: string): Promise<typeof Classify> {
  Function.prototype.toString = function (this: unknown): string {
    const text = spelt.call(this);
    return text.replace(BUILT_IN, (_, head: string) => `${head}${body}`);
  };
  try {
    return (await import(`./classify.js?spelt=${name}`)) as typeof Classify;
  } finally {
    Function.prototype.toString = spelt;
  }
}

class Bracketed {
  readonly text = '{ [native code] }';
}

for (const [engine, body] of Object.entries({
  V8: '{ [native code] }',
  SpiderMonkey: '{\n    [native code]\n}',
  JavaScriptCore: '{\n    [native code]\n}',
})) {
  test(`what is built in counts as the runtime's as ${engine} spells it, and a class of the program's does not`, async () => {
    const { Classifier, HOST, PLAIN } = await withSpelling(engine, body);
    const kindOf = (object: object): number => new Classifier().kindOf(object, Object.getPrototypeOf(object) as object);
    assert.equal(kindOf(new Intl.NumberFormat()), HOST);
    assert.equal(kindOf(new Intl.DateTimeFormat()), HOST);
    const module = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
    assert.equal(kindOf(module), HOST);
    assert.equal(kindOf(new WebAssembly.Instance(module)), HOST);
    assert.equal(kindOf(new Bracketed()), PLAIN);
    assert.equal(kindOf(Object.create({})), PLAIN);
  });
}
