// The words in which a pool and a member agree on who has a call: between the shipped two ends of them, with calls that share a word, and a member that dies.
import type { Kit, Model } from '../kit/explore.ts';
import type { Shipped } from './shipped.ts';
import type { NamedModel } from './stage.ts';

/** The words of calls come first, as in the memory that a member is given. */
const CLAIMS = 1024;
/** How many calls were sent, which ones, and which of them have begun. */
const SENT = CLAIMS;
const CALLS = CLAIMS + 1;
const BEGUN = CLAIMS + 8;
const DEAD = CLAIMS + 15;
/** It has the word of call 1. */
const SHARES = 1 + CLAIMS;

const names = { 1: 'the word of 1', 2: 'the word of 2', 3: 'the word of 3', [SENT]: 'SENT', [DEAD]: 'DEAD' };

/** What the pool does: `+` sends, `-` takes back; `?` takes back what was not sent. */
type Step = readonly ['+' | '-' | '?', number];

/** The shipped ends make and ask for memory of their own: here it is the model's. */
function over<T>(end: T, field: string, words: Int32Array): T {
  return Object.assign(end as object, { [field]: words }) as T;
}

function pool(shipped: Shipped, steps: readonly Step[], behind?: number) {
  return (kit: Kit): unknown => {
    const words = kit.words();
    const claims = over(new shipped.Claims(), '$words', words);
    const taken: number[] = [];
    let sent = 0;
    for (const [step, id] of steps) {
      if (step !== '-') claims.offer(id);
      if (step === '+') {
        words[CALLS + sent] = id;
        Atomics.store(words, SENT, ++sent);
      } else if (claims.takeBack(id)) {
        if (step === '?') claims.unsent(id);
        taken.push(id);
      }
    }
    // What did not come back while it lived does so when it is dead.
    if (behind !== undefined && Atomics.load(words, DEAD) === 1 && claims.takeBack(behind)) taken.push(behind);
    return taken;
  };
}

function member(shipped: Shipped, count: number) {
  return (kit: Kit): unknown => {
    const words = kit.words();
    const places = over(new shipped.Places(1, undefined), '$claims', words);
    const begun: number[] = [];
    for (let i = 0; i < count; i++) {
      for (;;) {
        kit.checkpoint(i, begun);
        if (Atomics.load(words, SENT) > i) break;
      }
      const id = words[CALLS + i] as number;
      if (!places.mayBegin(id)) continue;
      begun.push(id);
      Atomics.store(words, BEGUN + i, id);
    }
    return begun;
  };
}

/** Each call has begun or was taken back, never both; and no word stays behind. */
function model(shipped: Shipped, steps: readonly Step[]): Model {
  const sent = steps.filter(([step]) => step === '+').map(([, id]) => id);
  return {
    words: CLAIMS + 16,
    names,
    actors: [
      { name: 'pool', run: pool(shipped, steps) },
      { name: 'member', run: member(shipped, sent.length) },
    ],
    final: ({ results, look }) => {
      const [taken, begun] = [results['pool'], results['member']] as [number[], number[]];
      const twice = begun.filter((id) => taken.includes(id));
      if (twice.length > 0) return `${twice} were taken back, and begin`;
      const lost = sent.filter((id) => !begun.includes(id) && !taken.includes(id));
      if (lost.length > 0) return `${lost} were not taken back, and do not begin`;
      const left = [1, 2, 3].filter((word) => look(word) !== 0);
      return left.length === 0 ? undefined : `the words of ${left} stay as they are`;
    },
  };
}

export const claimsModels: readonly NamedModel[] = [
  {
    name: 'claims: two calls are taken back',
    about: 'each of them begins or comes back; and what was not sent leaves its word free',
    reaches: [/pool:\[3\],member:\[1,2\]/, /pool:\[3,1,2\],member:\[\]/, /pool:\[3,2\],member:\[1\]/],
    make: (shipped) =>
      model(shipped, [
        ['?', 3],
        ['+', 1],
        ['+', 2],
        ['-', 1],
        ['-', 2],
      ]),
  },
  {
    name: 'claims: two calls share a word',
    about: 'the second one can be taken back where the member has freed the word of the first, and else begins',
    reaches: [/pool:\[1\],member:\[1025\]/, /pool:\[1,1025\],member:\[\]/, /pool:\[\],member:\[1,1025\]/],
    make: (shipped) =>
      model(shipped, [
        ['+', 1],
        ['-', 1],
        ['+', SHARES],
        ['-', SHARES],
      ]),
  },
  {
    name: 'claims: the member is killed',
    about: 'at any step: what has begun does not come back',
    reaches: [/member killed: .*pool:\[1\]/, /member killed: .*pool:\[\]/],
    make: (shipped) => ({
      words: CLAIMS + 16,
      names,
      kills: 1,
      actors: [
        { name: 'pool', run: pool(shipped, [['+', 1]], 1) },
        { name: 'member', run: member(shipped, 1), killable: true },
        { name: 'watcher', afterKill: 'member', run: (kit) => Atomics.store(kit.words(), DEAD, 1) },
      ],
      final: ({ results, look }) => {
        const taken = results['pool'] as readonly number[];
        return taken.includes(look(BEGUN)) ? `${look(BEGUN)} has begun, and was taken back` : undefined;
      },
    }),
  },
];
