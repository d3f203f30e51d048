// Processes killed in the middle of their work, over each transport: 36 on each runtime in CI, 1,000 over each with `npm run kills`. The seed is
// printed; SEED repeats a run, CASE one of its kills.
// watchdog: 300 s
// asked for: node-22, node-26
import { SOCKETS } from './kill-round.ts';
import { killsOver } from './kill-tests.ts';

for (const transport of SOCKETS) killsOver(transport);
