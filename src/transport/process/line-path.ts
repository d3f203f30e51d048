// Where a line of descriptors is listened for. On Linux that is a name without a file, of which nothing can be left over; on systems that have no such
// names it is a file among the user's temporary ones, and gone once the two have met.
import { unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { platform as system } from 'node:process';
import { LayoutError } from '../../errors.ts';

/**
 * @param name as it is said in a greeting
 * @throws LayoutError another process has said what is no file of that folder: it could have us connect to anything
 */
export function linePath(name: string): string {
  if (system === 'linux') return `\0${name}`;
  if (!name.startsWith('millrace-') || basename(name) !== name)
    throw new LayoutError('Cannot share memory: the other side has named no place', { value: name });
  return join(tmpdir(), name);
}

/** Nobody is to come there any more. */
export function leaveLine(path: string): void {
  if (system === 'linux') return;
  try {
    unlinkSync(path);
  } catch {
    // Whoever cleans up there was quicker.
  }
}
