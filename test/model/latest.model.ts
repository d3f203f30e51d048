// The triple buffer of overflow `latest`: the slots alone, with sleeping threads, and under two ports. The explorer finds any
// byte that one side writes while the other may read it; the endings say that what was read was the newest.
import type { Actor, Ending, Kit, Model } from '../kit/explore.ts';
import type { Shipped } from './shipped.ts';
import { DEAD, laneOf, type NamedModel, names, PARK, SLEEPS, wordsFor } from './stage.ts';
import { aside, blocking, type End, type Manner, message, onLoop, SENT_BY_LEFT, threads } from './thread-stage.ts';

/** Room for three slots of 48 bytes of payload. */
const CAPACITY = 256;
const LATEST = 32;
/** How many messages the writer knows to be published. */
const SENT = 78;
const KIND = 64;

const places = { ...names, [LATEST]: 'LATEST', [SENT]: 'SENT' };

type Producer = InstanceType<Shipped['LatestProducer']>;
type Consumer = InstanceType<Shipped['LatestConsumer']>;

/** Publishes message number `i`: so many words, each different. */
function publish(kit: Kit, producer: Producer, i: number): void {
  const words = kit.words();
  const { offset } = producer;
  const count = 1 + (i % 2);
  for (let word = 0; word < count; word++) words[(offset >>> 2) + word] = 1000 * (i + 1) + word;
  producer.publish(4 * count, KIND + i, i);
}

/** Takes what is there: the number of a whole message, undefined, or what is wrong with it. */
function take(kit: Kit, consumer: Consumer, shipped: Shipped): number | string | undefined {
  const offset = consumer.peek();
  if (offset === shipped.NONE) {
    consumer.release();
    return undefined;
  }
  const i = consumer.kind - KIND;
  const { length } = consumer;
  const words = kit.words();
  for (let word = 0; word < length / 4; word++) {
    const found = words[(offset >>> 2) + word];
    if (found !== 1000 * (i + 1) + word) return `word ${word} of message ${i} is ${found}`;
  }
  consumer.advance();
  consumer.release();
  return length === 4 * (1 + (i % 2)) ? i : `message ${i} has ${length} bytes`;
}

/** What was read is whole, in order, each once, and ends with `newest`. */
function newestOf(got: unknown, newest: number | undefined): string | undefined {
  const values = got as readonly (number | string)[] | undefined;
  if (values === undefined) return 'no result';
  const rising = values.every(
    (value, i) => typeof value === 'number' && (i === 0 || value > (values[i - 1] as number)),
  );
  if (!rising) return `read ${values}`;
  return newest === undefined || values.at(-1) === newest ? undefined : `read ${values}, and ${newest} was the newest`;
}

interface Plan {
  readonly count: number;
  /** Says after each message how many there are; the reader must then find that one or a newer one. */
  readonly told?: boolean;
}

function writer(shipped: Shipped, { count, told = false }: Plan): Actor {
  return {
    name: 'writer',
    run(kit) {
      const producer = new shipped.LatestProducer(laneOf(kit, CAPACITY));
      for (let i = 0; i < count; i++) {
        kit.checkpoint(i, producer);
        publish(kit, producer, i);
        if (told) Atomics.store(kit.words(), SENT, i + 1);
      }
      return 'sent';
    },
  };
}

function reader(shipped: Shipped, { count, told = false }: Plan, dies = false): Actor {
  return {
    name: 'reader',
    run(kit) {
      const consumer = new shipped.LatestConsumer(laneOf(kit, CAPACITY));
      const got: (number | string)[] = [];
      for (;;) {
        kit.checkpoint(got, consumer);
        const sent = told ? Atomics.load(kit.words(), SENT) : 0;
        const over = dies && Atomics.load(kit.words(), DEAD) === 1;
        const found = take(kit, consumer, shipped);
        if (found !== undefined) got.push(found);
        if (typeof found === 'string') return got;
        if (sent > 0 && ((got.at(-1) as number | undefined) ?? -1) < sent - 1) return [...got, `${sent} were sent`];
        if (got.at(-1) === count - 1 || (over && found === undefined)) return got;
      }
    },
  };
}

function slots(shipped: Shipped, plan: Plan): Model {
  return {
    words: wordsFor(CAPACITY),
    names: places,
    actors: [writer(shipped, plan), reader(shipped, plan)],
    final: ({ results }) => newestOf(results['reader'], plan.count - 1),
  };
}

/** Writer and reader sleep: the reader for the newest, the writer until it was taken. */
function sleeping(shipped: Shipped, count: number): Model {
  const silent = (): void => undefined;
  const parts = (kit: Kit, side: 0 | 1) => {
    const words = kit.words();
    const place = (of: 0 | 1) => new shipped.SharedPlace(words, PARK[of]);
    const wait = new shipped.BlockingWait(place(side), SLEEPS[side], new shipped.Spin(0), () => 1 / 0, silent);
    const bell = new shipped.Waker(place(side === 0 ? 1 : 0), side === 0 ? shipped.DATA : shipped.SPACE, silent);
    return { wait, bell };
  };
  return {
    words: wordsFor(CAPACITY),
    names: places,
    counters: SLEEPS,
    actors: [
      {
        name: 'writer',
        run(kit) {
          const { wait, bell } = parts(kit, 0);
          const producer = new shipped.LatestProducer(laneOf(kit, CAPACITY), bell);
          for (let i = 0; i < count; i++) {
            kit.checkpoint(i, producer);
            publish(kit, producer, i);
          }
          kit.checkpoint('taken', producer);
          wait.wait(shipped.SPACE, () => !producer.pending, 1 / 0);
          return 'taken';
        },
      },
      {
        name: 'reader',
        run(kit) {
          const { wait, bell } = parts(kit, 1);
          const consumer = new shipped.LatestConsumer(laneOf(kit, CAPACITY), bell);
          const got: (number | string)[] = [];
          while (got.at(-1) !== count - 1) {
            kit.checkpoint(got, consumer);
            const found = take(kit, consumer, shipped);
            if (found === undefined) wait.wait(shipped.DATA, () => consumer.ready, 1 / 0);
            else got.push(found);
          }
          return got;
        },
      },
    ],
    final: ({ results }) => newestOf(results['reader'], count - 1),
  };
}

const LATEST_MANNER: Manner = { overflow: 'latest', capacity: CAPACITY };
const READING_MANNER: Manner = { capacity: CAPACITY };
const SMALL = [1, 2, 3].map((id) => message(id, id === 2 ? 8 : 4));

/** The story ends with the newest message and then with one of `ends`; before it come some of the others, in order. */
function samples(who: string, sent: readonly number[], ...ends: string[]): (ending: Ending) => string | undefined {
  return ({ results }) => {
    const story = results[who] as readonly unknown[];
    const places = story.slice(0, -1).map((value) => sent.indexOf(value as number));
    const rising = places.every((at, i) => at > (i === 0 ? -1 : (places[i - 1] as number)));
    const right = rising && places.at(-1) === sent.length - 1 && ends.includes(story.at(-1) as string);
    return right ? undefined : `${who} tells ${story}`;
  };
}

function ports(shipped: Shipped, left: (end: End) => void, right: (end: End) => void, final: Model['final']): Model {
  return threads(
    [blocking(shipped, 0, left, LATEST_MANNER), blocking(shipped, 1, right, READING_MANNER)],
    final as NonNullable<Model['final']>,
  );
}

export const latestModels: readonly NamedModel[] = [
  {
    name: 'latest: slots',
    about: 'five messages of two lengths are replaced in place; the reader sees some whole, in order, and the newest',
    reaches: [/reader:\[4\]/, /reader:\[0,1,2,3,4\]/, /reader:\[1,3,4\]/],
    make: (shipped) => slots(shipped, { count: 5 }),
  },
  {
    name: 'latest: never stale',
    about: 'a reader that looks after a message is known to be published finds that one or a newer one',
    make: (shipped) => slots(shipped, { count: 4, told: true }),
  },
  {
    name: 'latest: the writer is killed',
    about: 'at any step: what was published last stays, nothing half written is seen',
    reaches: [/writer killed: .*reader:\[\]/, /writer killed: .*reader:\[2\]/, /writer killed: .*reader:\[0,1\]/],
    make(shipped) {
      const plan: Plan = { count: 4, told: true };
      return {
        ...slots(shipped, plan),
        kills: 1,
        actors: [
          { ...writer(shipped, plan), killable: true },
          reader(shipped, plan, true),
          { name: 'watcher', afterKill: 'writer', run: (kit) => Atomics.store(kit.words(), DEAD, 1) },
        ],
        final: ({ results, look }) => {
          const sent = look(SENT);
          const got = results['reader'] as readonly number[];
          const wrong = newestOf(got, undefined);
          return wrong ?? ((got.at(-1) ?? -1) >= sent - 1 ? undefined : `${sent} were sent, read ${got}`);
        },
      };
    },
  },
  {
    name: 'latest: both sleep',
    about: 'the reader for the newest message, the writer until that was taken',
    make: (shipped) => sleeping(shipped, 3),
  },
  {
    name: 'latest: through ports, and the end',
    about: 'three messages are posted and the port closed; the newest is read, once, then the end',
    reaches: [/right:\[3004,"closed"\]/, /right:\[1004,2008,3004,"closed"\]/],
    make: (shipped) =>
      ports(
        shipped,
        (end) => {
          end.post(...SMALL);
          end.close();
        },
        (end) => end.receive(),
        samples('right', SMALL, 'closed'),
      ),
  },
  {
    name: 'latest: beside the slots',
    about: 'values that only the native clone carries are replaced like the others, and let go',
    reaches: [/right:\[3004,"closed"\]/, /right:\[1008004/],
    make(shipped) {
      const values = [aside(8), aside(9), message(3, 4)];
      return ports(
        shipped,
        (end) => {
          end.post(...values);
          end.close();
        },
        (end) => end.receive(),
        samples('right', values, 'closed'),
      );
    },
  },
  {
    name: 'latest: on event loops',
    about: 'the sender awaits a flush of two messages, the reader samples',
    make: (shipped) =>
      threads(
        [
          onLoop(
            shipped,
            0,
            'wait-async',
            async (end) => {
              end.post(SMALL[0] as number, SMALL[1] as number);
              await end.port.flush();
              end.close();
            },
            LATEST_MANNER,
          ),
          onLoop(shipped, 1, 'doorbell', (end) => end.receiveAsync(), READING_MANNER),
        ],
        samples('right', SMALL.slice(0, 2), 'closed'),
      ),
  },
  {
    name: 'latest: the sender dies',
    about: 'at any step of two sends and a close; the reader gets the newest that was published',
    reaches: [/left killed: .*right:\["terminated"\]/, /left killed: .*right:\[2008,"terminated"\]/],
    make: (shipped) => ({
      ...threads(
        [
          blocking(
            shipped,
            0,
            (end) => {
              end.send(...SMALL.slice(0, 2));
              end.close();
            },
            LATEST_MANNER,
          ),
          blocking(shipped, 1, (end) => end.receive(), { ...READING_MANNER, watchPeer: true }),
        ],
        ({ results, killed, look }) => {
          const story = results['right'] as readonly unknown[] | undefined;
          if (story === undefined) return killed === undefined ? 'no result' : undefined;
          const at = story.slice(0, -1).map((value) => SMALL.indexOf(value as number));
          const newest = at.at(-1) ?? -1;
          const sent = look(SENT_BY_LEFT);
          return newest >= sent - 1 && at.every((place, i) => place > (i === 0 ? -1 : (at[i - 1] as number)))
            ? undefined
            : `${sent} were sent, the reader tells ${story}`;
        },
        1,
      ),
      timeoutsAreProgress: true,
    }),
  },
];
