// A part of what `npm run test:neighbours` runs whole, on all runtimes: suites whose channels share their links with a hundred
// others.
// runtimes: node-24, bun, deno
import '../kit/with-neighbours.ts';
import '../property/port.test.ts';
import '../property/latest.test.ts';
import '../property/undelivered.test.ts';
import '../stress/faults.test.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { portConformance } from '../conformance/port.ts';
import { threadWorld } from '../conformance/thread-world.ts';
import { neighbourCount, neighboursHeard } from '../kit/neighbours.ts';
import { until } from '../kit/watchdog.ts';

portConformance(threadWorld('beside neighbours', {}));

test('the neighbours have talked all the while', async () => {
  assert.ok(neighbourCount > 0);
  await until('they go on', () => neighboursHeard() > 100);
});
