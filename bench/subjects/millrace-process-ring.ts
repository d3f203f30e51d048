// Ours, the ring alone between two processes: bytes in place, no port, no codec. What the port's convenience costs is the distance to it.
import { isClone } from '../home.ts';
import type { Load } from '../loads.ts';
import type { Hub, Link, Note, ProcessSubject, StreamHome } from '../process-subject.ts';
import type { End, Missing } from '../subject.ts';
import { door, receiveBytes, sendBytes } from './millrace-ring.ts';

/** Of each direction. */
const CAPACITY_MIN = 1 << 20;
const SPIN_US = 50;

// Modules that only a clone has: loaded when it is known to be one.
const meeting = () => import('./ring-meeting.ts');
const loops = () => import('./ring-loop.ts');

async function missing(): Promise<Missing | undefined> {
  if (!isClone)
    return { reason: 'it is made of modules that the package does not have', remedy: 'run it from a clone' };
  const reason = (await meeting()).withoutRing();
  return reason === undefined ? undefined : { reason, remedy: 'npm run native' };
}

function serve(spinMicroseconds: number): () => Promise<Hub> {
  return async () => {
    const { RingMeeting } = await meeting();
    const { RingEnd, RingLoop } = await loops();
    const master = new RingMeeting();
    const loop = new RingLoop(spinMicroseconds);
    let last: Promise<unknown> = Promise.resolve();
    return {
      address: master.name,
      adopt: () => {
        last = last.then(async () => {
          const side = await master.take(() => loop.heard());
          loop.add(new RingEnd(side, (note, end) => end.send(note)));
        });
        // The worker does not join then, and that is told.
        last.catch(() => {});
      },
      close: () => {
        loop.close();
        master.close();
      },
    };
  };
}

function join(spinMicroseconds: number): ProcessSubject['join'] {
  return async (address, _index, onAnswer: (note: Note) => void): Promise<Link> => {
    const { meetRing } = await meeting();
    const { RingEnd, RingLoop } = await loops();
    const loop = new RingLoop(spinMicroseconds);
    const end = new RingEnd(await meetRing(address as string, CAPACITY_MIN, () => loop.heard()), onAnswer);
    loop.add(end);
    return { send: (note) => end.send(note), close: () => loop.close() };
  };
}

const capacityFor = (load: Load): number => Math.max(CAPACITY_MIN, load.sizeBytes * 4);

async function serveStream(): Promise<StreamHome> {
  const { RingMeeting } = await meeting();
  const master = new RingMeeting();
  let taken: Promise<End> | undefined;
  return {
    address: master.name,
    adopt: () => {
      taken = master
        .take(() => {})
        .then((side) => {
          const producer = new door.Producer(side.region.lanes[side.out]);
          return {
            send: (load, count, _progress, from) => sendBytes(producer, side.region.views.blocks, load, count, from),
            close: () => side.close(),
          };
        });
      taken.catch(() => {});
    },
    end: () => taken!,
    close: () => master.close(),
  };
}

async function joinStream(address: unknown, load: Load): Promise<End> {
  const { meetRing } = await meeting();
  const side = await meetRing(address as string, capacityFor(load), () => {});
  const consumer = new door.Consumer(side.region.lanes[side.in]);
  return { receive: (read, count) => receiveBytes(consumer, read, count), close: () => side.close() };
}

export const subjects: readonly ProcessSubject[] = [
  {
    name: 'millrace-process-ring',
    label: 'the ring of millrace alone',
    use: 'No port and no codec: a record holds a number and the text as latin1, written in place and read into a string, published one by one; event loops look again for 50 microseconds before they sleep. In streams what millrace-ring is between threads, by the same code: bytes in place, published by 16 KiB, both spin.',
    absent: missing,
    serve: serve(SPIN_US),
    join: join(SPIN_US),
    stream: { forms: ['bytes'], wait: 'block/block', serve: serveStream, join: joinStream },
  },
  {
    name: 'millrace-process-ring:parked',
    label: 'the ring of millrace alone, parked',
    use: 'The same without looking again: each sleeps in its event loop until it is rung.',
    absent: missing,
    serve: serve(0),
    join: join(0),
  },
];
