// One entry of the structured-clone battery.

export interface Fact {
  readonly name: string;
  /** Makes the value that goes in. */
  readonly put: () => unknown;
  /** Makes what must come out, when that is not simply a copy of what went in. */
  readonly get?: () => unknown;
  /** What else must hold for the copy. */
  readonly also?: (copy: never, original: never) => void | Promise<void>;
  /** It must throw: a DataCloneError, or the very error that the value's own code threw. */
  readonly throws?: 'DataCloneError' | (() => unknown);
  /** Not to be had outside the browser, or not the codec's task: counted as excluded, for this reason. */
  readonly excluded?: string;
  /** Why this runtime cannot have the case, found by trying; `undefined` when it can. */
  readonly missing?: () => string | undefined;
}

export function check(condition: boolean, claim: string): void {
  if (!condition) throw new Error(`not so: ${claim}`);
}
