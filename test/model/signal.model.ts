// Sleeping and waking: the shipped ring with the shipped park word, waker and waits.
import type { ParkPlace } from '../../src/wait/park-place.ts';
import type { Actor, Kit, Model } from '../kit/explore.ts';
import type { Shipped } from './shipped.ts';
import {
  BELL,
  DEAD,
  laneOf,
  type NamedModel,
  names,
  PARK,
  positionsHold,
  read,
  received,
  SLEEPS,
  tryWrite,
  wordsFor,
} from './stage.ts';

type Producer = InstanceType<Shipped['Producer']>;
type Consumer = InstanceType<Shipped['Consumer']>;
type BlockingWait = InstanceType<Shipped['BlockingWait']>;

const silent = (): void => undefined;

interface End {
  readonly producer: Producer;
  readonly consumer: Consumer;
  readonly wait: BlockingWait;
}

/** Where a word is slept on. */
type Places = (shipped: Shipped, words: Int32Array, index: number) => ParkPlace;
const shared: Places = (shipped, words, index) => new shipped.SharedPlace(words, index);
/** The kernel's answers, as the addon gives them. */
const ANSWERS = { ok: 0, 'not-equal': 1, 'timed-out': 2 } as const;
/** As in memory that processes have mapped, with a kernel that sleeps for `sliceMs`. */
function futex(sliceMs = Number.POSITIVE_INFINITY): Places {
  return (shipped, words, index) => {
    const kernel = {
      wait: (_: number, at: number, expected: number, timeoutMs: number) =>
        ANSWERS[Atomics.wait(words, at, expected, sliceMs === Number.POSITIVE_INFINITY ? sliceMs : timeoutMs)],
      wake: (_: number, at: number, count: number) => Atomics.notify(words, at, count),
    };
    return shipped.futexParking(kernel as Parameters<Shipped['futexParking']>[0], { place: 0 }).place(words, index);
  };
}

/** One side of a channel of two lanes: sends on lane `side`, receives on the other, sleeps on one park word. */
function end(
  shipped: Shipped,
  kit: Kit,
  capacity: number,
  side: 0 | 1,
  { places = shared, sliceMs = Number.POSITIVE_INFINITY, slice = silent }: Sleeping = {},
): End {
  const words = kit.words();
  const other = side === 0 ? 1 : 0;
  const bell = (interest: number): InstanceType<Shipped['Waker']> =>
    new shipped.Waker(places(shipped, words, PARK[other]), interest, ringDoorbell(words));
  return {
    producer: new shipped.Producer(laneOf(kit, capacity, side), bell(shipped.DATA)),
    consumer: new shipped.Consumer(laneOf(kit, capacity, other), bell(shipped.SPACE)),
    wait: blocking(shipped, words, side, { places, sliceMs, slice }),
  };
}
/** How a thread sleeps. */
interface Sleeping {
  readonly places?: Places;
  readonly sliceMs?: number;
  readonly slice?: () => void;
}

function blocking(
  shipped: Shipped,
  words: Int32Array,
  side: 0 | 1,
  { places = shared, sliceMs = Number.POSITIVE_INFINITY, slice = silent }: Sleeping = {},
): BlockingWait {
  const place = places(shipped, words, PARK[side]);
  return new shipped.BlockingWait(place, SLEEPS[side], new shipped.Spin(0), () => sliceMs, slice);
}

/** The native port of a model: each message adds one to a word on which the listener sleeps. */
function ringDoorbell(words: Int32Array): () => void {
  return () => {
    Atomics.add(words, BELL, 1);
    Atomics.notify(words, BELL);
  };
}

/** Sends records, blocking while the ring is full. */
function sender(
  shipped: Shipped,
  capacity: number,
  lengths: readonly number[],
  extra: Partial<Actor> = {},
  places: Places = shared,
): Actor {
  return {
    name: 'writer',
    run(kit) {
      const { producer, wait } = end(shipped, kit, capacity, 0, { places });
      for (const [i, length] of lengths.entries()) {
        for (;;) {
          kit.checkpoint(i, producer);
          if (tryWrite(producer, length, i)) break;
          wait.wait(shipped.SPACE, () => producer.claimable(length) >= length, Number.POSITIVE_INFINITY);
        }
      }
      return 'sent';
    },
    ...extra,
  };
}

/** Receives `count` records, blocking while there is none. */
function receiver(
  shipped: Shipped,
  capacity: number,
  count: number,
  timeoutMs: number = Number.POSITIVE_INFINITY,
  places: Places = shared,
): Actor {
  return {
    name: 'reader',
    run(kit) {
      const { consumer, wait } = end(shipped, kit, capacity, 1, { places });
      const got: (number | string)[] = [];
      while (got.length < count) {
        kit.checkpoint(got, consumer);
        const offset = consumer.tryNext();
        if (offset !== shipped.NONE) got.push(read(consumer, offset, got.length));
        consumer.release();
        if (offset === shipped.NONE && !wait.wait(shipped.DATA, () => consumer.ready, timeoutMs)) {
          // The clock stands still but for timeouts, so a wait that ends early proves nothing else.
          if (performance.now() < timeoutMs) throw new Error('timed out too early');
          return [...got, 'timed out'];
        }
      }
      return got;
    },
  };
}

function stream(shipped: Shipped, capacity: number, lengths: readonly number[], places: Places = shared): Model {
  return {
    words: wordsFor(capacity, 2),
    names,
    counters: SLEEPS,
    invariant: positionsHold(capacity),
    actors: [
      sender(shipped, capacity, lengths, {}, places),
      receiver(shipped, capacity, lengths.length, Number.POSITIVE_INFINITY, places),
    ],
    final: received(lengths),
  };
}

/** Both sides send and receive; each sleeps for data and for space on its one park word. */
function duplex(
  shipped: Shipped,
  capacity: number,
  lengths: readonly number[],
  kills: 0 | 1 = 0,
  places: Places = shared,
): Model {
  const actor = (side: 0 | 1): Actor => ({
    name: side === 0 ? 'left' : 'right',
    killable: kills === 1 && side === 0,
    run(kit) {
      const words = kit.words();
      const { producer, consumer, wait } = end(shipped, kit, capacity, side, { places });
      const got: (number | string)[] = [];
      let sent = 0;
      const gone = (): boolean => kills === 1 && Atomics.load(words, DEAD) === 1;
      while (sent < lengths.length || got.length < lengths.length) {
        kit.checkpoint(sent, got, producer, consumer);
        const over = gone();
        let moved = false;
        if (sent < lengths.length && tryWrite(producer, lengths[sent] as number, sent)) {
          sent++;
          moved = true;
        }
        const offset = consumer.tryNext();
        if (offset !== shipped.NONE) {
          got.push(read(consumer, offset, got.length));
          consumer.release();
          moved = true;
        }
        if (moved) continue;
        if (over) return got;
        const room = lengths[sent];
        const look = (): boolean =>
          consumer.ready || (room !== undefined && producer.claimable(room) >= room) || gone();
        wait.wait(room === undefined ? shipped.DATA : shipped.ANYTHING, look, Number.POSITIVE_INFINITY);
      }
      return got;
    },
  });
  const watcher: Actor = {
    name: 'watcher',
    afterKill: 'left',
    run(kit) {
      const words = kit.words();
      Atomics.store(words, DEAD, 1);
      // Not a Waker: a thread that is killed after it has stored AWAKE and before it notifies leaves a sleeper behind
      // whose park word says that nobody sleeps.
      Atomics.store(words, PARK[1], shipped.AWAKE);
      Atomics.notify(words, PARK[1]);
    },
  };
  return {
    words: wordsFor(capacity, 2),
    names,
    counters: SLEEPS,
    kills,
    actors: kills === 1 ? [actor(0), actor(1), watcher] : [actor(0), actor(1)],
    final: (ending) => received(lengths, 'left')(ending) ?? received(lengths, 'right')(ending),
  };
}

type Sleep = 'async' | 'doorbell' | 'both bells' | 'both in turn';

/** A reader that lives on an event loop. */
function loopReader(shipped: Shipped, capacity: number, count: number, sleep: Sleep): Actor {
  return {
    name: 'reader',
    async run(kit) {
      const words = kit.words();
      const consumer = new shipped.Consumer(
        laneOf(kit, capacity),
        new shipped.Waker(new shipped.SharedPlace(words, PARK[0]), shipped.SPACE, silent),
      );
      const got: (number | string)[] = [];
      let looked: (() => void) | undefined;
      const woken = (): void => looked?.();
      const place = new shipped.SharedPlace(words, PARK[1]);
      const loop =
        sleep === 'doorbell'
          ? new shipped.DoorbellWait(place, SLEEPS[1])
          : new shipped.AsyncWait(place, SLEEPS[1], woken, sleep === 'both bells');
      const still = blocking(shipped, words, 1);
      let bells = 0;
      while (got.length < count) {
        kit.checkpoint(got, consumer, loop, bells);
        const offset = consumer.tryNext();
        if (offset !== shipped.NONE) {
          got.push(read(consumer, offset, got.length));
          consumer.release();
          continue;
        }
        const look = (): boolean => consumer.ready;
        if (sleep === 'both in turn' && got.length % 2 === 1) {
          // The event loop slept on this word just now; now the thread does, and the old wait is still in the queue.
          still.wait(shipped.DATA, look, Number.POSITIVE_INFINITY);
          continue;
        }
        if (!loop.park(shipped.DATA, look)) continue;
        if (sleep === 'both in turn' && got.length === 0) {
          // Changes its mind: takes the announcement back, then sleeps again while the first wait still stands.
          loop.unpark();
          if (!loop.park(shipped.DATA, look)) continue;
        }
        if (sleep === 'doorbell' || sleep === 'both bells') {
          // Of both bells the wake-up of the word is the one that may stay behind, for ever: this one has to do.
          for (; Atomics.load(words, BELL) === bells; ) {
            const bell = Atomics.waitAsync(words, BELL, bells);
            if (bell.async) await bell.value;
          }
          bells = Atomics.load(words, BELL);
        } else await new Promise<void>((resolve) => (looked = resolve));
        loop.unpark();
      }
      return got;
    },
  };
}

function toLoop(shipped: Shipped, lengths: readonly number[], sleep: Sleep): Model {
  const capacity = 32;
  return {
    ...stream(shipped, capacity, lengths),
    actors: [sender(shipped, capacity, lengths), loopReader(shipped, capacity, lengths.length, sleep)],
  };
}

/** Nobody rings for the death of the writer; the reader finds it between two slices of its sleep. */
function slices(shipped: Shipped, places: Places): Model {
  const lengths = [4, 8];
  return {
    ...stream(shipped, 32, lengths),
    kills: 1,
    timeoutsAreProgress: true,
    actors: [
      sender(shipped, 32, lengths, { killable: true }, places),
      {
        name: 'reader',
        run(kit) {
          const words = kit.words();
          let gone = false;
          const slice = (): void => {
            kit.checkpoint(got, consumer, gone);
            gone = Atomics.load(words, DEAD) === 1;
          };
          const { consumer, wait } = end(shipped, kit, 32, 1, { places, sliceMs: 5, slice });
          const got: (number | string)[] = [];
          while (got.length < lengths.length) {
            kit.checkpoint(got, consumer, gone, 'before');
            const over = gone;
            const offset = consumer.tryNext();
            if (offset !== shipped.NONE) got.push(read(consumer, offset, got.length));
            consumer.release();
            if (offset !== shipped.NONE) continue;
            if (over) return got;
            wait.wait(shipped.DATA, () => consumer.ready || gone, Number.POSITIVE_INFINITY);
          }
          return got;
        },
      },
      { name: 'watcher', afterKill: 'writer', run: (kit) => Atomics.store(kit.words(), DEAD, 1) },
    ],
  };
}

export const signalModels: readonly NamedModel[] = [
  {
    name: 'park: data and space',
    about: 'writer sleeps while full, reader sleeps while empty; a ring of two records',
    make: (shipped) => stream(shipped, 32, [8, 4, 0, 8, 6]),
  },
  {
    name: 'park: both interests on one word',
    about: 'two sides send and receive at once; each announces DATA and SPACE together',
    make: (shipped) => duplex(shipped, 16, [0, 0, 0]),
  },
  {
    name: 'park: a time limit',
    about: 'the reader waits 5 ms for each record, and for one too many; a timeout may fire at any moment',
    reaches: [/reader:\["timed out"/, /reader:\[4,8,"timed out"\]/],
    make: (shipped) => ({
      ...stream(shipped, 32, [4, 8]),
      timeoutsAreProgress: true,
      actors: [sender(shipped, 32, [4, 8]), receiver(shipped, 32, 3, 5)],
      final({ results }) {
        const got = results['reader'] as unknown[];
        const right = got.slice(0, -1).every((length, i) => length === [4, 8][i]);
        return right && got.at(-1) === 'timed out' ? undefined : `received ${got}`;
      },
    }),
  },
  {
    name: 'park: slices',
    about: 'nobody rings for the death of the writer; the reader finds it between two slices of its sleep',
    reaches: [/writer killed: .*reader:\[\]/, /reader:\[4,8\]/],
    make: (shipped) => slices(shipped, shared),
  },
  {
    name: 'futex: data and space',
    about: 'as in memory of processes: the kernel puts to sleep who has seen the word as it is, and wakes all',
    make: (shipped) => stream(shipped, 32, [8, 4, 0, 8, 6], futex()),
  },
  {
    name: 'futex: both interests on one word',
    about: 'two processes send and receive at once',
    make: (shipped) => duplex(shipped, 16, [0, 0, 0], 0, futex()),
  },
  {
    name: 'futex: one process is killed',
    about: 'at any step; the other one finds it between two slices of its sleep in the kernel',
    reaches: [/writer killed: .*reader:\[\]/, /reader:\[4,8\]/],
    make: (shipped) => slices(shipped, futex(5)),
  },
  {
    name: 'park: one side is killed',
    about: 'at any step, also asleep; a watcher marks the death and rings; the other side ends',
    reaches: [/left killed: .*right:\[\]/, /left killed: .*right:\[0,0\]/, /left:\[0,0\].*right:\[0,0\]/],
    make: (shipped) => duplex(shipped, 16, [0, 0], 1),
  },
  {
    name: 'park: an event loop in waitAsync',
    about: 'a blocking writer and a reader that never blocks its thread',
    make: (shipped) => toLoop(shipped, [4, 8, 0, 4], 'async'),
  },
  {
    name: 'park: an event loop behind a doorbell',
    about: 'the writer rings the native port instead of the park word',
    make: (shipped) => toLoop(shipped, [4, 8, 0, 4], 'doorbell'),
  },
  {
    name: 'park: an event loop that sleeps on its word and behind a doorbell',
    about: 'the word is rung, and its wake-up stays behind; the doorbell behind it does',
    make: (shipped) => toLoop(shipped, [4, 8, 0, 4], 'both bells'),
  },
  {
    name: 'park: event loop and blocking in turn',
    about: 'one thread sleeps both ways on one park word, and takes an announcement back in between',
    make: (shipped) => toLoop(shipped, [4, 8, 0, 4], 'both in turn'),
  },
];
