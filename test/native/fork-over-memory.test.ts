// What is tested over sockets in test/process/fork.test.ts, where values go through memory.
// watchdog: 300 s
// asked for: node-22, node-26
// needs: native
import '../process/fork.test.ts';
