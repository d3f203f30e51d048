// What is tested over sockets in test/process/fresh-eyes.test.ts, where values go through memory.
// watchdog: 300 s
// needs: native
import '../process/fresh-eyes.test.ts';
