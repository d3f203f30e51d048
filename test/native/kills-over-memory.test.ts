// Processes killed in the middle of their work, each with a connection through memory and one over every kind of socket.
// watchdog: 300 s
// asked for: node-22, node-26
// needs: native
import { SOCKETS } from '../stress/kill-round.ts';
import { killsOver } from '../stress/kill-tests.ts';

killsOver([...SOCKETS, 'memory'].join('+'), 25);
