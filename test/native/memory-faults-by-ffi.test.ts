// What is tested with the addon in test/native/memory-faults.test.ts, over calls of libc, without it.
// watchdog: 120 s
// runtimes: bun, deno
// native: ffi
import './memory-faults.test.ts';
