// `node test/browser/worklet-heap.mjs`: the ring door allocates nothing in an AudioWorklet. Chromium plays and records what the programs of
// docs/guides/audio.md do, and tells over its DevTools protocol how much the heap of the worklet has grown meanwhile.
import process from 'node:process';
import { openDevtools } from '../../bench/page/devtools.mjs';
import { build } from '../../tools/build.mjs';
import { serve } from './server.mjs';

const SECONDS = 5;
/** Compilers leave something behind in the first. */
const WARM_SECONDS = 3;
/** 375 blocks a second: the smallest object, 12 bytes, for each would be 22,500 bytes. What engines leave behind was 0 to 4,244. */
const BYTES_MAX = 15_000;
/** What one small view a block comes to at the least, by which it is known that something is measured. */
const WASTED_BYTES_MIN = 40_000;
/** Seconds that the sound of one second may take. */
const PATIENCE = 8;

/** Bytes by which the worklet's heap grows in so many seconds of sound. */
async function growth(origin, search) {
  const { send, problems, worklets, close } = await openDevtools();
  try {
    const started = await worklets();
    const secondsPlayed = async () => {
      const expression = 'self.secondsPlayed?.() ?? 0';
      return (await send('Runtime.evaluate', { expression })).result.value;
    };
    const until = async (seconds) => {
      const late = performance.now() + 1000 * PATIENCE * seconds;
      while ((await secondsPlayed()) < seconds) {
        if (performance.now() > late) throw new Error(`no ${seconds} s of sound; ${problems.join('\n')}`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    await send('Page.navigate', { url: `${origin}/frame/worklet-heap${search}` });
    await until(WARM_SECONDS);
    if (started.length !== 1) throw new Error(`${started.length} worklets in place of one; ${problems.join('\n')}`);
    const [worklet] = started;
    const used = async () => (await worklet('Runtime.getHeapUsage')).usedSize;
    const before = await used();
    await until(WARM_SECONDS + SECONDS);
    return (await used()) - before;
  } finally {
    await close();
  }
}

await build();
const server = await serve(() => {});
try {
  const wasted = await growth(server.origin, '?wasteful');
  console.log(
    `one view a block: ${wasted} bytes in ${SECONDS} s (to be at least ${WASTED_BYTES_MIN}, or nothing is measured)`,
  );
  const grown = await growth(server.origin, '');
  console.log(`player and recorder of the guide: ${grown} bytes in ${SECONDS} s (to be at most ${BYTES_MAX})`);
  process.exitCode = wasted >= WASTED_BYTES_MIN && grown <= BYTES_MAX ? 0 : 1;
} finally {
  server.close();
}
