// What the runtime has built in, asked for by name. An import statement would do, but Node makes a module of each that is imported,
// with all its names, in each thread: 1 to 2 ms of a worker's start (docs/decisions/0035). Node, Bun and Deno have `process` on the global object.

interface Builtins {
  'node:buffer': typeof import('node:buffer');
  'node:cluster': typeof import('node:cluster');
  'node:events': typeof import('node:events');
  'node:fs': typeof import('node:fs');
  'node:os': typeof import('node:os');
  'node:timers': typeof import('node:timers');
  'node:util': typeof import('node:util');
  'node:worker_threads': typeof import('node:worker_threads');
}

export const process: NodeJS.Process = globalThis.process;

export function builtin<N extends keyof Builtins>(name: N): Builtins[N] {
  return process.getBuiltinModule(name) as Builtins[N];
}

/** The class, for a bundler to drop where it is not used: reading a property could do anything, for all that it knows. */
export function bufferClass(): Builtins['node:buffer']['Buffer'] {
  return builtin('node:buffer').Buffer;
}
