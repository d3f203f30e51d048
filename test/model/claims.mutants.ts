// Bugs in who has a call of a pool that the models of claims must catch. See mutants.ts.
import type { Mutant } from './mutants.ts';

const CLAIMS = 'rpc/pool/claims.js';
const PLACES = 'rpc/places.js';

export const claimsMutants: readonly Mutant[] = [
  {
    name: 'claims: the member reads the word, then writes it',
    file: PLACES,
    find: 'Atomics.compareExchange(claims, at, id, 0) !== -id',
    replace: 'Atomics.load(claims, at) !== -id && Atomics.store(claims, at, 0) === 0',
    caughtBy: 'claims: two calls are taken back',
    as: 'final',
  },
  {
    name: 'claims: the pool reads the word, then writes it',
    file: CLAIMS,
    find: 'Atomics.compareExchange(this.#words, id % CLAIMS_LENGTH, id, -id) === id',
    replace:
      'Atomics.load(this.#words, id % CLAIMS_LENGTH) === id && Atomics.store(this.#words, id % CLAIMS_LENGTH, -id) !== 0',
    caughtBy: 'claims: two calls are taken back',
    as: 'final',
  },
  {
    name: 'claims: a call takes the word that another one has',
    file: CLAIMS,
    find: /if \(Atomics\.load\(this\.#words, at\) === 0\)\s+/,
    replace: '',
    caughtBy: 'claims: two calls share a word',
    as: 'final',
  },
  {
    name: 'claims: the member does not free the word of what was taken back',
    file: PLACES,
    find: 'Atomics.store(claims, at, 0);',
    replace: '',
    caughtBy: 'claims: two calls are taken back',
    as: 'final',
  },
  {
    name: 'claims: the word of what was taken back unsent stays',
    file: CLAIMS,
    find: 'id % CLAIMS_LENGTH, -id, 0)',
    replace: 'id % CLAIMS_LENGTH, id, 0)',
    caughtBy: 'claims: two calls are taken back',
    as: 'final',
  },
];
