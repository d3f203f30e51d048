// Named properties of arrays: which of them travel is a rule (docs/guarantees.md, G7), not a matter of what went before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, channel } from '../../src/index.ts';

const named = (): unknown[] => Object.assign(['x'], { name: 'n' });

test('by default: on match results, and on no other array, the first as the hundredth', () => {
  const { port, remote } = channel();
  const far = attach(remote);
  for (let i = 0; i < 100; i++) {
    port.postMessage({ list: named(), match: /(?<word>b+)/d.exec('abbc') });
    const { list, match } = far.receive() as { list: object; match: RegExpExecArray };
    assert.deepEqual(Object.keys(list), ['0'], `message ${i}`);
    assert.equal(match.index, 1);
    assert.equal(match.input, 'abbc');
    assert.equal(match.groups?.['word'], 'bb');
    assert.deepEqual(match.indices?.groups?.['word'], [1, 3]);
  }
  port.close();
  far.close();
});

test("arrayProperties: 'always': on every array, the first as the hundredth", () => {
  const { port, remote } = channel({ arrayProperties: 'always' });
  const far = attach(remote, { arrayProperties: 'always' });
  for (let i = 0; i < 100; i++) {
    for (const [from, to] of [
      [port, far],
      [far, port],
    ] as const) {
      from.postMessage({ list: i % 20 === 0 ? named() : ['x'] });
      const { list } = to.receive() as { list: object };
      assert.deepEqual(Object.keys(list), i % 20 === 0 ? ['0', 'name'] : ['0'], `message ${i}`);
    }
  }
  port.close();
  far.close();
});

test('there are no other values of the option', () => {
  for (const arrayProperties of ['learned', 'never', true]) {
    assert.throws(() => channel({ arrayProperties: arrayProperties as never }), { code: 'ERR_OPTION' });
  }
});
