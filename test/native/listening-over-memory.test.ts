// What is tested over sockets in test/process/listening.test.ts, where values go through memory.
// watchdog: 300 s
// needs: native
import '../process/listening.test.ts';
