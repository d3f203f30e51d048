// What is tested over sockets in test/process/listening.test.ts, where values go through memory.
// watchdog: 300 s
// asked for: node-22, node-26
// needs: native
import '../process/listening.test.ts';
