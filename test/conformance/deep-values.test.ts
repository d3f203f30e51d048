// Values as deep as the packed codec goes, and deeper ones, which take the native path: the sender decides, and whatever it
// decided the reader can read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, channel } from '../../src/index.ts';
import { VALUE_DEPTH_MAX } from '../../src/limits.ts';
import { difference } from '../kit/same-clone.ts';
import { within } from '../kit/watchdog.ts';

const NESTS: Record<string, (inner: unknown, i: number) => object> = {
  'a list with bigint ids': (next, i) => ({ id: BigInt(i), next }),
  arrays: (inner) => [inner],
  'arrays with named properties': (inner, i) => Object.assign([inner], { index: i }),
  maps: (inner) => new Map([['inner', inner]]),
};

for (const [name, nest] of Object.entries(NESTS)) {
  test(`${name} at and around ${VALUE_DEPTH_MAX} levels arrive through a port`, async () => {
    const { port, remote } = channel();
    const far = attach(remote);
    for (let levels = VALUE_DEPTH_MAX - 2; levels <= VALUE_DEPTH_MAX + 2; levels++) {
      let value: unknown = Object(7n);
      for (let i = 1; i < levels; i++) value = nest(value, i);
      port.postMessage(value);
      port.postMessage({ after: levels });
      const copy = await within(`${levels} levels`, far.receiveAsync());
      assert.equal(difference(value, copy), undefined, `${levels} levels`);
      assert.deepEqual(await within('what follows', far.receiveAsync()), { after: levels });
    }
    assert.equal(far.stats().undecodable, 0);
    port.close();
    far.close();
  });
}
