// What is tested with the addon in test/native/memory-hostile.test.ts, over memory that libc maps, without it.
// watchdog: 120 s
// runtimes: bun, deno
// native: ffi
import './memory-hostile.test.ts';
