// The ring alone: producer and consumer look again and again, nobody sleeps.
import type { Kit, Model } from '../kit/explore.ts';
import type { Shipped } from './shipped.ts';
import {
  DEAD,
  HEAD,
  laneOf,
  type NamedModel,
  names,
  positionsHold,
  read,
  received,
  TAIL,
  tryWrite,
  wordsFor,
} from './stage.ts';

type Producer = InstanceType<Shipped['Producer']>;

interface Plan {
  readonly capacity: number;
  readonly lengths: readonly number[];
  readonly start?: number;
  /** Sends everything; default: one record after the other. */
  readonly send?: (kit: Kit, producer: Producer) => void;
  /** Takes what is there and says what it was; default: one record, released at once. */
  readonly take?: (consumer: InstanceType<Shipped['Consumer']>, count: number) => (number | string)[];
}

function ring(shipped: Shipped, plan: Plan): Model {
  const { capacity, lengths, start = 0 } = plan;
  return {
    words: wordsFor(capacity),
    names,
    invariant: positionsHold(capacity),
    init(words) {
      words[TAIL] = words[HEAD] = start;
    },
    actors: [
      {
        name: 'writer',
        run(kit) {
          const producer = new shipped.Producer(laneOf(kit, capacity));
          if (plan.send !== undefined) return plan.send(kit, producer);
          for (const [i, length] of lengths.entries()) {
            do kit.checkpoint(i, producer);
            while (!tryWrite(producer, length, i));
          }
        },
      },
      {
        name: 'reader',
        run(kit) {
          const consumer = new shipped.Consumer(laneOf(kit, capacity));
          const got: (number | string)[] = [];
          while (got.length < lengths.length) {
            kit.checkpoint(got, consumer);
            if (plan.take !== undefined) got.push(...plan.take(consumer, got.length));
            else {
              const offset = consumer.tryNext();
              if (offset === shipped.NONE) continue;
              got.push(read(consumer, offset, got.length));
              consumer.release();
            }
          }
          return got;
        },
      },
    ],
    final: received(lengths),
  };
}

const MIXED = [0, 8, 3, 8, 0, 6];

export const ringModels: readonly NamedModel[] = [
  {
    name: 'ring: records',
    about: 'records of 0 to 8 bytes through 32 bytes, with pads at the end of the data area',
    make: (shipped) => ring(shipped, { capacity: 32, lengths: MIXED }),
  },
  {
    name: 'ring: positions pass 2^31',
    about: 'the same while the positions turn negative',
    make: (shipped) => ring(shipped, { capacity: 32, lengths: MIXED, start: 0x7ffffff0 }),
  },
  {
    name: 'ring: positions pass 2^32',
    about: 'the same while the positions start over at 0',
    make: (shipped) => ring(shipped, { capacity: 32, lengths: MIXED, start: -24 }),
  },
  {
    name: 'ring: drain',
    about: 'drain() with a handler, which releases at a quarter of the ring and at the end; a limit now and then',
    make: (shipped) =>
      ring(shipped, {
        capacity: 64,
        lengths: [8, 0, 20, 4, 8],
        take(consumer, count) {
          const got: (number | string)[] = [];
          const handler = (_: Uint8Array, offset: number): unknown => {
            got.push(read(consumer, offset, count + got.length));
            return got.length === 2 ? shipped.STOP : undefined;
          };
          consumer.drain(handler, count === 0 ? 1 : undefined);
          return got;
        },
      }),
  },
  {
    name: 'ring: peek and hold',
    about: 'the reader peeks, looks twice, holds two records before it releases',
    make: (shipped) =>
      ring(shipped, {
        capacity: 64,
        lengths: [4, 8, 4, 12, 4],
        take(consumer, count) {
          if (!consumer.ready) {
            consumer.release();
            return [];
          }
          const offset = consumer.peek();
          const first = read(consumer, offset, count);
          const again = read(consumer, consumer.peek(), count);
          consumer.advance();
          if (consumer.held >= 24) consumer.release();
          return [first === again ? first : `${first}, then ${again}`];
        },
      }),
  },
  {
    name: 'ring: cork',
    about: 'records published together, one corked batch longer than a quarter of the ring',
    make: (shipped) =>
      ring(shipped, {
        capacity: 128,
        lengths: [4, 0, 4, 20, 0],
        send(kit, producer) {
          const lengths = [4, 0, 4, 20, 0];
          for (let i = 0; i < 5; ) {
            kit.checkpoint(i, producer);
            producer.cork(() => {
              const end = i < 2 ? 2 : 5;
              while (i < end && tryWrite(producer, lengths[i] as number, i)) i++;
            });
          }
        },
      }),
  },
  {
    name: 'ring: abort and shorten',
    about: 'claims given up (one behind a pad), and commits shorter than the claim',
    make: (shipped) =>
      ring(shipped, {
        capacity: 32,
        lengths: [4, 0, 4],
        send(kit, producer) {
          for (const [i, length] of [4, 0, 4].entries()) {
            let offset: number = shipped.FULL;
            while (offset === shipped.FULL) {
              kit.checkpoint(i, producer);
              const room = producer.claimable(8);
              if (room < 8) continue;
              const given = producer.tryClaim(8);
              if (given === shipped.FULL) throw new Error(`claimable ${room}, but full`);
              producer.words[given >>> 2] = -1;
              producer.abort();
              kit.checkpoint(i, producer, 'aborted');
              offset = producer.tryClaim(8);
            }
            if (length > 0) producer.words[offset >>> 2] = 1000 * (i + 1);
            producer.commit(length);
          }
        },
      }),
  },
  {
    name: 'ring: the writer is killed',
    about: 'at any step; everything published is read, nothing half written is seen',
    reaches: [/writer killed: .*reader:\[\]/, /writer killed: .*reader:\[4,8\]/],
    make(shipped) {
      const lengths = [4, 8, 6];
      const model = ring(shipped, { capacity: 64, lengths });
      return {
        ...model,
        kills: 1,
        actors: [
          { ...model.actors[0]!, killable: true },
          {
            name: 'reader',
            run(kit) {
              const words = kit.words();
              const consumer = new shipped.Consumer(laneOf(kit, 64));
              const got: (number | string)[] = [];
              for (;;) {
                kit.checkpoint(got, consumer);
                // The death is looked at before the ring: what was published before it is there then.
                const dead = Atomics.load(words, DEAD) === 1;
                const offset = consumer.tryNext();
                if (offset !== shipped.NONE) got.push(read(consumer, offset, got.length));
                consumer.release();
                if (offset === shipped.NONE && (dead || got.length === 3)) return got;
              }
            },
          },
          { name: 'watcher', afterKill: 'writer', run: (kit) => Atomics.store(kit.words(), DEAD, 1) },
        ],
        final(ending) {
          const wrong = received(lengths)(ending);
          if (wrong !== undefined || ending.look(TAIL) === ending.look(HEAD)) return wrong;
          return `TAIL ${ending.look(TAIL)}, but read up to ${ending.look(HEAD)}`;
        },
      };
    },
  },
];
