// Seed 000. Used through its documented names only, the same for the original and for the stand-in.
import type { BenchOptions } from '../contest.ts';
import { doorUrl, openDoor } from '../doors.ts';
import { moved, type Package, packageOf, type StandIn, wrap } from '../ends/sab-message-port.ts';
import type { Life, Opener, ThreadSubject, Wait } from '../subject.ts';
import { loadOriginal, missingOriginal, originalUrl } from './originals.ts';

/** With many channels each gets a small buffer, as one would choose it: 2 KB a direction. */
const SMALL_KB = 4;

type Loader = (options: BenchOptions) => Promise<Package>;

const original: Loader = async (options) => {
  return packageOf(await loadOriginal<Package | StandIn>(options.sabMessagePort, 'sab-message-port'));
};

const compat: Loader = () => openDoor<Package>('./compat/sab-message-port');

type Kind = 'blocking' | 'async' | 'hybrid';

const WAITS: Readonly<Record<Kind, Wait>> = { blocking: 'loop/block', async: 'loop/loop', hybrid: 'loop/block' };

function urlOf(ours: boolean, options: BenchOptions): string {
  return ours ? doorUrl('./compat/sab-message-port') : originalUrl(options.sabMessagePort, 'sab-message-port');
}

async function lifeOf(url: string, load: Loader, options: BenchOptions): Promise<Life> {
  const { SABMessagePort } = await load(options);
  const source = `import * as made from ${JSON.stringify(url)};
import { parentPort, workerData } from 'node:worker_threads';
const port = (made.SABMessagePort ?? made.StandInMessagePort).from(workerData);
parentPort.postMessage(port.read().id);
port.close();
`;
  const open: Life['open'] = () => {
    const port = new SABMessagePort('a');
    const [workerData, transfer] = port.postInit(null);
    return {
      workerOptions: { workerData, transferList: moved(transfer) },
      write: (_worker, message) => void port.postMessage(message),
      close: () => port.close(),
    };
  };
  return { source, open };
}

async function openerOf(load: Loader, options: BenchOptions): Promise<Opener> {
  const { SABMessagePort } = await load(options);
  return {
    open: () => {
      const near = new SABMessagePort('a');
      const [data, transfer] = near.postInit(null);
      return { near, data, transfer: moved(transfer) };
    },
    attach: (data) => SABMessagePort.from(data),
  };
}

/** Our doors are in the rival's own tables, and where the cost of opening and waking is the question. */
const OURS_IN: readonly string[] = [
  'smp-',
  'startup',
  'workers-50',
  'open',
  'many-ports',
  'after-rest',
  'first-thousand',
];
const ASYNC_QUICK: readonly string[] = ['smp-', 'round-trip', 'many-ports', 'after-rest', 'first-thousand'];

function subject(kind: Kind, parts: Pick<ThreadSubject, 'name' | 'label' | 'use'>, load: Loader): ThreadSubject {
  const hybrid = kind === 'hybrid';
  const ours = load === compat;
  const wait = WAITS[kind];
  return {
    ...parts,
    forms: hybrid ? [] : ['object', 'string'],
    waits: [wait],
    perChannel: !hybrid,
    ...(kind === 'async' && { quickIn: ASYNC_QUICK }),
    ...(ours && { onlyIn: OURS_IN }),
    absent: async (options) =>
      ours ? undefined : missingOriginal(options.sabMessagePort, 'sab-message-port', '--sab-message-port'),
    imports: (options) => [urlOf(ours, options)],
    life: (options) => lifeOf(urlOf(ours, options), load, options),
    opener: (options) => openerOf(load, options),
    standIn: (options) => !ours && options.sabMessagePort === undefined,
    connect: async ({ options, ports = 1 }) => {
      const { SABMessagePort, MWChannel } = await load(options);
      const port = hybrid ? new MWChannel('m') : new SABMessagePort('a', ports > 10 ? SMALL_KB : undefined);
      const [data, transfer] = port.postInit(null);
      return { end: wrap(port, false), data, transfer: moved(transfer) };
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
