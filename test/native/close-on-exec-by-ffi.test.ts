// What test/native/close-on-exec.test.ts asks of the addon, of libc.
// runtimes: bun, deno
// native: ffi
import './close-on-exec.test.ts';
