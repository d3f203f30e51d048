// `npm run model`: every model with the number of its states, every mutant with the model that caught it and how.
//
//   npm run model -- park        only models and mutants whose line contains the text
import process from 'node:process';
import { checkModel, checkMutant, models } from './check.ts';
import { mutants } from './mutants.ts';
import { loadShipped } from './shipped.ts';

const only = process.argv[2] ?? '';
const shipped = await loadShipped();
const begin = Date.now();
let failures = 0;
let states = 0;
let steps = 0;

const seconds = (since: number): string => `${((Date.now() - since) / 1000).toFixed(1)} s`;
const count = (value: number): string => value.toLocaleString('en-US').padStart(10);

console.log('model                                             states      steps    endings   code runs');
for (const model of models) {
  if (!model.name.includes(only)) continue;
  const start = Date.now();
  try {
    const result = await checkModel(model, shipped);
    states += result.states;
    steps += result.steps;
    const numbers = [result.states, result.steps, result.endings, result.runs].map(count).join(' ');
    console.log(`${model.name.padEnd(44)} ${numbers}  ${seconds(start)}`);
  } catch (error) {
    failures++;
    console.log(`FAILED ${error instanceof Error ? error.message : String(error)}`);
  }
}
console.log(`${'all models'.padEnd(44)} ${count(states)} ${count(steps)}${' '.repeat(22)}  ${seconds(begin)}`);

let caught = 0;
const chosen = mutants.filter((mutant) => `${mutant.name} ${mutant.caughtBy}`.includes(only));
console.log('\nmutant');
for (const mutant of chosen) {
  try {
    const result = await checkMutant(mutant);
    caught++;
    const how = (result.failure?.message ?? '').split('\n')[0];
    console.log(`caught  ${mutant.name}\n        by "${mutant.caughtBy}" after ${result.states} states: ${how}`);
  } catch (error) {
    failures++;
    console.log(`FAILED  ${error instanceof Error ? error.message : String(error)}`);
  }
}
console.log(`\n${caught} of ${chosen.length} mutants caught, ${failures} failures, ${seconds(begin)}`);
if (failures > 0) process.exitCode = 1;
