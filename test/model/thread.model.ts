// Two ports over the shipped thread transport: codec, lanes, parts, close, the other side's death, blocking and event
// loop, time limits.
import type { Actor, Ending } from '../kit/explore.ts';
import type { Shipped } from './shipped.ts';
import type { NamedModel } from './stage.ts';
import {
  all,
  aside,
  blocking,
  type End,
  type Manner,
  message,
  onLoop,
  type Sleep,
  tells,
  threads,
} from './thread-stage.ts';

const SMALL = [message(1, 4), message(2, 8)] as const;
const MANY = [1, 2, 3, 4, 5].map((id) => message(id, 4));
/** One more than a ring of 128 bytes holds, in which a quarter is two of them. */
const NINE = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((id) => message(id, 4));
/** Two of them fill the ring. */
const WIDE = [1, 2, 3].map((id) => message(id, 24));
const LARGE = message(7, 40);

const received = ({ got }: End): number => got.filter((it) => it !== 'told').length;

/** What one thread does. */
type Part = (shipped: Shipped, side: 0 | 1) => Actor;

const blocks =
  (act: (end: End, shipped: Shipped) => void, manner?: Manner): Part =>
  (shipped, side) =>
    blocking(shipped, side, (end) => act(end, shipped), manner);
const loops =
  (sleep: Sleep, act: (end: End) => Promise<void>, manner?: Manner): Part =>
  (shipped, side) =>
    onLoop(shipped, side, sleep, act, manner);

const sends = (...values: number[]): Part => blocks((end) => void end.send(...values));
const sendsAndCloses = (...values: number[]): Part =>
  blocks((end) => {
    end.send(...values);
    end.close();
  });
/** Until the end of the other side, without a count. */
const receives = (count?: number): Part => blocks((end) => end.receive(count));
const receivesOnLoop = (sleep: Sleep): Part => loops(sleep, (end) => end.receiveAsync());

const interrupts: Part = blocks((end) => {
  end.mark('interrupt');
  end.port.interrupt(7);
});
function receiveOrInterrupt(end: End, { EMPTY }: Shipped): void {
  end.mark('receive');
  const value = end.port.receive({ interruptible: true });
  end.got.push(value === EMPTY ? `interrupted ${end.port.clearInterrupt()}` : value);
}

interface Scene extends Pick<NamedModel, 'name' | 'about' | 'reaches'> {
  readonly left: Part;
  readonly right: Part;
  readonly final: (ending: Ending) => string | undefined;
  /** Whether the left side may be killed, at any step. */
  readonly kills?: 1;
  readonly timeoutsAreProgress?: true;
}

function scene({ left, right, final, kills, timeoutsAreProgress, ...told }: Scene): NamedModel {
  return {
    ...told,
    make(shipped) {
      const model = threads([left(shipped, 0), right(shipped, 1)], final, kills);
      return timeoutsAreProgress ? { ...model, timeoutsAreProgress } : model;
    },
  };
}

const scenes: readonly Scene[] = [
  {
    name: 'close: what was sent before is read',
    about: 'one side sends and closes, the other receives until the end; both block',
    left: sendsAndCloses(...SMALL),
    right: receives(),
    final: tells('right', [...SMALL, 'closed']),
  },
  {
    name: 'close: with messages still in the outbox',
    about: 'more is posted than the ring holds, then closed: the rest is left in the side channel',
    left: blocks((end) => {
      end.post(...MANY);
      end.close();
    }),
    right: receives(),
    final: tells('right', [...MANY, 'closed']),
  },
  {
    name: 'close: a page, with messages still in the outbox',
    about: 'what waits follows through the ring; an event loop reads it',
    left: loops(
      'wait-async',
      async (end) => {
        end.post(...WIDE);
        end.close();
        await end.passAsync();
      },
      { page: true },
    ),
    right: loops('wait-async', async (end) => {
      await end.receiveAsync();
      end.open();
    }),
    final: tells('right', [...WIDE, 'closed']),
  },
  {
    name: 'close: under a blocked sender',
    about: 'the receiver takes one message and closes while the sender waits for room',
    reaches: [/left:\[false,"closed"\]/],
    left: blocks((end) => {
      end.got.push(end.send(...MANY, message(6, 4)));
    }),
    right: blocks((end) => {
      end.receive(1);
      end.close();
    }),
    final: all(tells('right', [MANY[0], 'closed']), ({ results }) =>
      (results['left'] as unknown[])[0] === false ? undefined : `left: ${results['left']}`,
    ),
  },
  {
    name: 'close: after the sender was blocked',
    about: 'three messages of which the ring holds two; each arrives once',
    left: sendsAndCloses(...WIDE),
    right: receives(),
    final: tells('right', [...WIDE, 'closed']),
  },
  {
    name: 'close: in the middle of a large message',
    about: 'its first parts are in the ring, the rest is left in the side channel',
    left: blocks((end) => {
      end.post(message(1, 72));
      end.close();
    }),
    right: receives(),
    final: tells('right', [message(1, 72), 'closed']),
  },
  {
    name: 'parts: one large message',
    about: '40 bytes through a ring that takes 24 at once',
    left: sends(LARGE, SMALL[0]),
    right: receives(2),
    final: tells('right', [LARGE, SMALL[0], 'open']),
  },
  {
    name: 'parts: both ways at once',
    about: 'both sides block in send() with a message larger than the ring, then receive',
    left: blocks((end) => {
      end.send(message(1, 48));
      end.receive(1);
    }),
    right: blocks((end) => {
      end.send(message(2, 48));
      end.receive(1);
    }),
    final: all(tells('left', [message(2, 48), 'open']), tells('right', [message(1, 48), 'open'])),
  },
  {
    name: 'interrupt: under a blocked receiver',
    about: 'one side interrupts and does nothing else; the other blocks until it is interrupted',
    left: interrupts,
    right: blocks((end, shipped) => receiveOrInterrupt(end, shipped)),
    final: tells('right', ['interrupted 7', 'open']),
  },
  {
    name: 'interrupt: with something in the outbox',
    about: 'the same, and the other side has posted more than the ring holds, which nobody reads',
    left: interrupts,
    right: blocks((end, shipped) => {
      end.post(...MANY);
      receiveOrInterrupt(end, shipped);
    }),
    final: tells('right', ['interrupted 7', 'open']),
  },
  {
    name: 'interrupt: and a message behind it',
    about: 'the other side gets both, the message first if it is there by then',
    reaches: [/right:\["interrupted 7",1004,"open"\]/, /right:\[1004,"interrupted 7","open"\]/],
    left: blocks((end) => {
      end.mark('interrupt');
      end.port.interrupt(7);
      end.post(SMALL[0]);
    }),
    right: blocks((end, shipped) => {
      while (end.got.length < 2) receiveOrInterrupt(end, shipped);
    }),
    final: ({ results }) => {
      const told = String(results['right']);
      return told === 'interrupted 7,1004,open' || told === '1004,interrupted 7,open' ? undefined : `told ${told}`;
    },
  },
  {
    name: 'death: under a blocked receiver',
    about: 'the sender is killed at any step; the receiver finds out between two slices of its sleep',
    reaches: [/left killed: .*right:\["terminated"\]/, /left killed: .*right:\[1004,2008,"terminated"\]/],
    left: sendsAndCloses(...SMALL),
    right: blocks((end) => end.receive(), { watchPeer: true }),
    final: tells('right', [...SMALL, 'closed']),
    kills: 1,
    timeoutsAreProgress: true,
  },
  {
    name: 'death: under an event loop',
    about: 'the sender is killed at any step; the tether tells',
    reaches: [/left killed: .*right:\["terminated"\]/],
    left: sendsAndCloses(...SMALL),
    right: receivesOnLoop('wait-async'),
    final: tells('right', [...SMALL, 'closed']),
    kills: 1,
  },
  {
    name: 'loop: woken by waitAsync',
    about: 'a blocking sender, a receiver on its event loop',
    left: sendsAndCloses(SMALL[0], LARGE),
    right: receivesOnLoop('wait-async'),
    final: tells('right', [SMALL[0], LARGE, 'closed']),
  },
  {
    name: 'loop: woken by a doorbell',
    about: 'the same, and the event loop sleeps for a message on the tether',
    left: sendsAndCloses(...SMALL),
    right: receivesOnLoop('doorbell'),
    final: tells('right', [...SMALL, 'closed']),
  },
  {
    name: 'loop: posts more than the ring holds',
    about: 'an event loop moves its outbox along while a blocking receiver makes room',
    left: loops('wait-async', async (end) => {
      end.post(...MANY);
      await end.port.flush();
    }),
    right: receives(MANY.length),
    final: tells('right', [...MANY, 'open']),
  },
  {
    name: 'flush: the reader takes one message and waits for us',
    about:
      'the other message lies unread; the event loop that flushes hears of the first one, taken before or meanwhile',
    left: loops(
      'wait-async',
      async (end) => {
        end.post(SMALL[0]);
        const flushed = end.port.flush();
        end.post(SMALL[1]);
        await flushed;
        end.open();
      },
      { capacity: 128 },
    ),
    right: blocks(
      (end) => {
        end.receive(1);
        end.pass();
        end.receive(1);
      },
      { capacity: 128 },
    ),
    final: tells('right', [...SMALL, 'open']),
  },
  {
    name: 'flush: the reader takes the last message and waits for us',
    about: 'a batch ends with it: what tells of the batch tells who awaits the position, too',
    left: loops(
      'wait-async',
      async (end) => {
        end.post(SMALL[0]);
        await end.port.flush();
        end.open();
      },
      { capacity: 128 },
    ),
    right: blocks(
      (end) => {
        end.receive(1);
        end.pass();
      },
      { capacity: 128 },
    ),
    final: tells('right', [SMALL[0], 'open']),
  },
  {
    name: 'send: the reader takes one message and waits for us',
    about: 'the ring is full but for that one; a blocked sender waits for a batch of room, then takes what there is',
    left: blocks(
      (end) => {
        end.send(...NINE);
        end.open();
      },
      { capacity: 128, limited: true, impatient: true },
    ),
    right: blocks(
      (end) => {
        end.receive(1);
        end.pass();
        end.receive(NINE.length - 1);
      },
      { capacity: 128 },
    ),
    final: tells('right', [...NINE, 'open']),
    timeoutsAreProgress: true,
  },
  {
    name: 'send: both sides at once, more than either sets aside',
    about:
      'the ring holds two, nothing is set aside; one of them is told that both are stuck, receives, and both go on',
    reaches: [/left:\["told"/, /right:\["told"/],
    left: blocks(
      (end) => {
        end.sendOrReceive(...WIDE);
        end.receive(WIDE.length - received(end));
      },
      { inboxLimit: 0 },
    ),
    right: blocks(
      (end) => {
        end.sendOrReceive(...WIDE);
        end.receive(WIDE.length - received(end));
      },
      { inboxLimit: 0 },
    ),
    final: ({ results }) => {
      for (const who of ['left', 'right']) {
        const told = (results[who] as unknown[]).filter((it) => it !== 'told');
        if (String(told) !== String([...WIDE, 'open'])) return `${who}: ${told}`;
      }
      const both = Object.values(results).flat();
      return both.includes('told') ? undefined : 'nobody was told';
    },
  },
  {
    name: 'send: both sides at once, as much as one of them sets aside',
    about: 'one side gets through, however late it learns of its room; so nobody is told',
    left: blocks(
      (end) => {
        end.sendOrReceive(...WIDE);
        end.receive(WIDE.length);
      },
      { inboxLimit: 0 },
    ),
    right: blocks(
      (end) => {
        end.sendOrReceive(...WIDE);
        end.receive(WIDE.length);
      },
      { inboxLimit: 1 },
    ),
    final: all(tells('left', [...WIDE, 'open']), tells('right', [...WIDE, 'open'])),
  },
  {
    name: 'side channel: keeps its place in the order',
    about: 'values that only the native clone carries, between others',
    left: sends(SMALL[0], aside(8), SMALL[1], aside(9)),
    right: receives(4),
    final: tells('right', [SMALL[0], aside(8), SMALL[1], aside(9), 'open']),
  },
  {
    name: 'close: by both sides at once',
    about: 'each sends, closes and reads nothing; nobody waits for anybody',
    left: sendsAndCloses(SMALL[0]),
    right: sendsAndCloses(SMALL[0]),
    final: ({ results }) => {
      const ends = Object.values(results).map(String);
      return ends.every((end) => end === 'closed') ? undefined : `ended ${ends}`;
    },
  },
  {
    name: 'close: by the end of the thread',
    about: 'more is posted than the ring holds, then the thread ends by itself',
    left: blocks((end) => {
      end.post(...MANY);
      end.endThread();
    }),
    right: receives(),
    final: tells('right', [...MANY, 'exit']),
  },
  {
    name: 'death: under a blocked sender',
    about: 'the receiver is killed at any step; the sender finds out between two slices of its sleep',
    reaches: [/left killed: .*right:\[false,"terminated"\]/, /right:\[true,"open"\]/],
    left: receives(2),
    right: blocks(
      (end) => {
        end.got.push(end.send(...WIDE));
      },
      { watchPeer: true },
    ),
    final: ({ results, killed }) => {
      const told = String(results['right']);
      const right = ['true,open', ...(killed === 'left' ? ['true,terminated', 'false,terminated'] : [])];
      return right.includes(told) ? undefined : `the sender tells ${told}`;
    },
    kills: 1,
    timeoutsAreProgress: true,
  },
  {
    name: 'death: in the middle of a large message',
    about: 'the sender is killed between its parts; the receiver gets all of it or none',
    reaches: [/left killed: .*right:\["terminated"\]/, /right:\[7028,"closed"\]/],
    left: sendsAndCloses(message(7, 28)),
    right: receivesOnLoop('wait-async'),
    final: tells('right', [message(7, 28), 'closed']),
    kills: 1,
  },
  {
    name: 'time limits: of receive() and send()',
    about: 'both may run out at any moment; what was not sent in time is not received',
    reaches: [/right:\["EMPTY"/, /4004,"late"/, /left:\[1004,2004,3004,4004,5004,"open"\]/],
    left: blocks(
      (end) => {
        for (const value of MANY) {
          end.mark(`send ${value}`);
          end.got.push(end.port.send(value, { timeoutMs: 5 }) ? value : 'late');
        }
      },
      { limited: true },
    ),
    right: blocks(
      (end, { EMPTY }) => {
        for (let i = 0; i < 3; i++) {
          end.mark(`receive ${i}`);
          const value = end.port.receive({ timeoutMs: 5 });
          end.got.push(value === EMPTY ? 'EMPTY' : value);
        }
      },
      { limited: true },
    ),
    final: ({ results }) => {
      const values = (who: string): unknown[] => (results[who] as unknown[]).filter((it) => typeof it === 'number');
      const sent = values('left');
      const right = values('right').every((value, i) => value === sent[i]);
      return right ? undefined : `sent ${sent}, received ${results['right']}`;
    },
    timeoutsAreProgress: true,
  },
  {
    name: 'loop: blocks and awaits in turn',
    about: 'one thread receives by its event loop, blocking, and by its event loop again',
    left: sends(...MANY.slice(0, 3)),
    right: loops('wait-async', async (end) => {
      await end.receiveAsync(1);
      end.receive(1);
      await end.receiveAsync(1);
    }),
    final: tells('right', [...MANY.slice(0, 3), 'open']),
  },
  {
    name: 'loop: on both sides',
    about: 'two event loops, a question and an answer',
    left: loops('wait-async', async (end) => {
      end.post(SMALL[0]);
      await end.receiveAsync(1);
    }),
    right: loops('doorbell', async (end) => {
      await end.receiveAsync(1);
      end.post(SMALL[1]);
    }),
    final: all(tells('left', [SMALL[1], 'open']), tells('right', [SMALL[0], 'open'])),
  },
];

export const threadModels: readonly NamedModel[] = scenes.map(scene);
