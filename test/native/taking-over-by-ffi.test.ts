// What test/process/taking-over.test.ts asks of addresses that change hands, of Bun that calls libc itself.
// runtimes: bun
// native: ffi
import '../process/taking-over.test.ts';
