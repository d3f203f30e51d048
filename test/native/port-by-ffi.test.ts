// The port suite over memory that libc maps, without the addon.
// watchdog: 300 s
// runtimes: bun, deno
// native: ffi
import '../conformance/memory-port.test.ts';
