// `node:timers/promises` in a browser's worker.
export const setImmediate = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
