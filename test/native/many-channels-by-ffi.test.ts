// What is tested with the addon in test/process/many-channels.test.ts, over memory that libc maps, without it.
// watchdog: 120 s
// runtimes: bun, deno
// native: ffi
import '../process/many-channels.test.ts';
