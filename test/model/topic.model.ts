// The ring of a topic: readers that copy while the writer goes on, and ask afterwards whether they were overtaken. Plain accesses to the data
// area are steps of their own here (`overtaken`), so that a copy may be half of one message and half of another; the endings say that
// nobody ever took such a one for a message.
import type { Actor, Ending, Kit, Model } from '../kit/explore.ts';
import type { Shipped } from './shipped.ts';
import type { NamedModel } from './stage.ts';

const SEAT_0 = 80;
const DATA = SEAT_0 + 16;
const CLOSED = 32;
const SIGNAL = 49;
const WRITER_PARK = 64;
const WRITER_PARKS = 65;
/** How many messages the writer knows to be published; that the writer was found dead. Words that the layout leaves free. */
const SENT = 70;
const DEAD = 71;
const END = 'the end';
/** The bell of a reader in another process. */
const BELL = 72;

const names = {
  16: 'INTENT',
  17: 'TAIL',
  18: 'NEWEST',
  [CLOSED]: 'CLOSED',
  48: 'PARK',
  [SIGNAL]: 'SIGNAL',
  [WRITER_PARK]: 'WRITER_PARK',
  [SENT]: 'SENT',
  [DEAD]: 'DEAD',
  [SEAT_0]: 'HOLDER',
  [SEAT_0 + 1]: 'CURSOR',
};

interface Plan {
  readonly count: number;
  /** Bytes of payload of message `i`. */
  readonly lengths: (i: number) => number;
  readonly capacity: number;
  readonly seats?: number;
}
/** Four records fill the ring. */
const FOUR: Plan = { count: 6, lengths: (i) => 4 * (1 + (i % 2)), capacity: 128 };
/** Five records, and a pad of 32 bytes behind them. */
const PADDED: Plan = { count: 6, lengths: (i) => (i === 3 ? 4 : 20), capacity: 256 };

const TWO: Plan = { ...FOUR, count: 2 };
const ONE: Plan = { ...FOUR, count: 1 };
/** One message, and behind the ring the word of an event loop in another process. */
const FAR: Plan = { ...ONE, seats: 1 };
const SLEEPS = DATA + FAR.capacity / 4;
/** What is written over is of another length. */
const SEATED: Plan = { count: 5, lengths: (i) => (i < 4 ? 4 : 8), capacity: 128, seats: 1 };
/** The fifth goes over all of the first, and the header of the second. */
const LONGER: Plan = { ...SEATED, lengths: (i) => (i < 4 ? 4 : 20) };

type Producer = InstanceType<Shipped['TopicProducer']>;
type Consumer = InstanceType<Shipped['TopicConsumer']>;

function laneOf(kit: Kit, { capacity, seats = 0 }: Plan) {
  const words = kit.words();
  const blocks = { copyOut: () => undefined };
  return { words, blocks, data: DATA * 4, capacity, messageMax: capacity / 4, seats };
}

function producerOf(
  shipped: Shipped,
  kit: Kit,
  plan: Plan,
): { producer: Producer; seats: InstanceType<Shipped['Seats']> } {
  const lane = laneOf(kit, plan);
  const seats = new shipped.Seats(lane);
  return { producer: new shipped.TopicProducer(lane, seats), seats };
}

function bellOf(shipped: Shipped, kit: Kit): InstanceType<Shipped['TopicBell']> {
  return new shipped.TopicBell(kit.words(), new shipped.SharedPlace(kit.words(), SIGNAL));
}

/** Message `i`; `granted` waits where a reader holds the writer. */
function publish(
  shipped: Shipped,
  kit: Kit,
  producer: Producer,
  plan: Plan,
  i: number,
  granted: (attempt: () => number) => number = (attempt) => attempt(),
): void {
  const length = plan.lengths(i);
  if (producer.stretch < length) granted(() => producer.tryPad());
  const offset = granted(() => producer.tryClaim(length));
  if (offset === shipped.HELD) throw new Error('held by nobody');
  const words = kit.words();
  for (let word = 0; word < length / 4; word++) words[(offset >>> 2) + word] = 1000 * (i + 1) + word;
  producer.commit(length);
}

interface Reading {
  readonly consumer: Consumer;
  /** The next message's number; undefined; or what is wrong with it. */
  take(): number | string | undefined;
}

function reading(shipped: Shipped, kit: Kit, plan: Plan, newestOnly = false): Reading {
  const into = new Int32Array(8);
  const target = { words: into, bytes: new Uint8Array(into.buffer) };
  const consumer = new shipped.TopicConsumer(laneOf(kit, plan), () => target, new Int32Array(1), newestOnly);
  return {
    consumer,
    take() {
      const length = consumer.take();
      if (length < 0) return undefined;
      const i = Math.floor((into[0] as number) / 1000) - 1;
      for (let word = 0; word < length / 4; word++) {
        if (into[word] !== 1000 * (i + 1) + word) return `word ${word} of message ${i} is ${into[word]}`;
      }
      return length === plan.lengths(i) ? i : `message ${i} has ${length} bytes`;
    },
  };
}

/** What was read is whole and in order, and with what was missed it is everything from its first on. */
function accounted(story: unknown, missed: number, last: number | undefined): string | undefined {
  const got = (story as readonly (number | string)[]).filter((each) => each !== END);
  for (const [i, value] of got.entries()) {
    if (typeof value !== 'number') return value;
    if (i > 0 && value <= (got[i - 1] as number)) return `read ${got}`;
  }
  if (last !== undefined && got.at(-1) !== last) return `read ${got}, and ${last} was the last`;
  if (got.length === 0) return undefined;
  const between = (got.at(-1) as number) - (got[0] as number) + 1 - got.length;
  // What was missed before the first one counts, too, and only the reader knows where it began.
  return missed < between ? `read ${got}, and told of ${missed} missed` : undefined;
}

function told(who: string, last?: number): (ending: Ending) => string | undefined {
  return ({ results }) => {
    const result = results[who] as { readonly got: readonly unknown[]; readonly missed: number } | undefined;
    return result === undefined ? undefined : accounted(result.got, result.missed, last);
  };
}

function writer(shipped: Shipped, plan: Plan, ring = false): Actor {
  return {
    name: 'writer',
    run(kit) {
      const { producer } = producerOf(shipped, kit, plan);
      const bell = bellOf(shipped, kit);
      for (let i = 0; i < plan.count; i++) {
        kit.checkpoint(i, producer);
        publish(shipped, kit, producer, plan, i);
        if (ring) bell.ring();
        else Atomics.store(kit.words(), SENT, i + 1);
      }
      return 'published';
    },
  };
}

interface Manner {
  readonly start?: 'latest' | 'next' | 'oldest';
  readonly newestOnly?: boolean;
  /** Looks no further than what was published when it looked first. */
  readonly once?: boolean;
}

/** Reads until it has the last message, or the writer is dead. */
function reader(
  shipped: Shipped,
  plan: Plan,
  { start = 'latest', newestOnly = false, once = false }: Manner = {},
): Actor {
  return {
    name: 'reader',
    run(kit) {
      const sent = Atomics.load(kit.words(), SENT);
      const { consumer, take } = reading(shipped, kit, plan, newestOnly);
      consumer.join(start);
      const got: (number | string)[] = [];
      for (;;) {
        kit.checkpoint(sent, got, consumer);
        const dead = Atomics.load(kit.words(), DEAD) === 1;
        const found = take();
        if (found !== undefined) got.push(found);
        if (typeof found === 'string' || (got.at(-2) ?? -1) >= (got.at(-1) ?? 0)) break;
        if (got.length === 1 && start === 'latest' && (found as number) < sent - 1) got.push(`${sent} were sent`);
        if (once && found !== undefined) break;
        if (got.at(-1) === plan.count - 1 || (dead && found === undefined)) break;
      }
      return { got, missed: consumer.missed, sent };
    },
  };
}

function ring(plan: Plan, actors: readonly Actor[], rest: Partial<Model> = {}): Model {
  return { words: DATA + plan.capacity / 4, names, overtaken: (word) => word >= DATA, actors, ...rest };
}

function alone(shipped: Shipped, plan: Plan, manner: Manner = {}): Model {
  return ring(plan, [writer(shipped, plan), reader(shipped, plan, manner)], {
    final: told('reader', manner.once ? undefined : plan.count - 1),
  });
}

/** Sleeps as a reader does, with its thread; reads so many messages, or up to the end. */
function blocked(shipped: Shipped, plan: Plan, name: string, until = Number.POSITIVE_INFINITY): Actor {
  return {
    name,
    run(kit) {
      const words = kit.words();
      const { consumer, take } = reading(shipped, kit, plan);
      consumer.join('oldest');
      const place = new shipped.SharedPlace(words, SIGNAL);
      const ended = (): boolean => Atomics.load(words, CLOSED) !== 0;
      const got: (number | string)[] = [];
      for (;;) {
        kit.checkpoint(got, consumer);
        if (got.length === until) return { got, missed: consumer.missed };
        const over = ended();
        const found = take();
        if (found !== undefined) got.push(found);
        else if (over) return { got: [...got, END], missed: consumer.missed };
        else {
          const look = (): boolean => consumer.ready || ended();
          shipped.sleepBlocked(place, new shipped.Spin(0), look, 1 / 0, 1 / 0, () => undefined);
        }
      }
    },
  };
}

/** The same with its event loop. */
function onLoop(shipped: Shipped, plan: Plan, name: string): Actor {
  return {
    name,
    async run(kit) {
      const words = kit.words();
      const { consumer, take } = reading(shipped, kit, plan);
      consumer.join('oldest');
      const ended = (): boolean => Atomics.load(words, CLOSED) !== 0;
      const got: (number | string)[] = [];
      await new Promise<void>((resolve) => {
        const sleep = new shipped.LoopSleep(new shipped.SharedPlace(words, SIGNAL), () => serve());
        const serve = (): void => {
          for (;;) {
            const over = ended();
            const found = take();
            if (found !== undefined) got.push(found);
            else if (over) break;
            else if (sleep.park(() => consumer.ready || ended())) return;
          }
          resolve();
        };
        serve();
      });
      return { got: [...got, END], missed: consumer.missed };
    },
  };
}

/** Publishes, rings, and says that it ends. */
function closing(shipped: Shipped, plan: Plan): Actor {
  return {
    name: 'writer',
    run(kit) {
      const { producer } = producerOf(shipped, kit, plan);
      const bell = bellOf(shipped, kit);
      for (let i = 0; i < plan.count; i++) {
        kit.checkpoint(i, producer);
        publish(shipped, kit, producer, plan, i);
        bell.ring();
      }
      kit.checkpoint('over');
      new shipped.TopicEnd(kit.words(), bell, true).tell('closed');
      return 'closed';
    },
  };
}

/** The same, with a thread that wakes in its place. That thread's words are the first four, which the ring looks at no more. */
function knocking(shipped: Shipped, plan: Plan): Actor {
  return {
    name: 'writer',
    run(kit) {
      const words = kit.words();
      const { producer } = producerOf(shipped, kit, plan);
      const waker = new shipped.WakerThread(new shipped.SharedPlace(words, SIGNAL), words);
      const bell = new shipped.TopicBell(words, waker);
      for (let i = 0; i < plan.count; i++) {
        kit.checkpoint(i, producer);
        publish(shipped, kit, producer, plan, i);
        bell.ring();
      }
      kit.checkpoint('over');
      waker.close();
      new shipped.TopicEnd(words, bell, true).tell('closed');
      return 'closed';
    },
  };
}
function waking(shipped: Shipped): Actor {
  return {
    name: 'waker',
    run(kit) {
      shipped.obeyKnocks(kit.words(), () => Atomics.notify(kit.words(), SIGNAL));
      return 'over';
    },
  };
}

/** The same, with a reader whose event loop has a bell. */
function ringing(shipped: Shipped, plan: Plan): Actor {
  return {
    name: 'writer',
    run(kit) {
      const words = kit.words();
      const { producer } = producerOf(shipped, kit, plan);
      const { capacity, seats = 0 } = plan;
      const piece = { parking: { place: () => new shipped.SharedPlace(words, SIGNAL) } } as never;
      const readers = new shipped.ProcessReaders({ words, capacity, seats } as never, piece, () => undefined);
      const ring = (): void => {
        Atomics.add(words, BELL, 1);
        Atomics.notify(words, BELL);
      };
      readers.share({ ring, bell: () => -1, gone: false, close: () => undefined });
      const bell = new shipped.TopicBell(words, readers.place(words, SIGNAL));
      for (let i = 0; i < plan.count; i++) {
        kit.checkpoint(i, producer);
        publish(shipped, kit, producer, plan, i);
        bell.ring();
      }
      kit.checkpoint('over');
      new shipped.TopicEnd(words, bell, true).tell('closed');
      return 'closed';
    },
  };
}
/** An event loop in another process. */
function behindBell(shipped: Shipped, plan: Plan, name: string): Actor {
  return {
    name,
    async run(kit) {
      const words = kit.words();
      const { consumer, take } = reading(shipped, kit, plan);
      consumer.join('oldest');
      const ended = (): boolean => Atomics.load(words, CLOSED) !== 0;
      const got: (number | string)[] = [];
      let done = false;
      const place = new shipped.LoopPlace(new shipped.SharedPlace(words, SIGNAL), SLEEPS);
      const sleep = new shipped.LoopSleep(place, () => serve());
      const serve = (): void => {
        for (;;) {
          const over = ended();
          const found = take();
          if (found !== undefined) got.push(found);
          else if (over) break;
          else if (sleep.park(() => consumer.ready || ended())) return;
        }
        done = true;
      };
      serve();
      for (let heard = 0; !done; ) {
        const bell = Atomics.waitAsync(words, BELL, heard);
        if (bell.async) await bell.value;
        // A bell is emptied before anybody is told that it rang.
        heard = Atomics.load(words, BELL);
        place.rung();
      }
      return { got: [...got, END], missed: consumer.missed };
    },
  };
}

/** Every reader that lives tells all messages, and then the end. */
function allTell(count: number, ...who: string[]): (ending: Ending) => string | undefined {
  const whole = JSON.stringify([...Array.from({ length: count }, (_, i) => i), END]);
  return ({ results }) => {
    for (const each of who) {
      const story = JSON.stringify((results[each] as { got: unknown } | undefined)?.got);
      if (story !== undefined && story !== whole) return `${each} tells ${story}`;
    }
    return undefined;
  };
}

const HANDLE = 7;

/** Publishes to a reader that holds it: waits as long as it must, and at `patience` goes on without. */
function patient(shipped: Shipped, plan: Plan, patience: number): Actor {
  return {
    name: 'writer',
    run(kit) {
      const words = kit.words();
      const { producer } = producerOf(shipped, kit, plan);
      const spin = new shipped.Spin(0);
      const place = new shipped.SharedPlace(words, WRITER_PARK);
      const wait = new shipped.BlockingWait(
        place,
        WRITER_PARKS,
        spin,
        () => 1 / 0,
        () => undefined,
      );
      const bell = bellOf(shipped, kit);
      for (let i = 0; i < plan.count; i++) {
        kit.checkpoint(i, producer);
        publish(shipped, kit, producer, plan, i, (attempt) => {
          let granted = attempt();
          const look = (): boolean => (granted === shipped.HELD ? (granted = attempt()) : granted) !== shipped.HELD;
          while (!wait.wait(shipped.SPACE, look, patience)) producer.evict(plan.lengths(i));
          return granted;
        });
        bell.ring();
      }
      return 'published';
    },
  };
}

function holding(shipped: Shipped, plan: Plan, messages: number, start: 'latest' | 'oldest' = 'latest'): Actor {
  return {
    name: 'reader',
    run(kit) {
      const words = kit.words();
      const { consumer, take } = reading(shipped, kit, plan);
      const waker = new shipped.Waker(new shipped.SharedPlace(words, WRITER_PARK), shipped.SPACE, () => undefined);
      const seat = shipped.Seat.take(laneOf(kit, plan), HANDLE, () => waker.ring());
      consumer.join(start, seat);
      const place = new shipped.SharedPlace(words, SIGNAL);
      const got: (number | string)[] = [];
      while (got.length < messages && got.at(-1) !== plan.count - 1) {
        kit.checkpoint(got, consumer, seat);
        const found = take();
        if (typeof found === 'string') return { got: [...got, found], missed: 0 };
        if (found !== undefined) got.push(found);
        else
          shipped.sleepBlocked(
            place,
            new shipped.Spin(0),
            () => consumer.ready,
            1 / 0,
            1 / 0,
            () => undefined,
          );
      }
      consumer.leave();
      return { got, missed: consumer.missed };
    },
  };
}

/** What was read has no gap, wherever it began. */
function withoutGap({ results }: Ending): string | undefined {
  const { got, missed } = (results['reader'] ?? { got: [], missed: 0 }) as {
    got: readonly (number | string)[];
    missed: number;
  };
  return missed === 0 && got.every((value, i) => typeof value === 'number' && value === (got[0] as number) + i)
    ? undefined
    : `the reader tells ${got}`;
}

export const topicModels: readonly NamedModel[] = [
  {
    name: 'topic: overtaken',
    about:
      'six messages in a ring of four: a reader that is overtaken anywhere in its copy gets whole ones, and knows how many it missed',
    reaches: [/got:\[0,1,2,3,4,5\],missed:0/, /got:\[0,5\],missed:4/, /got:\[5\],missed:0/, /got:\[0,1,5\],missed:3/],
    make: (shipped) => alone(shipped, FOUR),
  },
  {
    name: 'topic: pads',
    about: 'records of two sizes, and what does not fit at the end of the ring',
    reaches: [/got:\[0,1,2,3,4,5\],missed:0/, /got:\[0,5\],missed:4/],
    make: (shipped) => alone(shipped, PADDED),
  },
  {
    name: 'topic: a late joiner gets the latest',
    about: 'whenever it joins: the newest of those that it could know of, or a newer one',
    reaches: [/got:\[0\]/, /got:\[3\]/, /got:\[5\]/],
    make: (shipped) => alone(shipped, FOUR, { once: true }),
  },
  {
    name: 'topic: joining at the oldest',
    about: 'whenever it joins: what still stands, in order',
    reaches: [/got:\[0,1,2,3,4,5\],missed:0/, /got:\[3,4,5\],missed:0/],
    make: (shipped) => alone(shipped, FOUR, { start: 'oldest' }),
  },
  {
    name: 'topic: the newest alone',
    about: 'a reader that wants no other',
    reaches: [/got:\[5\]/, /got:\[0,5\],missed:4/, /got:\[1,3,5\],missed:2/],
    make: (shipped) => alone(shipped, FOUR, { newestOnly: true }),
  },
  {
    name: 'topic: the writer is killed',
    about: 'at any step: nothing half written is read, and who joins then still gets what was published last',
    reaches: [/writer killed: .*got:\[\],missed:0,sent:0/, /writer killed: .*got:\[3\],missed:0,sent:4/],
    make: (shipped) =>
      ring(
        FOUR,
        [
          { ...writer(shipped, FOUR), killable: true },
          reader(shipped, FOUR),
          { name: 'watcher', afterKill: 'writer', run: (kit) => Atomics.store(kit.words(), DEAD, 1) },
        ],
        {
          kills: 1,
          final({ results, look }) {
            const { got, missed, sent } = results['reader'] as { got: readonly number[]; missed: number; sent: number };
            const wrong = accounted(got, missed, undefined);
            if (wrong !== undefined) return wrong;
            const known = look(SENT);
            return (got.at(-1) ?? -1) >= known - 1
              ? undefined
              : `${known} were sent, ${sent} at the start, read ${got}`;
          },
        },
      ),
  },
  {
    name: 'topic: a reader asleep',
    about: 'each message wakes it, and nothing else does',
    make: (shipped) =>
      ring(TWO, [writer(shipped, TWO, true), blocked(shipped, TWO, 'one', 2)], { final: told('one', 1) }),
  },
  {
    name: 'topic: two readers asleep',
    about: 'blocked: each is woken for each message, and for the end',
    make(shipped) {
      const plan = ONE;
      return ring(plan, [closing(shipped, plan), blocked(shipped, plan, 'one'), blocked(shipped, plan, 'two')], {
        final: allTell(1, 'one', 'two'),
      });
    },
  },
  {
    name: 'topic: asleep in every way',
    about: 'one reader blocked, one with its event loop',
    make(shipped) {
      const plan = ONE;
      return ring(plan, [closing(shipped, plan), blocked(shipped, plan, 'one'), onLoop(shipped, plan, 'two')], {
        final: allTell(1, 'one', 'two'),
      });
    },
  },
  {
    name: 'topic: a thread wakes for the writer',
    about:
      'it may begin late: one reader blocked, one with its event loop, each woken for each message and for the end',
    make: (shipped) =>
      ring(ONE, [knocking(shipped, ONE), waking(shipped), blocked(shipped, ONE, 'one')], { final: allTell(1, 'one') }),
  },
  {
    name: 'topic: the bell of another process',
    about: 'an event loop that has a word behind the ring: woken for each message, and for the end',
    make: (shipped) =>
      ring(FAR, [ringing(shipped, FAR), behindBell(shipped, FAR, 'one')], {
        words: SLEEPS + 1,
        overtaken: (word) => word >= DATA && word < SLEEPS,
        final: allTell(1, 'one'),
      }),
  },
  {
    name: 'topic: a reader is killed',
    about: 'at any step, asleep or not: the other one hears of everything',
    make(shipped) {
      const plan = ONE;
      return ring(
        plan,
        [closing(shipped, plan), { ...blocked(shipped, plan, 'one'), killable: true }, blocked(shipped, plan, 'two')],
        { kills: 1, final: allTell(1, 'two') },
      );
    },
  },
  {
    name: 'topic: the writer is killed, and readers sleep',
    about: 'at any step: who learns of it tells all, and all get what was published',
    reaches: [/writer killed: .*got:\["the end"\]/, /writer killed: .*got:\[0,1,"the end"\]/],
    make(shipped) {
      const plan = TWO;
      return ring(
        plan,
        [
          { ...closing(shipped, plan), killable: true },
          blocked(shipped, plan, 'one'),
          {
            name: 'watcher',
            afterKill: 'writer',
            run: (kit) => new shipped.TopicEnd(kit.words(), bellOf(shipped, kit), true).tell('terminated'),
          },
        ],
        {
          kills: 1,
          final({ results, look }) {
            const got = (results['one'] as { got: readonly unknown[] }).got;
            const right = got.at(-1) === END && got.slice(0, -1).every((value, i) => value === i);
            return right && (look(CLOSED) !== 1 || got.length === 3) ? undefined : `one tells ${got}`;
          },
        },
      );
    },
  },
  {
    name: 'topic: a reliable reader',
    about: 'it joins at any time, and misses nothing from there on; the writer waits for it',
    reaches: [/got:\[0,1,2,3,4\]/, /got:\[4\]/],
    make(shipped) {
      const plan = SEATED;
      return ring(plan, [patient(shipped, plan, 1 / 0), holding(shipped, plan, 9)], { final: withoutGap });
    },
  },
  {
    name: 'topic: a reliable reader sits down',
    about: 'where the next record is about to go: either it sees that, or the writer sees it',
    make: (shipped) =>
      ring(LONGER, [patient(shipped, LONGER, 1 / 0), holding(shipped, LONGER, 1, 'oldest')], { final: withoutGap }),
  },
  {
    name: 'topic: a reliable reader leaves',
    about: 'after one message: the writer does not wait any more',
    make(shipped) {
      const plan = { ...SEATED, count: 6 };
      return ring(plan, [patient(shipped, plan, 1 / 0), holding(shipped, plan, 1)], { final: withoutGap });
    },
  },
  {
    name: 'topic: a reliable reader is killed',
    about: 'at any step: who learns of it frees the seat, and the writer goes on',
    make(shipped) {
      const plan = SEATED;
      return ring(
        plan,
        [
          patient(shipped, plan, 1 / 0),
          { ...holding(shipped, plan, 9), killable: true },
          {
            name: 'watcher',
            afterKill: 'reader',
            run(kit) {
              new shipped.Seats(laneOf(kit, plan)).free(HANDLE);
              // What the slices of its sleep are for: the writer itself looks.
              Atomics.store(kit.words(), WRITER_PARK, 0);
              Atomics.notify(kit.words(), WRITER_PARK);
            },
          },
        ],
        { kills: 1, final: ({ results }) => (results['writer'] === 'published' ? undefined : 'the writer waits') },
      );
    },
  },
  {
    name: 'topic: patience at its end',
    about: 'whenever that is: the reader is skipped, and reads nothing that was written over meanwhile',
    reaches: [/got:\[0,1,2,3,4\],missed:0/, /got:\[0,4\],missed:3/],
    make(shipped) {
      const plan = SEATED;
      return {
        ...ring(plan, [patient(shipped, plan, 5), holding(shipped, plan, 9)], {
          final: told('reader', plan.count - 1),
        }),
        timeouts: 1,
        timeoutsAreProgress: true,
      };
    },
  },
];
