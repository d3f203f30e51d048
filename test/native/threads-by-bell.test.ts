// What threads have to do with one another, where bells wake their event loops: links, ends, moves, and what is sent while all that goes on.
// watchdog: 300 s
// runtimes: node
// asked for: node-22, node-26
// needs: native
import '../kit/with-bells.ts';
import '../conformance/links.test.ts';
import '../conformance/shared-link.test.ts';
import '../conformance/moving-ports.test.ts';
import '../conformance/moving-crossed.test.ts';
import '../conformance/thread-exit.test.ts';
import '../conformance/select.test.ts';
import '../conformance/close-told-late.test.ts';
import '../conformance/late-order.test.ts';
import '../stress/faults.test.ts';
