// How main thread and worker wait, which is half of what a figure says: a thread that never returns to its event loop
// answers sooner and can do nothing else. Reports compare like with like by it.

/** Main thread, then worker: 'loop' returns to the event loop, 'block' stays in the call. */
export type Wait = 'loop/loop' | 'loop/block' | 'block/block';

/** In the order in which rows show them: the way of a MessagePort first. */
export const WAIT_NAMES: Readonly<Record<Wait, string>> = {
  'loop/loop': 'event loops',
  'loop/block': 'worker blocks',
  'block/block': 'both block',
};

export const WAITS: readonly Wait[] = Object.keys(WAIT_NAMES) as Wait[];
