// A worker process of scenario article-2016: C streams, each sends a request and waits for its answer before the next.
// Orders come over the IPC channel; contenders that use that channel as well leave out what carries `ctl`.
import type { Link, Note } from './process-subject.ts';
import { processSubject } from './subjects/process-list.ts';

export type ChildOrder =
  | { ctl: 'join'; subject: string; address: unknown; index: number }
  | { ctl: 'run'; ms: number; streams: number; payload: number }
  | { ctl: 'end' };

export type ChildReply =
  | { ctl: 'joined' | 'ready' }
  | { ctl: 'done'; count: number; seconds: number; right: boolean; cpuUs: number }
  | { ctl: 'failed'; message: string };

let link: Link | undefined;
let onAnswer: (note: Note) => void = () => {};

process.on('message', (message: unknown) => {
  const order = message as ChildOrder;
  if (order?.ctl === undefined) return;
  obey(order).catch((error: unknown) => {
    tell({ ctl: 'failed', message: error instanceof Error ? error.message : String(error) });
  });
});
process.on('disconnect', () => process.exit(0));
tell({ ctl: 'ready' });

async function obey(order: ChildOrder): Promise<void> {
  if (order.ctl === 'join') {
    const subject = await processSubject(order.subject);
    link = await subject.join(order.address, order.index, (note) => onAnswer(note));
    tell({ ctl: 'joined' });
  } else if (order.ctl === 'run') tell(await run(link!, order));
  else {
    await link?.close();
    process.exit(0);
  }
}

function run(to: Link, { ms, streams, payload }: ChildOrder & { ctl: 'run' }): Promise<ChildReply> {
  const text = 'x'.repeat(payload);
  const before = process.cpuUsage();
  const start = performance.now();
  let count = 0;
  let open = streams;
  let right = true;
  return new Promise((resolve) => {
    onAnswer = (note) => {
      count++;
      right &&= note.payload.length === payload;
      const now = performance.now();
      if (now - start < ms) {
        to.send({ id: note.id + streams, payload: text });
        return;
      }
      // Each stream's ids go up by `streams`: the last one tells how many that stream must have made.
      if (--open > 0) return;
      const used = process.cpuUsage(before);
      resolve({ ctl: 'done', count, seconds: (now - start) / 1000, right, cpuUs: used.user + used.system });
    };
    for (let i = 0; i < streams; i++) to.send({ id: i, payload: text });
  });
}

function tell(reply: ChildReply): void {
  process.send!(reply);
}
