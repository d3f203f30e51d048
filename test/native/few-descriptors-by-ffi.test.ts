// What is tested by the addon in test/process/few-descriptors.test.ts, by calls of libc.
// runtimes: bun, deno
// native: ffi
import '../process/few-descriptors.test.ts';
