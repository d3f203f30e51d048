// The doors as the package ships them: the files that its `exports` name for this runtime, found as an importer's runtime
// finds them. Benchmarks load these and not the modules of src/, which may be bundled on their way into the package.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './machine.ts';

/** What `import` asks for here. `types` and `browser` are for others. */
const CONDITIONS: ReadonlySet<string> = new Set([
  'import',
  'default',
  'node',
  ...(process.versions['bun'] ? ['bun'] : []),
  ...(process.versions['deno'] ? ['deno'] : []),
]);

type Entry = string | null | { readonly [condition: string]: Entry };

/** The first target whose conditions hold, in the order in which package.json has them. */
export function targetOf(entry: Entry | undefined): string | undefined {
  if (typeof entry === 'string') return entry;
  for (const [condition, inner] of Object.entries(entry ?? {})) {
    const found = CONDITIONS.has(condition) ? targetOf(inner) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

const { exports: entries } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Readonly<Record<string, Entry>>;
};

/** The names behind `millrace`: `.`, `./ring` ... */
export const doorNames: readonly string[] = Object.keys(entries).filter((name) => !/\.(json|js)$/.test(name));

/** The URL of the file that `import 'millrace<name>'` loads. */
export function doorUrl(name: string): string {
  const target = targetOf(entries[name]);
  if (target === undefined) throw new Error(`package.json exports no ${name} for this runtime`);
  return pathToFileURL(join(root, target)).href;
}

/** A door, as `import 'millrace<name>'` gives it. */
export async function openDoor<T>(name: string): Promise<T> {
  return (await import(doorUrl(name))) as T;
}
