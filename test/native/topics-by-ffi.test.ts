// What is tested with the addon in test/process/topics.test.ts, by libc without it.
// watchdog: 240 s
// runtimes: bun, deno
// native: ffi
import '../process/topics.test.ts';
