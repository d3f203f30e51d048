// Seed 000. Used through its documented names only, the same for the original and for the stand-in.
import type { BenchOptions } from '../contest.ts';
import type { Load, Tally } from '../loads.ts';
import type { End, ThreadSubject, Wait } from '../subject.ts';
import { loadOriginal, missingOriginal } from './originals.ts';

interface SabPort {
  postMessage(value: unknown): Promise<void> | undefined;
  read(timeout?: number, blocking?: boolean, maxMessages?: number): unknown;
  asyncRead(timeout?: number, maxMessages?: number): Promise<unknown>;
  onmessage: ((event: { data: unknown }) => void) | null;
  postInit(target: null, extra?: object): [data: { port?: unknown }, transfer: unknown[]];
  close(): void;
}

interface Package {
  SABMessagePort: { new (side?: string, sizeKB?: number): SabPort; from(init: unknown): SabPort };
  MWChannel: { new (side: string, sizeKB?: number): SabPort; from(init: unknown): SabPort };
}

/** Messages handed over before the sender waits for the port: its batching is what makes it fast. */
const BATCH = 256;

/** The stand-in has the original's shape under names of its own. */
interface StandIn {
  readonly StandInMessagePort: Package['SABMessagePort'];
  readonly StandInChannel: Package['MWChannel'];
}

async function load(options: BenchOptions): Promise<Package> {
  const found = await loadOriginal<Package | StandIn>(options.sabMessagePort, 'sab-message-port');
  if ('SABMessagePort' in found) return found;
  return { SABMessagePort: found.StandInMessagePort, MWChannel: found.StandInChannel };
}

async function sendBatches(port: SabPort, load: Load, count: number, from: number): Promise<void> {
  const { items, mask } = load;
  for (let i = 0; i < count; ) {
    const end = Math.min(count, i + BATCH);
    let last: Promise<void> | undefined;
    for (; i < end; i++) last = port.postMessage(items[(from + i) & mask]);
    await last;
  }
}

function readBlocking(port: SabPort, load: Load, count: number): Tally {
  let sum = 0;
  for (let seen = 0; seen < count; ) {
    const batch = port.read(Number.POSITIVE_INFINITY, true, BATCH) as unknown[];
    // Newest first, as documented: popping gives the order of sending.
    for (let value = batch.pop(); value !== undefined; value = batch.pop(), seen++) sum = (sum + load.weigh(value)) | 0;
  }
  return { count, sum };
}

async function readAsync(port: SabPort, load: Load, count: number): Promise<Tally> {
  let sum = 0;
  for (let seen = 0; seen < count; ) {
    const batch = (await port.asyncRead(Number.POSITIVE_INFINITY, BATCH)) as unknown[];
    for (let value = batch.pop(); value !== undefined; value = batch.pop(), seen++) sum = (sum + load.weigh(value)) | 0;
  }
  return { count, sum };
}

function wrap(port: SabPort, blocks: boolean): End {
  const end: End = {
    post: (value) => {
      port.postMessage(value);
    },
    send: (load, count, _progress, from) => sendBatches(port, load, count, from),
    receive: (load, count) => (blocks ? readBlocking(port, load, count) : readAsync(port, load, count)),
    close: () => port.close(),
  };
  if (blocks) end.read = () => port.read();
  else
    end.listen = (handler) => {
      port.onmessage = handler && ((event) => handler(event.data));
    };
  return end;
}

function subject(name: string, label: string, use: string, wait: Wait, hybrid: boolean): ThreadSubject {
  return {
    name,
    label,
    use,
    forms: hybrid ? [] : ['object', 'string'],
    waits: [wait],
    perChannel: !hybrid,
    absent: async (options) => missingOriginal(options.sabMessagePort, 'sab-message-port', '--sab-message-port'),
    standIn: (options) => options.sabMessagePort === undefined,
    connect: async ({ options }) => {
      const { SABMessagePort, MWChannel } = await load(options);
      const port = hybrid ? new MWChannel('m') : new SABMessagePort('a');
      const [data, transfer] = port.postInit(null);
      // A SharedArrayBuffer is shared by being cloned; Node refuses it in a transfer list.
      const moved = transfer.filter((part) => !(part instanceof SharedArrayBuffer));
      return { end: wrap(port, false), data, transfer: moved };
    },
    attach: async ({ data, options }) => {
      const { SABMessagePort, MWChannel } = await load(options);
      return wrap(hybrid ? MWChannel.from(data) : SABMessagePort.from(data), wait !== 'loop/loop');
    },
  };
}

export const subjects: readonly ThreadSubject[] = [
  subject(
    'sab-message-port',
    'sab-message-port, blocking worker',
    'SABMessagePort with its default 256 KB; the worker sits in read(), streams go out 256 postMessage calls at a time, of which the last is awaited, and come in by read(Infinity, true, 256): the batching that its documentation recommends.',
    'loop/block',
    false,
  ),
  subject(
    'sab-message-port:async',
    'sab-message-port, async both sides',
    'The same with asyncRead in the worker for streams and onmessage on both sides for round trips.',
    'loop/loop',
    false,
  ),
  subject(
    'sab-message-port:mw',
    'sab-message-port, MWChannel',
    'Its hybrid: shared memory towards the worker, which blocks in read(), a native port back.',
    'loop/block',
    true,
  ),
];
