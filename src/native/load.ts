// Finds the primitives: the addon for this machine, from the package of its platform, if that is installed, or as `npm run native` has built it beside these
// files; else, on Bun and Deno, the functions of libc. Nobody needs them: without there is a reason to give, and what they would have made better goes by sockets.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { env, platform as system } from 'node:process';
import { fileURLToPath } from 'node:url';
import { platform } from '#platform';
import { HERE } from '../platform/here.ts';
import { ffiPrimitives } from './ffi.ts';
import { platformName } from './platform-name.ts';
import type { Primitives } from './primitives.ts';

/** The primitives, and what `nativeFrom` takes in another thread; or why there are none. */
export type Native =
  | { readonly primitives: Primitives; readonly from: string }
  | { readonly primitives: undefined; readonly why: string };

/** Names a file to load in the addon's place, or says `ffi`, or `none`. */
const CHOICE = 'MILLRACE_NATIVE';
const FFI = 'ffi';

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

/**
 * The primitives that another thread of this process has found. A thread that is made of a text lies nowhere: from there no package is found.
 * @throws what the runtime says of what cannot be loaded
 */
export function nativeFrom(from: string): Primitives {
  if (from !== FFI) return createRequire(from)(from);
  const found = ffiPrimitives();
  if (typeof found === 'string') throw new Error(found);
  return found;
}

function find(): Native {
  if (system !== 'linux' && system !== 'darwin')
    return without(`memory of processes is written for Linux and macOS, and this is ${system}`);
  if (!may({ name: 'ffi' }) || !may({ name: 'sys', kind: 'uid' }))
    return without('this takes --allow-ffi, --allow-sys');
  const choice = may({ name: 'env', variable: CHOICE }) ? env[CHOICE] : undefined;
  if (choice === 'none') return without(`${CHOICE} says none`);
  if (choice === FFI) return foreign(`${CHOICE} says ffi`);
  const addon = findAddon(choice);
  return addon.primitives === undefined && choice === undefined ? foreign(addon.why) : addon;
}

function findAddon(choice: string | undefined): Native {
  if (!may({ name: 'read' })) return without('the addon takes --allow-read');
  const name = platformName();
  const require = createRequire(HERE);
  const from = choice === undefined ? [`@millrace/native-${name}`, ...built(name)] : [choice];
  let why = `@millrace/native-${name} is not installed`;
  for (const each of from) {
    try {
      const file = require.resolve(each);
      return { primitives: require(file), from: file };
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      // One that is there and cannot be loaded is the reason; that another is missing is none.
      if (code !== 'MODULE_NOT_FOUND' || choice !== undefined) why = `${each} cannot be loaded: ${message}`;
    }
  }
  return without(why);
}

/** @param why what would be better is not there */
function foreign(why: string): Native {
  if ((platform.name !== 'bun' && platform.name !== 'deno') || system !== 'linux') return without(why);
  try {
    const found = ffiPrimitives();
    return typeof found === 'string' ? without(`${why}; ${found}`) : { primitives: found, from: FFI };
  } catch (error) {
    return without(`${why}; libc cannot be called: ${(error as Error).message}`);
  }
}

function without(why: string): Native {
  return { primitives: undefined, why };
}

/** Where it is in the repository: from dist/lib/ and from dist/src/native/. */
function built(name: string): readonly string[] {
  return ['..', '../..']
    .map((up) => fileURLToPath(new URL(`${up}/native/${name}/millrace.node`, HERE)))
    .filter((file) => existsSync(file));
}

interface Permission {
  readonly name: string;
  readonly kind?: string;
  readonly variable?: string;
}
declare const Deno: { readonly permissions: { querySync(asked: Permission): { readonly state: string } } };

/** To ask Deno for what was not granted would stop a program and wait for somebody at the terminal. */
export function may(permission: Permission): boolean {
  return platform.name !== 'deno' || Deno.permissions.querySync(permission).state === 'granted';
}
