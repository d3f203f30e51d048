// The thread behind a contender. It takes orders over a control port of its own, so that parentPort stays free for
// the contenders that are the worker's own channel.
import { type MessagePort, workerData } from 'node:worker_threads';
import type { BenchOptions } from './contest.ts';
import { consume, echo } from './drivers.ts';
import { digest, type Load, type LoadSpec, makeLoad, type Tally } from './loads.ts';
import type { End, Progress, Wait } from './subject.ts';
import { threadSubject } from './subjects/list.ts';

export type Order =
  | {
      do: 'open';
      id: number;
      subject: string;
      wait: Wait;
      spec: LoadSpec;
      data: unknown;
      options: BenchOptions;
      idle: boolean;
    }
  | { do: 'receive' | 'echo'; id: number; count: number; deep: boolean }
  | { do: 'close'; id: number };

export type Reply =
  | { re: 'hello' | 'opened' | 'ready' | 'closed'; id: number }
  | { re: 'done'; id: number; tally: Tally }
  | { re: 'failed'; id: number; message: string };

interface Open {
  readonly end: End;
  readonly wait: Wait;
  readonly load: Load;
}

const { control, progress } = workerData as { control: MessagePort; progress: Progress };
const channels = new Map<number, Open>();
const loads = new Map<string, Load>();

control.on('message', (order: Order) => {
  obey(order).catch((error: unknown) => {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    tell({ re: 'failed', id: order.id, message });
  });
});

async function obey(order: Order): Promise<void> {
  if (order.do === 'open') {
    const key = JSON.stringify(order.spec);
    const load = loads.get(key) ?? makeLoad(order.spec);
    loads.set(key, load);
    const subject = await threadSubject(order.subject);
    const { data, wait, options } = order;
    const end = await subject.attach({ data, wait, load, options });
    if (order.idle) end.listen?.(() => {});
    channels.set(order.id, { end, wait, load });
    tell({ re: 'opened', id: order.id });
    return;
  }
  const channel = channels.get(order.id)!;
  if (order.do === 'close') {
    await channel.end.close();
    channels.delete(order.id);
    tell({ re: 'closed', id: order.id });
    return;
  }
  const load = order.deep ? { ...channel.load, weigh: digest } : channel.load;
  const blocks = channel.wait !== 'loop/loop';
  tell({ re: 'ready', id: order.id });
  const tally =
    order.do === 'receive'
      ? await consume(channel.end, load, order.count, progress)
      : await echo(channel.end, load, order.count, blocks);
  tell({ re: 'done', id: order.id, tally });
}

function tell(reply: Reply): void {
  control.postMessage(reply);
}

tell({ re: 'hello', id: 0 });
