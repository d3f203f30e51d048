// What is tested over sockets in test/process/blocking.test.ts, where values go through memory.
// watchdog: 300 s
// needs: native
import '../process/blocking.test.ts';
