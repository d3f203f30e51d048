// Bugs of the annex that its models must catch.
import type { Mutant } from './mutants.ts';

const ANNEX = 'lane/annex.js';
const MESSAGES = 'annex: messages beside the ring';

export const annexMutants: readonly Mutant[] = [
  {
    name: 'a message in the annex is written over before it was taken',
    file: ANNEX,
    find: /if \(!this\.#sink\.releasedUpTo\(first\.position\)\)\s+return;/,
    replace: '',
    caughtBy: MESSAGES,
    as: 'race',
  },
  {
    name: 'a message in the annex counts as taken with the one before it',
    file: ANNEX,
    find: /sink\.commit\(ELSEWHERE_BYTES, KIND_ELSEWHERE\);([\s\S]+?)position: sink\.position/,
    replace: 'const before = sink.position; sink.commit(ELSEWHERE_BYTES, KIND_ELSEWHERE);$1position: before',
    caughtBy: MESSAGES,
    as: 'race',
  },
  {
    name: 'a full annex passes for an empty one',
    file: ANNEX,
    find: 'this.#to <= this.#from',
    replace: 'this.#to < this.#from',
    caughtBy: MESSAGES,
    as: 'race',
  },
  {
    name: 'the room before the first message in the annex is taken for longer than it is',
    file: ANNEX,
    find: 'wrapped ? 0 : this.#from',
    replace: 'wrapped ? 0 : this.#to',
    caughtBy: MESSAGES,
    as: 'race',
  },
  {
    name: 'an annex that has gone round its end forgets it',
    file: ANNEX,
    find: '(wrapped ? this.#from : size) - this.#to',
    replace: 'size - this.#to',
    caughtBy: MESSAGES,
    as: 'race',
  },
];
