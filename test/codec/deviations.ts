// Where a runtime's own structuredClone is not what the HTML standard says, so that it cannot be the judge there. Each
// is found by trying, not by the runtime's name, and the comparison with the standard's own rules (`difference` with an
// original) still covers what is left out here. docs/codec-battery.md shows which runtime has which.

import { kindOf } from '../kit/same-clone.ts';

export interface Deviation {
  readonly name: string;
  /** What the suites do about it. */
  readonly remedy: string;
  /** Whether this runtime has it. */
  present(): boolean;
}

function withCause(cause: unknown): Error {
  return new Error('outer', { cause });
}

function fails(value: unknown): boolean {
  try {
    structuredClone(value);
    return false;
  } catch {
    return true;
  }
}

/** The cause of an error is lost in the copy. */
export const CAUSE_LOST: Deviation = {
  name: 'structuredClone loses the cause of an error',
  remedy: 'causes are compared with the original only',
  present: () => structuredClone(withCause(1)).cause !== 1,
};

/** A cause that leads back to its error makes the copy fail. */
export const CYCLIC_CAUSE_FAILS: Deviation = {
  name: 'structuredClone throws where the cause of an error leads back to the error',
  remedy: 'such values are compared with the original only',
  present: () => {
    const error = withCause(undefined);
    error.cause = error;
    return fails(error);
  },
};

/** A cause is made a text, and some have none. */
export const CAUSE_AS_TEXT: Deviation = {
  name: 'structuredClone throws where the cause of an error cannot be made a text',
  remedy: 'such values are compared with the original only',
  present: () => fails(withCause({ toString: [] })),
};

/** A stack that the program has set is not what arrives. */
export const STACK_KEPT: Deviation = {
  name: 'structuredClone takes the stack that the engine has noted, whatever the program has set',
  remedy: 'stacks are compared with the original only',
  present: () => structuredClone(Object.assign(new Error('noted'), { stack: 'set' })).stack !== 'set',
};

/** Kinds of which one object in two places is two objects in the copy. */
export const KINDS_APART: ReadonlySet<string> = new Set(
  [new Error('twice'), /twice/, new Date(0), Object(1), Object('twice'), Object(true), Object(1n)]
    .filter((object) => {
      const [one, other] = structuredClone([object, object]);
      return one !== other;
    })
    .map(kindOf),
);
const MADE_TWICE: Deviation = {
  name: `structuredClone makes two of one object that is met twice (${[...KINDS_APART]})`,
  remedy: 'whether these are one is compared with the original only',
  present: () => KINDS_APART.size > 0,
};

/** Properties put on a Map or Set arrive. */
export const MAP_PROPERTIES_KEPT: Deviation = {
  name: 'structuredClone keeps named properties of a Map',
  remedy: 'the battery asks for the standard: none',
  present: () => 'extra' in structuredClone(Object.assign(new Map(), { extra: 1 })),
};

/** Entries that a getter adds to a Map while it is copied arrive. */
export const MAP_GROWS: Deviation = {
  name: 'structuredClone copies entries that a getter added to the Map meanwhile',
  remedy: 'the battery asks for the standard: the entries there were',
  present: () => {
    const map = new Map<unknown, unknown>();
    const key = Object.defineProperty({}, 'get', { get: () => map.set('late', 1).size, enumerable: true });
    return structuredClone(map.set(key, 0)).size !== 1;
  },
};

/** The symbol error of String(symbol) leaves in another class. */
export const MESSAGE_SYMBOL: Deviation = {
  name: 'structuredClone throws DataCloneError, not TypeError, where the message of an error is a symbol',
  remedy: 'either is accepted',
  present: () => {
    try {
      structuredClone(Object.defineProperty(new Error(''), 'message', { value: Symbol('m') }));
      return false;
    } catch (error) {
      return !(error instanceof TypeError);
    }
  },
};

export const DEVIATIONS: readonly Deviation[] = [
  CAUSE_LOST,
  CYCLIC_CAUSE_FAILS,
  CAUSE_AS_TEXT,
  STACK_KEPT,
  MADE_TWICE,
  MAP_PROPERTIES_KEPT,
  MAP_GROWS,
  MESSAGE_SYMBOL,
];
