// What a killed peer might leave behind in this process and on this machine. Known on Linux only, where the system lists it.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

declare const Bun: { gc(sync: boolean): void } | undefined;

/** Memory that was mapped is given back with the objects that lead there. */
export function collect(): void {
  if (typeof Bun !== 'undefined') {
    Bun.gc(true);
    return;
  }
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

export interface Belongings {
  /** Descriptors of this process, each by what it leads to. */
  readonly descriptors: readonly string[];
  /** Memory that it shares, by name. */
  readonly segments: readonly string[];
  readonly files: readonly string[];
}

/** @param folder of sockets */
export function belongings(folder: string): Belongings {
  const linux = existsSync('/proc/self/maps');
  return {
    descriptors: linux
      ? readdirSync('/proc/self/fd')
          .map(leadsTo)
          .filter((it) => it !== '')
          .sort()
      : [],
    segments: linux ? (readFileSync('/proc/self/maps', 'utf8').match(/\/(?:memfd:|dev\/shm\/).*/g) ?? []).sort() : [],
    files: [...readdirSync(folder), ...(linux ? readdirSync('/dev/shm').filter((name) => /millrace/.test(name)) : [])],
  };
}
function leadsTo(descriptor: string): string {
  try {
    // Numbers of sockets and pipes are new ones each time.
    return readlinkSync(`/proc/self/fd/${descriptor}`).replace(/\d+/g, '');
  } catch {
    // The one by which the folder was read.
    return '';
  }
}

/** How many more there are, of each kind. */
export function more(before: Belongings, after: Belongings): { readonly [kind in keyof Belongings]: number } {
  return {
    descriptors: after.descriptors.length - before.descriptors.length,
    segments: after.segments.length - before.segments.length,
    files: after.files.length - before.files.length,
  };
}
