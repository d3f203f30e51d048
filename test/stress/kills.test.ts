// Processes killed in the middle of their work, each with a connection over every kind of socket: 3 on each runtime. With those of
// native/kills-over-memory.test.ts, over the four runtimes of a CI run, there are 112 over each socket and 100 over memory; 1,000 over each with `npm run
// kills`. The seed is printed; SEED repeats a run, CASE one of its kills.
// watchdog: 300 s
// asked for: node-22, node-26
import { SOCKETS } from './kill-round.ts';
import { killsOver } from './kill-tests.ts';

killsOver(SOCKETS.join('+'), 3);
