// Who hears what, against what the pattern says by itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases, Random, seed } from '../../test/kit/prng.ts';
import { Subjects } from './subjects.ts';

interface Seat {
  readonly pattern: string;
  readonly together: boolean;
  readonly takes: boolean;
}
const PARTS = ['a', 'b', 'c', 'dd'];

function matches(pattern: string, subject: string): boolean {
  const [want, have] = [pattern.split('.'), subject.split('.')];
  for (const [i, part] of want.entries()) {
    if (part === '>' && i === want.length - 1) return have.length > i;
    if (have[i] === undefined || (part !== '*' && part !== have[i])) return false;
  }
  return want.length === have.length;
}

/** Node 20 has no Map.groupBy. */
function groupedBy(seats: readonly Seat[], by: (seat: Seat) => string): Map<string, Seat[]> {
  const groups = new Map<string, Seat[]>();
  for (const seat of seats) groups.set(by(seat), [...(groups.get(by(seat)) ?? []), seat]);
  return groups;
}

test('all of a subject hear it, and of those who have it together one that takes it, each in turn', () => {
  for (let round = 0; round < cases(200, 20_000); round++) {
    const random = new Random(seed + round);
    const subjects = new Subjects<Seat>();
    const seats = new Set<Seat>();
    const subject = (wild: boolean): string => {
      const parts = Array.from({ length: random.int(1, 4) }, () =>
        wild && random.int(0, 3) === 0 ? '*' : (PARTS[random.int(0, PARTS.length - 1)] as string),
      );
      return (wild && random.int(0, 3) === 0 ? [...parts, '>'] : parts).join('.');
    };
    for (let step = 0; step < 100; step++) {
      const [first] = seats;
      if (random.int(0, 4) === 0 && first !== undefined) {
        seats.delete(first);
        subjects.remove(first.pattern, first);
        subjects.remove(first.pattern, first);
      } else if (random.int(0, 1) === 0) {
        const seat = { pattern: subject(true), together: random.int(0, 1) === 0, takes: random.int(0, 5) > 0 };
        seats.add(seat);
        subjects.add(seat.pattern, seat, seat.together);
      } else {
        const said = subject(false);
        const heard: Seat[] = [];
        const told = subjects.each(said, (seat) => seat.takes && heard.push(seat) > 0);
        const wanted = [...seats].filter(({ pattern }) => matches(pattern, said));
        const alone = wanted.filter(({ together, takes }) => !together && takes);
        assert.deepEqual(
          new Set(heard.filter(({ together }) => !together)),
          new Set(alone),
          `${said}, seed ${seed + round}`,
        );
        const groups = groupedBy(
          wanted.filter(({ together }) => together),
          ({ pattern }) => pattern,
        );
        for (const [pattern, group] of groups) {
          const chosen = heard.filter((seat) => seat.together && seat.pattern === pattern);
          assert.equal(chosen.length, group.some(({ takes }) => takes) ? 1 : 0, `${said}, seed ${seed + round}`);
        }
        // Those that have it together and take nothing, all of them, are nobody.
        const taken = [...groups.values()].filter((group) => group.some(({ takes }) => takes)).length;
        assert.equal(told, wanted.filter(({ together }) => !together).length + taken);
      }
    }
  }
});

test('each of those who have a subject together has its turn', () => {
  const subjects = new Subjects<string>();
  for (const seat of ['one', 'two', 'three']) subjects.add('a.b', seat, true);
  const heard: string[] = [];
  for (let i = 0; i < 6; i++) subjects.each('a.b', (seat) => heard.push(seat) > 0);
  assert.deepEqual(heard, ['one', 'two', 'three', 'one', 'two', 'three']);
});
