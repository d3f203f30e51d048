// Programs for pool.test.ts: they end by themselves behind their last task, though their pools have members, which stay.
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { pool, within } from '../../src/rpc/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import type { MemberApi } from './pool-member.ts';

const start = (): Worker => new Worker(inOneFile(new URL('./pool-member.js', import.meta.url)));

if (process.argv[2] === 'told') {
  // A handler that throws is told as any uncaught error is, and the pool goes on.
  process.on('uncaughtException', (error) => console.log('uncaught:', error.message));
  const { api } = pool<MemberApi>(start, {
    size: 1,
    onCrash: ({ reason }) => {
      throw new TypeError(`of the handler, behind ${reason}`);
    },
  });
  await api.exit().catch((error: { reason: string }) => console.log('rejected:', error.reason));
  console.log('done', await api.same(1));
} else if (process.argv[2] === 'drain') {
  // Nobody waits for the task any more, which runs until its grace is over; only for that it has ended.
  const waits = pool<MemberApi>(start, { size: 1, graceMs: 300 });
  const words = new Int32Array(new SharedArrayBuffer(16));
  await waits.api.same(1);
  const late = await within(waits.api, { timeoutMs: 50 })
    .compute(words)
    .catch(({ code }: { code: string }) => code);
  await waits.drain();
  console.log('done', late, waits.stats().pending);
} else {
  const { api } = pool<MemberApi>(start, { size: 2, min: 1 });
  // One waits until its member has begun, others for that.
  const all = await Promise.all([api.echo(1), api.echo(1), api.echo(1)]);
  // Behind a call's answer its stream holds the process, as long as somebody waits for more.
  let read = 0;
  for await (const _ of await api.slowly(3)) read++;
  console.log('done', all.length, read);
}
