// Two ports over the shipped thread transport: codec, lanes, parts, close, the other side's death, blocking and event
// loop, time limits.
import type { NamedModel } from './stage.ts';
import { all, aside, blocking, message, onLoop, tells, threads } from './thread-stage.ts';

const SMALL = [message(1, 4), message(2, 8)] as const;
const MANY = [1, 2, 3, 4, 5].map((id) => message(id, 4));
/** Two of them fill the ring. */
const WIDE = [1, 2, 3].map((id) => message(id, 24));
const LARGE = message(7, 40);

export const threadModels: readonly NamedModel[] = [
  {
    name: 'close: what was sent before is read',
    about: 'one side sends and closes, the other receives until the end; both block',
    make: (shipped) =>
      threads(
        [
          blocking(shipped, 0, (end) => {
            end.send(...SMALL);
            end.mark('close');
            end.port.close();
          }),
          blocking(shipped, 1, (end) => end.receive()),
        ],
        tells('right', [...SMALL, 'closed']),
      ),
  },
  {
    name: 'close: with messages still in the outbox',
    about: 'more is posted than the ring holds, then closed: the rest is left in the side channel',
    make: (shipped) =>
      threads(
        [
          blocking(shipped, 0, (end) => {
            end.post(...MANY);
            end.mark('close');
            end.port.close();
          }),
          blocking(shipped, 1, (end) => end.receive()),
        ],
        tells('right', [...MANY, 'closed']),
      ),
  },
  {
    name: 'close: under a blocked sender',
    about: 'the receiver takes one message and closes while the sender waits for room',
    reaches: [/left:\[false,"closed"\]/],
    make: (shipped) =>
      threads(
        [
          blocking(shipped, 0, (end) => {
            end.got.push(end.send(...MANY, message(6, 4)));
          }),
          blocking(shipped, 1, (end) => {
            end.receive(1);
            end.mark('close');
            end.port.close();
          }),
        ],
        all(tells('right', [MANY[0], 'closed']), ({ results }) =>
          (results['left'] as unknown[])[0] === false ? undefined : `left: ${results['left']}`,
        ),
      ),
  },
  {
    name: 'close: after the sender was blocked',
    about: 'three messages of which the ring holds two; each arrives once',
    make: (shipped) =>
      threads(
        [
          blocking(shipped, 0, (end) => {
            end.send(...WIDE);
            end.mark('close');
            end.port.close();
          }),
          blocking(shipped, 1, (end) => end.receive()),
        ],
        tells('right', [...WIDE, 'closed']),
      ),
  },
  {
    name: 'close: in the middle of a large message',
    about: 'its first parts are in the ring, the rest is left in the side channel',
    make: (shipped) =>
      threads(
        [
          blocking(shipped, 0, (end) => {
            end.post(message(1, 72));
            end.mark('close');
            end.port.close();
          }),
          blocking(shipped, 1, (end) => end.receive()),
        ],
        tells('right', [message(1, 72), 'closed']),
      ),
  },
  {
    name: 'parts: one large message',
    about: '40 bytes through a ring that takes 24 at once',
    make: (shipped) =>
      threads(
        [
          blocking(shipped, 0, (end) => {
            end.send(LARGE, SMALL[0]);
          }),
          blocking(shipped, 1, (end) => end.receive(2)),
        ],
        tells('right', [LARGE, SMALL[0], 'open']),
      ),
  },
  {
    name: 'parts: both ways at once',
    about: 'both sides block in send() with a message larger than the ring, then receive',
    make: (shipped) =>
      threads(
        [0, 1].map((side) =>
          blocking(shipped, side as 0 | 1, (end) => {
            end.send(message(side + 1, 48));
            end.receive(1);
          }),
        ),
        all(tells('left', [message(2, 48), 'open']), tells('right', [message(1, 48), 'open'])),
      ),
  },
  {
    name: 'death: under a blocked receiver',
    about: 'the sender is killed at any step; the receiver finds out between two slices of its sleep',
    reaches: [/left killed: .*right:\["terminated"\]/, /left killed: .*right:\[1004,2008,"terminated"\]/],
    make: (shipped) => ({
      ...threads(
        [
          blocking(shipped, 0, (end) => {
            end.send(...SMALL);
            end.mark('close');
            end.port.close();
          }),
          blocking(shipped, 1, (end) => end.receive(), { watchPeer: true }),
        ],
        tells('right', [...SMALL, 'closed']),
        1,
      ),
      timeoutsAreProgress: true,
    }),
  },
  {
    name: 'death: under an event loop',
    about: 'the sender is killed at any step; the tether tells',
    reaches: [/left killed: .*right:\["terminated"\]/],
    make: (shipped) =>
      threads(
        [
          blocking(shipped, 0, (end) => {
            end.send(...SMALL);
            end.mark('close');
            end.port.close();
          }),
          onLoop(shipped, 1, 'wait-async', (end) => end.receiveAsync()),
        ],
        tells('right', [...SMALL, 'closed']),
        1,
      ),
  },
  {
    name: 'loop: woken by waitAsync',
    about: 'a blocking sender, a receiver on its event loop',
    make: (shipped) =>
      threads(
        [
          blocking(shipped, 0, (end) => {
            end.send(SMALL[0], LARGE);
            end.mark('close');
            end.port.close();
          }),
          onLoop(shipped, 1, 'wait-async', (end) => end.receiveAsync()),
        ],
        tells('right', [SMALL[0], LARGE, 'closed']),
      ),
  },
  {
    name: 'loop: woken by a doorbell',
    about: 'the same, and the event loop sleeps for a message on the tether',
    make: (shipped) =>
      threads(
        [
          blocking(shipped, 0, (end) => {
            end.send(...SMALL);
            end.mark('close');
            end.port.close();
          }),
          onLoop(shipped, 1, 'doorbell', (end) => end.receiveAsync()),
        ],
        tells('right', [...SMALL, 'closed']),
      ),
  },
  {
    name: 'loop: posts more than the ring holds',
    about: 'an event loop moves its outbox along while a blocking receiver makes room',
    make: (shipped) =>
      threads(
        [
          onLoop(shipped, 0, 'wait-async', async (end) => {
            end.post(...MANY);
            await end.port.flush();
          }),
          blocking(shipped, 1, (end) => end.receive(MANY.length)),
        ],
        tells('right', [...MANY, 'open']),
      ),
  },
  {
    name: 'side channel: keeps its place in the order',
    about: 'values that only the native clone carries, between others',
    make(shipped) {
      const values = [SMALL[0], aside(8), SMALL[1], aside(9)];
      return threads(
        [
          blocking(shipped, 0, (end) => {
            end.send(...values);
          }),
          blocking(shipped, 1, (end) => end.receive(values.length)),
        ],
        tells('right', [...values, 'open']),
      );
    },
  },
  {
    name: 'close: by both sides at once',
    about: 'each sends, closes and reads nothing; nobody waits for anybody',
    make: (shipped) =>
      threads(
        [0, 1].map((side) =>
          blocking(shipped, side as 0 | 1, (end) => {
            end.send(SMALL[0]);
            end.mark('close');
            end.port.close();
          }),
        ),
        ({ results }) => {
          const ends = Object.values(results).map(String);
          return ends.every((end) => end === 'closed') ? undefined : `ended ${ends}`;
        },
      ),
  },
  {
    name: 'close: by the end of the thread',
    about: 'more is posted than the ring holds, then the thread ends by itself',
    make: (shipped) =>
      threads(
        [
          blocking(shipped, 0, (end) => {
            end.post(...MANY);
            end.endThread();
          }),
          blocking(shipped, 1, (end) => end.receive()),
        ],
        tells('right', [...MANY, 'exit']),
      ),
  },
  {
    name: 'death: under a blocked sender',
    about: 'the receiver is killed at any step; the sender finds out between two slices of its sleep',
    reaches: [/left killed: .*right:\[false,"terminated"\]/, /right:\[true,"open"\]/],
    make: (shipped) => ({
      ...threads(
        [
          blocking(shipped, 0, (end) => end.receive(2)),
          blocking(
            shipped,
            1,
            (end) => {
              end.got.push(end.send(...WIDE));
            },
            { watchPeer: true },
          ),
        ],
        ({ results, killed }) => {
          const told = String(results['right']);
          const right = ['true,open', ...(killed === 'left' ? ['true,terminated', 'false,terminated'] : [])];
          return right.includes(told) ? undefined : `the sender tells ${told}`;
        },
        1,
      ),
      timeoutsAreProgress: true,
    }),
  },
  {
    name: 'death: in the middle of a large message',
    about: 'the sender is killed between its parts; the receiver gets all of it or none',
    reaches: [/left killed: .*right:\["terminated"\]/, /right:\[7028,"closed"\]/],
    make: (shipped) =>
      threads(
        [
          blocking(shipped, 0, (end) => {
            end.send(message(7, 28));
            end.mark('close');
            end.port.close();
          }),
          onLoop(shipped, 1, 'wait-async', (end) => end.receiveAsync()),
        ],
        tells('right', [message(7, 28), 'closed']),
        1,
      ),
  },
  {
    name: 'time limits: of receive() and send()',
    about: 'both may run out at any moment; what was not sent in time is not received',
    reaches: [/right:\["EMPTY"/, /4004,"late"/, /left:\[1004,2004,3004,4004,5004,"open"\]/],
    make: (shipped) => ({
      ...threads(
        [
          blocking(
            shipped,
            0,
            (end) => {
              for (const value of MANY) {
                end.mark(`send ${value}`);
                end.got.push(end.port.send(value, { timeoutMs: 5 }) ? value : 'late');
              }
            },
            { limited: true },
          ),
          blocking(
            shipped,
            1,
            (end) => {
              for (let i = 0; i < 3; i++) {
                end.mark(`receive ${i}`);
                const value = end.port.receive({ timeoutMs: 5 });
                end.got.push(value === shipped.EMPTY ? 'EMPTY' : value);
              }
            },
            { limited: true },
          ),
        ],
        ({ results }) => {
          const values = (who: string): unknown[] => (results[who] as unknown[]).filter((it) => typeof it === 'number');
          const sent = values('left');
          const right = values('right').every((value, i) => value === sent[i]);
          return right ? undefined : `sent ${sent}, received ${results['right']}`;
        },
      ),
      timeoutsAreProgress: true,
    }),
  },
  {
    name: 'loop: blocks and awaits in turn',
    about: 'one thread receives by its event loop, blocking, and by its event loop again',
    make: (shipped) =>
      threads(
        [
          blocking(shipped, 0, (end) => {
            end.send(...MANY.slice(0, 3));
          }),
          onLoop(shipped, 1, 'wait-async', async (end) => {
            await end.receiveAsync(1);
            end.receive(1);
            await end.receiveAsync(1);
          }),
        ],
        tells('right', [...MANY.slice(0, 3), 'open']),
      ),
  },
  {
    name: 'loop: on both sides',
    about: 'two event loops, a question and an answer',
    make: (shipped) =>
      threads(
        [
          onLoop(shipped, 0, 'wait-async', async (end) => {
            end.post(SMALL[0]);
            await end.receiveAsync(1);
          }),
          onLoop(shipped, 1, 'doorbell', async (end) => {
            await end.receiveAsync(1);
            end.post(SMALL[1]);
          }),
        ],
        all(tells('left', [SMALL[1], 'open']), tells('right', [SMALL[0], 'open'])),
      ),
  },
];
