// The port suite between threads whose event loops are woken by bells.
// watchdog: 300 s
// runtimes: node
// asked for: node-22
// needs: native
import '../kit/with-bells.ts';
import '../conformance/thread-port.test.ts';
