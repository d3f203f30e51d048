// Finds the addon for this machine: the package of its platform, if it is installed, or what `npm run native` has built beside these files.
// Nobody needs it: without it there is a reason to give, and what it would have made better goes by sockets.
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, env, platform as system } from 'node:process';
import { fileURLToPath } from 'node:url';
import { platform } from '#platform';
import type { Primitives } from './primitives.ts';

/** The addon, or why there is none. */
export type Native = { readonly primitives: Primitives } | { readonly primitives: undefined; readonly why: string };

/** Names a file to load in its place, or says `none`. */
const CHOICE = 'MILLRACE_NATIVE';

let found: Native | undefined;

/** Looked for once in a thread. Never asks anybody for a permission, and never throws. */
export function native(): Native {
  try {
    found ??= find();
    return found;
  } catch (error) {
    // As of a process that has all the descriptors it may: later it may be there.
    return without(`the addon cannot be looked for: ${(error as Error).message}`);
  }
}

function find(): Native {
  if (system !== 'linux') return without(`memory of processes is written for Linux, and this is ${system}`);
  if (platform.name === 'deno' && !mayLoad()) return without('this takes --allow-ffi, --allow-read and --allow-env');
  const choice = env[CHOICE];
  if (choice === 'none') return without(`${CHOICE} says none`);
  const name = platformName();
  const require = createRequire(import.meta.url);
  const from = choice === undefined ? [`@millrace/native-${name}`, ...built(name)] : [choice];
  let why = `@millrace/native-${name} is not installed`;
  for (const each of from) {
    try {
      return { primitives: require(each) };
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      // One that is there and cannot be loaded is the reason; that another is missing is none.
      if (code !== 'MODULE_NOT_FOUND' || choice !== undefined) why = `${each} cannot be loaded: ${message}`;
    }
  }
  return without(why);
}

function without(why: string): Native {
  return { primitives: undefined, why };
}

/** As packages and folders are named: `linux-x64`, `linux-arm64-musl`. */
function platformName(): string {
  const musl = existsSync('/lib') && readdirSync('/lib').some((name) => name.startsWith('ld-musl-'));
  return `${system}-${arch}${musl ? '-musl' : ''}`;
}

/** Where it is in the repository: from dist/lib/ and from dist/src/native/. */
function built(name: string): readonly string[] {
  return ['..', '../..']
    .map((up) => fileURLToPath(new URL(`${up}/native/${name}/millrace.node`, import.meta.url)))
    .filter((file) => existsSync(file));
}

interface Permissions {
  querySync(asked: { readonly name: string }): { readonly state: string };
}
declare const Deno: { readonly permissions: Permissions };

/** To ask for what was not granted would stop a program and wait for somebody at the terminal. */
function mayLoad(): boolean {
  return ['ffi', 'read', 'env'].every((name) => Deno.permissions.querySync({ name }).state === 'granted');
}
