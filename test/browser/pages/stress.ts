// Workers whose event loops write as fast as there is room, by each way of sleeping: nobody sleeps through a wake-up, and the page keeps its
// timers and frames. Blocked ones, to whom nothing happens: they sleep.
import { sleeping } from '../../kit/sleeping.ts';
import { check, checkTogether, figure, ok, within } from './checks.ts';
import { talkTo } from './thread.ts';

const SECONDS = 3;
/** Ten times what counts as a stall where nothing else runs. */
const STALL_MS = 2000;

for (const eventLoopWait of ['wait-async', 'doorbell', 'both'] as const) {
  check(`${SECONDS} s of a worker's event loop that writes through 64 KiB, ${eventLoopWait}: no stall`, async () => {
    const { port, thread } = talkTo(
      async ({ port, data }) => {
        const { way, seconds } = data as { way: string; seconds: number };
        const p = port({ [Symbol.for('millrace.eventLoopWait')]: way } as object);
        const end = performance.now() + 1000 * seconds;
        let i = 0;
        for (; performance.now() < end; i++) {
          while (!p.trySend({ i, payload: 'x'.repeat(400) })) await p.drained();
        }
        p.postMessage('end');
        return i;
      },
      { ...sleeping(eventLoopWait), capacityBytes: 65_536 },
      { way: eventLoopWait, seconds: SECONDS },
    );
    let count = 0;
    let longest = 0;
    let last = performance.now();
    const end = new Promise<void>((resolve) => {
      port.onmessage = ({ data }) => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        if (data === 'end') resolve();
        else count++;
      };
    });
    await within('the end', end, SECONDS + 8).finally(() =>
      ok(longest < STALL_MS && performance.now() - last < STALL_MS, `it stood still after ${count} messages`),
    );
    figure(`longest pause, ${eventLoopWait}`, longest, 'ms', STALL_MS / 10);
    ok(count === (await thread.done()), `${count} came`);
  });
}

/** What a saturated page may keep a timer or a frame waiting, and how often a worker to whom nothing happens may wake in a second. */
const GAP_MS = 50;
const WAKES_A_SECOND = 1;

check(`${SECONDS} s of a page that is flooded: timers and frames come`, async () => {
  const { port, thread } = talkTo(
    async ({ port, data: seconds }) => {
      const p = port();
      const end = performance.now() + 1000 * (seconds as number);
      while (performance.now() < end) while (!p.trySend({ payload: 'x'.repeat(400) })) await p.drained();
    },
    { capacityBytes: 65_536 },
    SECONDS,
  );
  port.onmessage = () => {};
  const gaps = { timers: 0, frames: 0 };
  let over = false;
  const watch = (which: keyof typeof gaps, again: (task: () => void) => unknown): void => {
    let last = performance.now();
    const look = (): void => {
      const now = performance.now();
      gaps[which] = Math.max(gaps[which], now - last);
      last = now;
      if (!over) again(look);
    };
    again(look);
  };
  watch('timers', (task) => setTimeout(task, 0));
  watch('frames', requestAnimationFrame);
  await thread.done();
  over = true;
  for (const which of ['timers', 'frames'] as const) figure(`longest gap of ${which}`, gaps[which], 'ms', GAP_MS);
  ok(gaps.timers < STALL_MS && gaps.frames < STALL_MS, JSON.stringify(gaps));
});

for (const how of ['receive', 'select'] as const) {
  checkTogether(`a worker that is blocked in ${how} sleeps when nothing happens`, async () => {
    const { thread } = talkTo(
      async ({ port, data, millrace }) => {
        const { how, seconds } = data as { how: 'receive' | 'select'; seconds: number };
        const p = port();
        await p.ready;
        let sleeps = 0;
        const { wait } = Atomics;
        Atomics.wait = ((...args: Parameters<typeof wait>) => {
          sleeps++;
          return wait.apply(Atomics, args);
        }) as typeof wait;
        const limit = { timeoutMs: 1000 * seconds };
        if (how === 'receive') p.receive(limit);
        else millrace.select([p], limit);
        return sleeps;
      },
      {},
      { how, seconds: SECONDS },
    );
    const sleeps = (await thread.done()) as number;
    figure(`wake-ups in ${SECONDS} s of ${how}`, sleeps, 'times', SECONDS * WAKES_A_SECOND);
    // One more for the time that is left, and one for the look before.
    ok(sleeps <= SECONDS * WAKES_A_SECOND + 2, `it woke ${sleeps} times in ${SECONDS} s`);
  });
}
