// Processes killed in the middle of their work, where values go through memory.
// watchdog: 300 s
// asked for: node-22, node-26
// needs: native
import { killsOver } from '../stress/kill-tests.ts';

killsOver('memory');
