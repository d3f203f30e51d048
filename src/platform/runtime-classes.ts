// Classes that are the runtime's and not the program's, though nothing shows it: written in JavaScript, and on no global object.
import { process } from './builtins.ts';

/** Modules of Node's that export classes to derive from. */
const MODULES = [
  'async_hooks',
  'child_process',
  'cluster',
  'console',
  'crypto',
  'dgram',
  'diagnostics_channel',
  'events',
  'fs',
  'http',
  'http2',
  'https',
  'net',
  'perf_hooks',
  'readline',
  'repl',
  'stream',
  'string_decoder',
  'tls',
  'tty',
  'url',
  'vm',
  'worker_threads',
  'zlib',
];

/** Those of modules that are loaded, where the runtime says which: to load all takes Node 30 ms, and who derives from a class has loaded its module. */
export function runtimeClasses(): ReadonlySet<unknown> {
  const { moduleLoadList: list } = process as { moduleLoadList?: readonly string[] };
  const classes: Set<unknown> = new Set();
  for (const name of MODULES) {
    if (list !== undefined && list.length > 0 && !list.includes(`NativeModule ${name}`)) continue;
    const exported: unknown = process.getBuiltinModule(`node:${name}`);
    if (exported === undefined || exported === null) continue;
    classes.add(exported);
    for (const { value } of Object.values(Object.getOwnPropertyDescriptors(exported))) {
      if (typeof value === 'function') classes.add(value);
    }
  }
  return classes;
}
