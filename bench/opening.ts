// The worker of scenario `open`: opens the other ends that it is given, and says when it has a batch of them.
import { parentPort, workerData } from 'node:worker_threads';
import type { BenchOptions } from './contest.ts';
import type { Closable } from './subject.ts';
import { threadSubject } from './subjects/list.ts';

/** The other end of one channel, or the number of them that are to be open by now, or the word to close them. */
export type OpeningOrder = { readonly data: unknown } | { readonly answerAt: number } | 'close';

const { subject, options } = workerData as { subject: string; options: BenchOptions };
const opener = await (await threadSubject(subject)).opener!(options);
let open: Closable[] = [];

parentPort!.on('message', (order: OpeningOrder) => {
  if (order === 'close') {
    for (const end of open) end.close();
    open = [];
    parentPort!.postMessage(0);
  } else if ('data' in order) open.push(opener.attach(order.data));
  else parentPort!.postMessage(open.length === order.answerAt ? order.answerAt : -1);
});
parentPort!.postMessage(0);
