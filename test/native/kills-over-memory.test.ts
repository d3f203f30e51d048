// Processes killed in the middle of their work, where values go through memory.
// watchdog: 300 s
// needs: native
import { killsOver } from '../stress/kill-tests.ts';

killsOver('memory');
