// Smoke: every scenario runs with every contender that is here, and both ends agree. Nothing is judged by its speed.
// Of the Nodes the one that the recorded results are of; isolate.test.ts and cli.test.ts start the program on the oldest, too.
// asked for: node-20, node-22, node-26
// watchdog: 300 s
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { measure } from './cli.ts';
import type { Setting } from './contest.ts';
import { describeContenders, describedIn, docPath } from './describe.ts';
import { scenarios } from './scenarios/list.ts';
import { allCallSubjects } from './subjects/call-list.ts';
import { allThreadSubjects } from './subjects/list.ts';
import { allProcessSubjects } from './subjects/process-list.ts';

const setting: Setting = { size: 'smoke', subjects: [], payloads: [], options: {} };

for (const scenario of scenarios) {
  // A derived table is another's samples in another unit.
  if (scenario.derived) continue;
  test(`the scenario ${scenario.name} runs in smoke size and every contender delivers what was sent`, async () => {
    const wishes = { scenarios: [scenario], setting, rounds: undefined, command: '' };
    const results = await measure(wishes, () => {});
    for (const { subject, reason, remedy } of results.absent)
      console.log(`absent: ${subject}: ${reason} (${remedy ?? ''})`);
    const found = results.scenarios[0];
    if (!found) {
      console.log(`no contender of ${scenario.name} is here`);
      return;
    }
    for (const row of found.rows) {
      for (const result of row.results) {
        assert.equal(
          result.checked,
          true,
          `${scenario.name}, ${row.label}, ${result.subject}: ${result.note ?? 'checksum differs'}`,
        );
        assert.ok(result.samples.length > 0);
      }
    }
  });
}

test('docs/benchmarks.md says of every contender how it is used', async () => {
  const described = describedIn(readFileSync(docPath, 'utf8'));
  assert.equal(described, await describeContenders(), 'run `node dist/bench/describe.js` after a build');
});

test('docs/benchmarks.md says of every contender where it wins', async () => {
  const section = /^## Where each wins\n([\s\S]*?)^## /m.exec(readFileSync(docPath, 'utf8'))![1]!;
  for (const { name } of [
    ...(await allThreadSubjects()),
    ...(await allCallSubjects()),
    ...(await allProcessSubjects()),
  ]) {
    assert.ok(section.includes(`\`${name}\``), name);
  }
});
