// Runs models and mutants and says what came of it.
import { type Exploration, explore } from '../kit/explore.ts';
import { exploreTurns } from '../kit/explore-turns.ts';
import { annexModels } from './annex.model.ts';
import { claimsModels } from './claims.model.ts';
import { joiningModels } from './joining.model.ts';
import { latestModels } from './latest.model.ts';
import { linkModels } from './link.model.ts';
import type { Mutant } from './mutants.ts';
import { relearnModels } from './relearn.model.ts';
import { ringModels } from './ring.model.ts';
import { loadShipped, type Shipped } from './shipped.ts';
import { signalModels } from './signal.model.ts';
import type { NamedModel } from './stage.ts';
import { threadModels } from './thread.model.ts';
import { topicModels } from './topic.model.ts';

/** Lines of a trace; a longer one comes from an exploration that went astray. */
const TRACE_LINES_MAX = 150;

export const models: readonly NamedModel[] = [
  ...ringModels,
  ...annexModels,
  ...latestModels,
  ...signalModels,
  ...linkModels,
  ...joiningModels,
  ...threadModels,
  ...relearnModels,
  ...topicModels,
  ...claimsModels,
];

/** @throws Error with the trace when the model fails, or reaches less than it should */
export async function checkModel(model: NamedModel, shipped: Shipped): Promise<Exploration> {
  const result = await explored(model, shipped);
  if (result.failure !== undefined) {
    const steps = story(result.trace);
    throw new Error(`${model.name}: ${result.failure.kind}: ${result.failure.message}\n${steps}`);
  }
  for (const wanted of model.reaches ?? []) {
    if (!result.outcomes.some((outcome) => wanted.test(outcome))) {
      throw new Error(
        `${model.name}: no interleaving ends with ${wanted}, only with\n    ${result.outcomes.join('\n    ')}`,
      );
    }
  }
  return result;
}

/** @throws Error when the mutant survives, or is caught in another way than its table says */
export async function checkMutant(mutant: Mutant): Promise<Exploration> {
  const model = models.find(({ name }) => name === mutant.caughtBy);
  if (model === undefined) throw new Error(`no model is called "${mutant.caughtBy}"`);
  const result = await explored(model, await loadShipped([mutant]), 200_000);
  if (result.failure?.kind !== mutant.as) {
    const found =
      result.failure === undefined
        ? `survived ${result.states} states`
        : `${result.failure.kind}: ${result.failure.message}`;
    throw new Error(
      `the mutant "${mutant.name}" should fail "${model.name}" as ${mutant.as}, but: ${found}\n${story(result.trace)}`,
    );
  }
  return result;
}

async function explored(model: NamedModel, shipped: Shipped, statesMax?: number): Promise<Exploration> {
  const made = model.make(shipped);
  const limits = statesMax === undefined ? {} : { statesMax };
  return 'actors' in made ? await explore({ ...made, ...limits }) : exploreTurns({ ...made, ...limits });
}

function story(trace: readonly string[]): string {
  const left = trace.length - TRACE_LINES_MAX;
  const lines = left > 0 ? [`(${left} lines left out)`, ...trace.slice(left)] : trace;
  return lines.map((line) => `    ${line}`).join('\n');
}
