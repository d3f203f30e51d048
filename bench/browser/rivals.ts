// The rivals' modules for a server of pages, at the addresses that measure/rivals.ts asks for.
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rivalUrl } from '../subjects/rival.ts';

/** Below it, `comlink.js` and `sab-message-port.js`. */
export const RIVALS_AT = '/bench/browser/rival/';

export interface Answer {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/**
 * What to answer to a path below `RIVALS_AT`; undefined for others, and for what is not here.
 * @param original main file of sab-message-port; without it the stand-in of bench/subjects/stand-ins takes its seat
 */
export function rivalAnswer(path: string, original: string | undefined): Answer | undefined {
  if (!path.startsWith(RIVALS_AT)) return undefined;
  const name = path.slice(RIVALS_AT.length);
  if (name === 'comlink.js') {
    const url = rivalUrl('comlink', 'dist/esm/comlink.mjs');
    return url === undefined ? undefined : fileAnswer(fileURLToPath(url));
  }
  if (name === 'sab-message-port.js') {
    // An address of its own, for what it imports beside itself.
    return original === undefined
      ? moved('/bench/subjects/stand-ins/sab-message-port.js')
      : moved(`${RIVALS_AT}original/${basename(original)}`);
  }
  if (original === undefined || !name.startsWith('original/')) return undefined;
  return fileAnswer(join(dirname(resolve(original)), name.slice('original/'.length)));
}

const moved = (to: string): Answer => ({ status: 302, headers: { Location: to } });

function fileAnswer(path: string): Answer | undefined {
  if (!existsSync(path)) return undefined;
  return { headers: { 'Content-Type': 'text/javascript' }, body: readFileSync(path) };
}
