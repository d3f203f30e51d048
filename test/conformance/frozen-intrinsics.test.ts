// runtimes: node
// The library under `node --frozen-intrinsics`, in a process of its own: the flag cannot be undone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { test } from 'node:test';

const program = `
  import assert from 'node:assert/strict';
  import { attach, channel } from ${JSON.stringify(new URL('../../src/index.js', import.meta.url).href)};
  assert.ok(Object.isFrozen(Error));
  const { port, remote } = channel();
  const far = attach(remote);
  const sent = new RangeError('out', { cause: new TypeError('inner') });
  for (let i = 0; i < 3; i++) {
    port.postMessage({ sent, toString: 'a key', list: [1, , 'x'], map: new Map([[1, new Date(5)]]), bytes: new Uint8Array(3) });
    const copy = far.receive();
    assert.ok(copy.sent instanceof RangeError && copy.sent.cause instanceof TypeError);
    assert.equal(copy.sent.message, 'out');
    assert.equal(copy.sent.stack, sent.stack);
    assert.equal(copy.toString, 'a key');
    assert.deepEqual(copy.map.get(1), new Date(5));
  }
  assert.equal(far.stats().undecodable, 0);
  port.close();
  far.close();
  console.log('fine');
`;

test('errors and everything else arrive with frozen intrinsics', () => {
  const flags = ['--frozen-intrinsics', '--input-type=module', '--eval', program];
  const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
  assert.equal(stdout.trim(), 'fine', stderr);
});
