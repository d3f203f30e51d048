// What is tested with the addon in test/native/memory-channels.test.ts, over calls of libc, without it.
// watchdog: 120 s
// runtimes: bun, deno
// native: ffi
import './memory-channels.test.ts';
