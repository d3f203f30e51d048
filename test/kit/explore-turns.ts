// A model checker for code that lives on event loops and talks by messages: a step is a whole turn of one thread, and nothing
// happens within it. For what is read and written between two turns there is explore.ts.
//
// The world is made anew for each path and walks it from the start: real objects cannot be copied. Breadth first, so that the
// trace of a failure is a shortest one; states that look alike are one.
import { createHash } from 'node:crypto';
import type { Exploration } from './explore.ts';

export interface World {
  /** What may happen next, by name. Nothing else decides what it does. */
  moves(): readonly string[];
  step(move: string): void;
  /** All that the future depends on. */
  key(): string;
  /** What is wrong now, or nothing. */
  wrong(): string | undefined;
  /** What is wrong if nothing more happens, or nothing. */
  unfinished(): string | undefined;
  /** What this ending is, for people. */
  outcome(): string;
}

export interface TurnModel {
  make(): World;
  readonly statesMax?: number;
}

interface Place {
  readonly before: Place | undefined;
  readonly move: string;
  readonly key: string;
}

const STATES_MAX = 300_000;

export function exploreTurns(model: TurnModel): Exploration {
  const { statesMax = STATES_MAX } = model;
  const seen = new Set<string>();
  const outcomes = new Set<string>();
  let steps = 0;
  let endings = 0;
  let runs = 0;

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

  const start: Place = { before: undefined, move: '', key: digest(model.make()) };
  let level = [start];
  seen.add(start.key);
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
      let world: World | undefined = arrive();
      let leads = false;
      for (const move of world.moves()) {
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
        const key = digest(world);
        world = undefined;
        if (key !== place.key) leads = true;
        if (seen.has(key)) continue;
        seen.add(key);
        if (seen.size > statesMax) return result({ kind: 'limit', message: `more than ${statesMax} states` }, trace);
        next.push({ before: place, move, key });
      }
      if (leads) continue;
      endings++;
      const end = arrive();
      outcomes.add(end.outcome());
      const unfinished = end.unfinished();
      if (unfinished !== undefined) return result({ kind: 'stuck', message: unfinished }, path);
    }
    level = next;
  }
  return result(undefined, []);
}

function pathTo(place: Place): string[] {
  const path: string[] = [];
  for (let at = place; at.before !== undefined; at = at.before) path.push(at.move);
  return path.reverse();
}

function digest(world: World): string {
  return createHash('sha1').update(world.key()).digest('base64');
}
