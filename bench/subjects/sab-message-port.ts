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

type Loader = (options: BenchOptions) => Promise<Package>;

const original: Loader = async (options) => {
  const found = await loadOriginal<Package | StandIn>(options.sabMessagePort, 'sab-message-port');
  if ('SABMessagePort' in found) return found;
  return { SABMessagePort: found.StandInMessagePort, MWChannel: found.StandInChannel };
};

const compat: Loader = () => import('../../src/compat/sab-message-port.ts') as unknown as Promise<Package>;

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

type Kind = 'blocking' | 'async' | 'hybrid';

const WAITS: Readonly<Record<Kind, Wait>> = { blocking: 'loop/block', async: 'loop/loop', hybrid: 'loop/block' };

function subject(kind: Kind, parts: Pick<ThreadSubject, 'name' | 'label' | 'use'>, load: Loader): ThreadSubject {
  const hybrid = kind === 'hybrid';
  const ours = load === compat;
  const wait = WAITS[kind];
  return {
    ...parts,
    forms: hybrid ? [] : ['object', 'string'],
    waits: [wait],
    perChannel: !hybrid,
    ...(kind === 'async' && { quickIn: ['smp-', 'round-trip', 'many-ports'] }),
    ...(ours && { onlyIn: ['smp-'] }),
    absent: async (options) =>
      ours ? undefined : missingOriginal(options.sabMessagePort, 'sab-message-port', '--sab-message-port'),
    standIn: (options) => !ours && options.sabMessagePort === undefined,
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
      return wrap(hybrid ? MWChannel.from(data) : SABMessagePort.from(data), kind !== 'async');
    },
  };
}

export const subjects: readonly ThreadSubject[] = [
  subject(
    'blocking',
    {
      name: 'sab-message-port',
      label: 'sab-message-port, blocking worker',
      use: 'SABMessagePort with its default 256 KB; the worker sits in read(), streams go out 256 postMessage calls at a time, of which the last is awaited, and come in by read(Infinity, true, 256): the batching that its documentation recommends.',
    },
    original,
  ),
  subject(
    'async',
    {
      name: 'sab-message-port:async',
      label: 'sab-message-port, async both sides',
      use: 'The same with asyncRead in the worker for streams and onmessage on both sides for round trips.',
    },
    original,
  ),
  subject(
    'hybrid',
    {
      name: 'sab-message-port:mw',
      label: 'sab-message-port, MWChannel',
      use: 'Its hybrid: shared memory towards the worker, which blocks in read(), a native port back.',
    },
    original,
  ),
  subject(
    'blocking',
    {
      name: 'millrace-sab',
      label: 'millrace/compat/sab-message-port, blocking worker',
      use: 'The code of sab-message-port, blocking worker, with one import changed: our channel behind its names.',
    },
    compat,
  ),
  subject(
    'async',
    {
      name: 'millrace-sab:async',
      label: 'millrace/compat/sab-message-port, async both sides',
      use: 'Likewise for async both sides.',
    },
    compat,
  ),
  subject(
    'hybrid',
    {
      name: 'millrace-sab:mw',
      label: 'millrace/compat/sab-message-port, MWChannel',
      use: 'Likewise for MWChannel.',
    },
    compat,
  ),
];
