// A suite in its worker: says which tests it has, and runs those that the page asks for.
import { collected } from '../stand-ins/test.ts';
import { endThreads, threadsReady } from '../stand-ins/threads.ts';

/** What the page asks, and is answered. */
export interface Asked {
  readonly run?: number;
}
export interface Told {
  readonly names?: readonly string[];
  readonly ran?: { readonly index: number; readonly error?: string };
}

const tell = (told: Told): void => self.postMessage(told);

/** @param threads that its tests need to have ready */
export async function offer(threads: number): Promise<void> {
  self.addEventListener('message', async ({ data: { run } }: MessageEvent<Asked>) => {
    if (run === undefined) return;
    await threadsReady(threads);
    try {
      await collected[run].body();
      tell({ ran: { index: run } });
    } catch (error) {
      const stack = (error as Error)?.stack ?? '';
      tell({ ran: { index: run, error: `${String(error)}\n${stack}` } });
    }
    endThreads();
  });
  // Now, as loading them is no part of the first test.
  await threadsReady(threads);
  tell({ names: collected.map(({ name }) => name) });
}
