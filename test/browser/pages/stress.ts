// Workers whose event loops write as fast as there is room, by each way of sleeping: nobody sleeps through a wake-up.
import { sleeping } from '../../kit/sleeping.ts';
import { check, ok, within } from './checks.ts';
import { talkTo } from './thread.ts';

const SECONDS = 3;
/** Ten times what counts as a stall where nothing else runs. */
const STALL_MS = 2000;

for (const eventLoopWait of ['wait-async', 'doorbell'] as const) {
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
    ok(count === (await thread.done()), `${count} came`);
  });
}
