// The primitives without an addon, on Bun and Deno: the functions of libc, called by the runtime. Nothing is compiled, nothing installed.
import { descriptorCalls } from './ffi-descriptors.ts';
import { libc as openLibc } from './ffi-libc.ts';
import { memoryCalls } from './ffi-memory.ts';
import { socketCalls } from './ffi-sockets.ts';
import type { Primitives } from './primitives.ts';

/** This thread's, or why there are none. @throws what the runtime says of a library that it cannot load */
export function ffiPrimitives(): Primitives | string {
  const libc = openLibc();
  return typeof libc === 'string' ? libc : { ...memoryCalls(libc), ...socketCalls(libc), ...descriptorCalls(libc) };
}
