// What is tested with the addon in test/native/topic-hostile.test.ts, over memory that libc maps, without it.
// watchdog: 120 s
// runtimes: bun, deno
// native: ffi
import './topic-hostile.test.ts';
