// Ours: the port, with each way of waiting. Everything as it comes out of the box, but for the size of the ring where
// a thousand channels are opened at once.
import type { Remote } from '../../src/index.ts';
import { doorUrl, openDoor } from '../doors.ts';
import { blocking, onLoop } from '../ends/millrace.ts';
import type { Load } from '../loads.ts';
import type { ConnectContext, Connection, Life, Opener, ThreadSubject, Wait } from '../subject.ts';

const { attach, channel } = await openDoor<typeof import('../../src/index.ts')>('.');

/** With many channels each gets the smallest ring, as one would choose it. */
const SMALL_RING = 1024;

function connect({ ports = 1, load, wait }: ConnectContext): Connection {
  const { port, remote } = channel(ports > 10 ? { capacityBytes: SMALL_RING } : ringFor(load));
  return { end: wait === 'block/block' ? blocking(port) : onLoop(port), data: remote, transfer: remote.transfer };
}

/** Large messages flow through any ring in parts; a ring that holds a few whole ones spares them that. */
function ringFor(load: Load): { capacityBytes?: number } {
  return load.sizeBytes <= 64 << 10 ? {} : { capacityBytes: load.sizeBytes * 4 };
}

function life(): Life {
  const source = `import { attach } from ${JSON.stringify(doorUrl('.'))};
import { parentPort, workerData } from 'node:worker_threads';
const port = attach(workerData);
parentPort.postMessage(port.receive().id);
port.close();
`;
  const open: Life['open'] = () => {
    const { port, remote } = channel();
    return {
      workerOptions: { workerData: remote, transferList: remote.transfer },
      write: (_worker, message) => port.postMessage(message),
      close: () => port.close(),
    };
  };
  return { source, open };
}

const opener: Opener = {
  open: () => {
    const { port, remote } = channel();
    return { near: port, data: remote, transfer: remote.transfer };
  },
  attach: (data) => attach(data as Remote),
};

function subject(name: string, label: string, use: string, wait: Wait): ThreadSubject {
  return {
    name,
    label,
    use,
    forms: ['bytes', 'string', 'object'],
    waits: [wait],
    perChannel: true,
    imports: () => [doorUrl('.')],
    life,
    opener: () => opener,
    connect,
    attach: ({ data }) => {
      const port = attach(data);
      return wait === 'loop/loop' ? onLoop(port) : blocking(port);
    },
  };
}

/** A thread that has a bell is woken by it for those that have one, too: the workers of other contenders have none. */
function byBell(loop: ThreadSubject): ThreadSubject {
  const door = (): Promise<typeof import('../../src/process/index.ts')> => openDoor('./process');
  const wake = async (): Promise<void> => {
    const way = (await door()).wakeByBell();
    if (way.name !== 'bell') throw new Error(`event loops cannot be woken by bells: ${way.why}`);
  };
  return {
    ...loop,
    onlyIn: ['round-trip', 'after-rest'],
    absent: async () => {
      const { runtime, processWay } = (await door()).features();
      if (runtime !== 'node') return { reason: 'only Node watches bells', remedy: 'run it under Node' };
      if (processWay.name === 'memory') return undefined;
      return { reason: `no addon: ${processWay.why}`, remedy: 'npm run native' };
    },
    connect: async (context) => {
      await wake();
      return connect(context);
    },
    attach: async (context) => {
      await wake();
      return loop.attach(context);
    },
  };
}

export const subjects: readonly ThreadSubject[] = [
  byBell(
    subject(
      'millrace-port:bell',
      'Millrace port, event loops woken by bells',
      'As with event loops, and wakeByBell() in both threads.',
      'loop/loop',
    ),
  ),
  subject(
    'millrace-port:block',
    'Millrace port, both block',
    'send and receiveMany on both threads, which never return to their event loops; streams are corked by 64 messages.',
    'block/block',
  ),
  subject(
    'millrace-port:mixed',
    'Millrace port, worker blocks',
    'The main thread on its event loop (trySend, await drained(), on("message")), the worker in receive; streams are corked by 64 messages.',
    'loop/block',
  ),
  subject(
    'millrace-port:loop',
    'Millrace port, event loops',
    'postMessage and on("message") on both sides, as one would use a MessagePort; streams are corked by 64 messages.',
    'loop/loop',
  ),
];
