// Benchmarks measure what an importer gets.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { doorNames, doorUrl, openDoor, targetOf } from './doors.ts';

/** The runtime's own answer, for a file of the package that names the package; Deno knows no such thing. */
const resolve = process.versions['deno'] ? undefined : (name: string) => import.meta.resolve(name);

for (const name of doorNames) {
  test(`the door millrace${name.slice(1)} is found where the runtime finds it, and opens`, async () => {
    if (resolve) assert.equal(doorUrl(name), resolve(`millrace${name.slice(1)}`));
    assert.ok(Object.keys(await openDoor<object>(name)).length > 0);
  });
}

test('the first target whose conditions hold counts, however deep', () => {
  const target = { node: { import: './a.js' }, bun: './a.js', deno: './a.js', default: './b.js' };
  assert.equal(targetOf({ types: './no.d.ts', browser: './no.js', worker: null, ...target }), './a.js');
  assert.equal(targetOf({ node: { require: './no.cjs' }, default: './b.js' }), './b.js');
  assert.equal(targetOf({ types: './no.d.ts' }), undefined);
  assert.throws(() => doorUrl('./nowhere'), /exports no \.\/nowhere/);
});
