// Another user's process that gets at a unix socket is let go before anything is said.
// runtimes: node
// needs: native
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect as netConnect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { connect, listen } from '../../src/process/index.ts';
import { until, within } from '../kit/watchdog.ts';

const folder = mkdtempSync(join(tmpdir(), 'millrace-user-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const NOBODY = 65_534;

/** What the listener says to somebody who says nothing, until it ends that. */
async function heard(path: string, uid: number): Promise<number> {
  // The system notes who it is as it connects.
  process.seteuid?.(uid);
  const socket = netConnect({ path });
  process.seteuid?.(0);
  let bytes = 0;
  socket.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length;
  });
  socket.on('error', () => {});
  await within('its end', new Promise((resolve) => socket.once('close', resolve)));
  return bytes;
}

// Who is not root can be nobody else.
if (process.getuid?.() === 0) {
  test('a process of another user that can open the socket is let go, and its own are served', async () => {
    const path = join(folder, 'app.sock');
    await using server = await listen(path, { timeoutMs: 2000 });
    chmodSync(folder, 0o755);
    chmodSync(path, 0o666);
    assert.equal(await heard(path, NOBODY), 0);
    // Who is let in hears that it has not greeted.
    assert.ok((await heard(path, 0)) > 0);
    const port = await connect(path);
    await until('it is there', () => server.connections === 1);
    port.close();
  });
}
