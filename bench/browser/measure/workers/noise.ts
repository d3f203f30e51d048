// The other thread of noise.ts.
import { spin } from '../../../noise-spin.ts';

/** The library of a page's types has no DedicatedWorkerGlobalScope. */
const scope = globalThis as unknown as EventTarget & { postMessage(value: unknown): void };

scope.addEventListener('message', () => {
  spin();
  scope.postMessage('spun');
});
