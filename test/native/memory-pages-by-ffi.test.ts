// The same by calls of libc, without the addon.
// runtimes: bun, deno
// native: ffi
import './memory-pages.test.ts';
