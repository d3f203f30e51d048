// What is tested over sockets in test/process/fork.test.ts, where values go through memory that libc maps, without the addon.
// watchdog: 300 s
// runtimes: bun, deno
// native: ffi
import '../process/fork.test.ts';
