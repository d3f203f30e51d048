import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import process from 'node:process';
import { test } from 'node:test';
import { DeviceRandom, webRandom } from './random.ts';

/** More than are drawn at once. */
function assertRandom(words: (count: number) => Uint32Array): void {
  const names = new Set<string>();
  for (let i = 0; i < 200; i++) names.add(words(4).join());
  assert.equal(names.size, 200);
  for (const name of names) assert.equal(name.split(',').length, 4);
}

test('numbers are new each time', () => {
  assertRandom(webRandom);
  const random = new DeviceRandom(fs);
  assertRandom((count) => random.words(count));
});

const wrong: Record<string, Partial<typeof fs>> = {
  'there is no device': {
    openSync: () => {
      throw new Error('ENOENT');
    },
  },
  'a plain file has its name': { openSync: () => fs.openSync(process.execPath, 'r') },
  'it gives less than was asked for': { readSync: () => 4 },
};
for (const [what, how] of Object.entries(wrong)) {
  test(`numbers are new each time also where ${what}, and no file stays open`, () => {
    const open = new Set<number>();
    const files = { ...fs, ...how };
    const counted = {
      ...files,
      openSync: (name: string, flags: string) => {
        const file = files.openSync(name, flags);
        open.add(file);
        return file;
      },
      closeSync: (file: number) => {
        open.delete(file);
        fs.closeSync(file);
      },
    };
    const random = new DeviceRandom(counted as typeof fs);
    assertRandom((count) => random.words(count));
    assert.equal(open.size, 0);
  });
}
