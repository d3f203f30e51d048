// A model checker for code that lives on event loops and talks by messages: a step is a whole turn of one thread, and nothing
// happens within it. For what is read and written between two turns there is explore.ts.
//
// The world is made anew for each path and walks it from the start: real objects cannot be copied. Breadth first, so that the
// trace of a failure is a shortest one; states that look alike are one.
import type { Exploration } from './explore.ts';

export interface World {
  /** What may happen next, by name. Nothing else decides what it does. */
  moves(): readonly string[];
  step(move: string): void;
  /** All that the future depends on, in a short text. */
  key(): string;
  /** What is wrong now, or nothing. */
  wrong(): string | undefined;
  /** What is wrong if nothing more happens, or nothing. */
  unfinished(): string | undefined;
  /** What this ending is, for people. */
  outcome(): string;
  /** What the last step has looked at and changed, if the world can say. */
  touched?(): Touched | undefined;
}

/**
 * Things of a world, each by a number that is the same in all worlds which have come the same way. Two steps of which neither has
 * changed what the other one has looked at or changed come to the same in either order.
 */
export interface Touched {
  readonly read: ReadonlySet<number>;
  readonly changed: ReadonlySet<number>;
}

export interface TurnModel {
  make(): World;
  readonly statesMax?: number;
}

interface Place {
  readonly before: Place | undefined;
  readonly move: string;
  /** What became of the moves that were made here. */
  readonly edges: Map<string, Edge>;
  /** A world that is here now, until somebody moves on with it. */
  world: World | undefined;
}

interface Edge {
  readonly to: Place;
  readonly touched: Touched | undefined;
}

const STATES_MAX = 300_000;
/** Worlds that are kept where they are: some tens of kilobytes each. */
const WORLDS_MAX = 2000;

export function exploreTurns(model: TurnModel): Exploration {
  const { statesMax = STATES_MAX } = model;
  const seen = new Map<string, Place>();
  const outcomes = new Set<string>();
  let steps = 0;
  let endings = 0;
  let runs = 0;
  let worlds = 0;

  const result = (failure: Exploration['failure'], trace: readonly string[]): Exploration => ({
    failure,
    states: seen.size,
    steps,
    endings,
    outcomes: [...outcomes].sort(),
    localStates: 0,
    runs,
    trace,
  });

  const begin = model.make();
  const start: Place = { before: undefined, move: '', edges: new Map(), world: undefined };
  seen.set(begin.key(), start);
  let level = [start];
  while (level.length > 0) {
    const next: Place[] = [];
    for (const place of level) {
      const path = pathTo(place);
      const arrive = (): World => {
        runs++;
        const world = model.make();
        for (const move of path) world.step(move);
        return world;
      };
      // One walk for the first move, and to see what the others are.
      if (place.world !== undefined) worlds--;
      let world: World | undefined = place.world ?? arrive();
      place.world = undefined;
      let leads = false;
      for (const move of world.moves()) {
        const known = sameInOtherOrder(place, move);
        if (known !== undefined) {
          steps++;
          place.edges.set(move, known);
          if (known.to !== place) leads = true;
          continue;
        }
        world ??= arrive();
        const trace = [...path, move];
        try {
          world.step(move);
          steps++;
          const wrong = world.wrong();
          if (wrong !== undefined) return result({ kind: 'invariant', message: wrong }, trace);
        } catch (error) {
          return result({ kind: 'threw', message: String((error as Error)?.stack ?? error) }, trace);
        }
        const key = world.key();
        let to = seen.get(key);
        if (to === undefined) {
          to = { before: place, move, edges: new Map(), world: undefined };
          seen.set(key, to);
          if (seen.size > statesMax) return result({ kind: 'limit', message: `more than ${statesMax} states` }, trace);
          next.push(to);
          if (worlds < WORLDS_MAX) {
            worlds++;
            to.world = world;
          }
        }
        if (to !== place) leads = true;
        place.edges.set(move, { to, touched: world.touched?.() });
        world = undefined;
      }
      if (leads) continue;
      endings++;
      const end = world ?? arrive();
      outcomes.add(end.outcome());
      const unfinished = end.unfinished();
      if (unfinished !== undefined) return result({ kind: 'stuck', message: unfinished }, path);
    }
    level = next;
  }
  return result(undefined, []);
}

/**
 * Where a move leads that could have been made before the last one, `last`, and does not depend on it: there `last` was made behind
 * it, and came to the same place.
 */
function sameInOtherOrder({ before, move: last }: Place, move: string): Edge | undefined {
  const first = before?.edges.get(move);
  if (first === undefined || !independent(first.touched, before?.edges.get(last)?.touched)) return undefined;
  const then = first.to.edges.get(last);
  return then && { to: then.to, touched: first.touched };
}

function independent(a: Touched | undefined, b: Touched | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  for (const thing of a.changed) if (b.changed.has(thing) || b.read.has(thing)) return false;
  for (const thing of b.changed) if (a.read.has(thing)) return false;
  return true;
}

function pathTo(place: Place): string[] {
  const path: string[] = [];
  for (let at = place; at.before !== undefined; at = at.before) path.push(at.move);
  return path.reverse();
}
