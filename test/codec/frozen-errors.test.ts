// Errors arrive where nobody may change how many frames a stack trace has: frozen intrinsics, a locked-down realm.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random, seed } from '../kit/prng.ts';
import { difference } from '../kit/same-clone.ts';
import { Link } from './link.ts';

const value = (): unknown => ({
  error: new RangeError('out', { cause: new TypeError('inner') }),
  list: [new Error(), new SyntaxError('s')],
});

const REFUSALS: Record<string, PropertyDescriptor> = {
  'is not writable': { value: 10, writable: false },
  'has a getter alone': { get: () => 10 },
  'has a setter that throws': {
    get: () => 10,
    set: () => {
      throw new TypeError('locked down');
    },
  },
};

for (const [name, refusal] of Object.entries(REFUSALS)) {
  test(`errors arrive where Error.stackTraceLimit ${name}`, () => {
    const link = new Link(new Random(seed));
    const sent = value();
    const before = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit') as PropertyDescriptor;
    let copy: unknown;
    Object.defineProperty(Error, 'stackTraceLimit', { ...refusal, configurable: true });
    try {
      copy = link.trip(sent);
    } finally {
      Object.defineProperty(Error, 'stackTraceLimit', before);
    }
    assert.equal(difference(sent, copy), undefined);
  });
}

test('reading errors leaves Error.stackTraceLimit as it was', () => {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 7;
  try {
    new Link(new Random(seed)).trip(value());
    assert.equal(Error.stackTraceLimit, 7);
  } finally {
    Error.stackTraceLimit = before;
  }
});
