// What a suite imports for tests that no page runs (suites/not-in-pages.ts says which, and why).
export const inspect = (value: unknown): string => String(value);
export const setInterval: typeof globalThis.setInterval = globalThis.setInterval;
const nowhere = (): never => {
  throw new Error('it is of Node alone');
};

export { nowhere as on, nowhere as once };
/** A kind of value that Node clones and does not read (test/kit/unreadable-value.ts). */
export class BlockList {}
export default {};
