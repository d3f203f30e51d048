// An address on a file system that has no room: one more file system is made for it, which root may do where nothing forbids it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { connect, listen } from '../../src/process/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'millrace-full-'));
const OWN_FOLDER_ONLY = 'nr_inodes=1';
const mounted =
  process.getuid?.() === 0 &&
  spawnSync('mount', ['-t', 'tmpfs', '-o', OWN_FOLDER_ONLY, 'none', folder], { stdio: 'ignore' }).status === 0;
after(() => {
  if (mounted) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true, force: true });
});

if (mounted) {
  test('on a full disk nobody can listen, is told so, and leaves nothing', async () => {
    const path = join(folder, 'app.sock');
    await assert.rejects(listen(path), {
      name: 'AddressError',
      code: 'ERR_LISTEN',
      message: `Cannot listen at unix:${path}: its file system is full (ENOSPC)`,
    });
    assert.deepEqual(readdirSync(folder), []);
    await assert.rejects(connect(path), { code: 'ERR_UNREACHABLE' });
  });
}
