// A live log: an async generator of a worker's, read with for await. It could write a million lines a second, and its reader takes one in a while: it is ahead of it by the
// window that the reader gives, and no further. Who has read enough leaves the loop, and the generator ends over there.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { start } from '../src/rpc/index.ts';
import { green, heading, isProgram, say } from './screen.ts';
import type { Logger } from './workers/logger.ts';

const WINDOW = 8;

export async function liveLog(): Promise<void> {
  heading('A live log, and a slow reader');

  const { api, port } = await start<Logger>(new URL('./workers/logger.js', import.meta.url), { window: WINDOW });
  let read = 0;
  let ahead = 0;
  for await (const { line } of api.follow('info')) {
    assert.equal(line, ++read);
    await wait(5);
    const { written } = await api.state();
    ahead = Math.max(ahead, written - read);
    if (read === 20) break;
  }
  assert.ok(ahead <= WINDOW, `it was ${ahead} lines ahead`);
  say(`${green('ok')}  ${read} lines read, one in 5 ms; who writes them was ${ahead} ahead at the most`);

  while (!(await api.state()).ended);
  say(`${green('ok')}  the loop was left, and the generator has ended over there`);
  port.close();
}

if (isProgram(import.meta.url)) await liveLog();
