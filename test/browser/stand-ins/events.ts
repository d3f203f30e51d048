// `node:events` in a browser's worker, for what listens as Node's do.
interface Emitter {
  on(type: string, heard: (value: unknown) => void): unknown;
}

/** What comes next, in a list. */
export const once = (target: Emitter, type: string): Promise<[unknown]> =>
  new Promise((resolve) => target.on(type, (value) => resolve([value])));
export const on = (): never => {
  throw new Error('it is of Node alone');
};
