// The contenders in a page, each with a worker of its own file: `new Worker(new URL(...))` stands here literally, as bundlers want it.
import { comlink } from './kits/comlink.ts';
import { millrace } from './kits/millrace.ts';
import { nativePort, workerPost } from './kits/native.ts';
import { millraceSab, sabMessagePort } from './kits/sab-message-port.ts';
import { isStandIn, missingRival } from './rivals.ts';
import type { PageSubject } from './subject.ts';

const millraceWorker = (): Worker => new Worker(new URL('./workers/millrace.js', import.meta.url), { type: 'module' });
const sabWorker = (): Worker =>
  new Worker(new URL('./workers/sab-message-port.js', import.meta.url), { type: 'module' });
const millraceSabWorker = (): Worker =>
  new Worker(new URL('./workers/millrace-sab.js', import.meta.url), { type: 'module' });

const LOOPS = { page: 'loop/loop', workers: 'loop/loop' } as const;
const BLOCKS = { page: 'loop/block', workers: 'block/block' } as const;

/** A package and its three ways, for the rival and for our door. */
const sabWays = (
  name: string,
  label: string,
  parts: Pick<PageSubject, 'kit' | 'worker' | 'rival'>,
): readonly PageSubject[] => [
  {
    ...parts,
    name,
    label: `${label}, blocking worker`,
    use: 'SABMessagePort with its default 256 KB; the page on onmessage, the worker in read().',
    isolated: true,
    places: ['page', 'workers'],
    wait: BLOCKS,
    way: 'port',
  },
  {
    ...parts,
    name: `${name}:async`,
    label: `${label}, async both sides`,
    use: 'The same with onmessage on both sides.',
    isolated: true,
    places: ['page', 'workers'],
    wait: LOOPS,
    way: 'port',
  },
  {
    ...parts,
    name: `${name}:mw`,
    label: `${label}, MWChannel`,
    use: 'Its hybrid: shared memory towards the worker, which blocks in read(), a native port back.',
    isolated: true,
    places: ['page'],
    wait: BLOCKS,
    way: 'mw',
  },
];

export const subjects: readonly PageSubject[] = [
  {
    name: 'millrace-port:loop',
    label: 'Millrace port, event loops',
    use: 'channel() with its defaults; postMessage and on("message") on both sides; streams by receiveAsync, and tryReceive for what has come with it.',
    isolated: false,
    places: ['page', 'workers'],
    wait: LOOPS,
    way: 'port',
    kit: millrace,
    worker: millraceWorker,
  },
  {
    name: 'millrace-port:mixed',
    label: 'Millrace port, worker blocks',
    use: 'The same with the worker in receive(); between workers both block.',
    isolated: true,
    places: ['page', 'workers'],
    wait: BLOCKS,
    way: 'port',
    kit: millrace,
    worker: millraceWorker,
  },
  ...sabWays('millrace-sab', 'millrace/compat/sab-message-port', { kit: millraceSab, worker: millraceSabWorker }),
  {
    name: 'worker-post',
    label: 'worker.postMessage',
    use: "The worker's own channel.",
    isolated: false,
    places: ['page'],
    wait: LOOPS,
    way: 'native',
    kit: workerPost,
    worker: () => new Worker(new URL('./workers/worker-post.js', import.meta.url), { type: 'module' }),
  },
  {
    name: 'native-port',
    label: 'MessagePort',
    use: 'A MessageChannel, one port of which went to the worker.',
    isolated: false,
    places: ['page', 'workers'],
    wait: LOOPS,
    way: 'native',
    kit: nativePort,
    worker: () => new Worker(new URL('./workers/message-port.js', import.meta.url), { type: 'module' }),
  },
  {
    name: 'comlink',
    label: 'Comlink over MessagePort',
    use: 'One exposed function, called through the proxy and awaited.',
    isolated: false,
    places: ['page'],
    wait: LOOPS,
    way: 'native',
    rival: 'comlink',
    kit: comlink,
    worker: () => new Worker(new URL('./workers/comlink.js', import.meta.url), { type: 'module' }),
  },
  ...sabWays('sab-message-port', 'sab-message-port', {
    kit: sabMessagePort,
    worker: sabWorker,
    rival: 'sab-message-port',
  }),
];

export function subjectNamed(name: string): PageSubject {
  const found = subjects.find((subject) => subject.name === name);
  if (found) return found;
  throw new RangeError(`no contender is called ${name}; there are ${subjects.map((one) => one.name).join(', ')}`);
}

/** Why it cannot take part in this page, or undefined when it can. Loads what it needs. */
export async function whyAbsent({ isolated, rival }: PageSubject): Promise<string | undefined> {
  if (isolated && !globalThis.crossOriginIsolated) return 'it needs shared memory, and this page is not isolated';
  return rival && missingRival(rival);
}

/** Its label in this page: a stand-in says that it is one. */
export async function labelOf({ label, rival }: PageSubject): Promise<string> {
  return rival !== undefined && (await isStandIn(rival)) ? label.replace(/^[^,]+/, '$& (stand-in)') : label;
}
