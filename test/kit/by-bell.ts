// Loaded in a thread it has its event loop woken by a bell, or says why not.
import assert from 'node:assert/strict';
import { wakeByBell } from '../../src/process/index.ts';

assert.deepEqual(wakeByBell(), { name: 'bell' });
