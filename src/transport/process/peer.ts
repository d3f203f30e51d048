// Whose process has connected to a unix socket, where the addon is there to ask the system.
import type { Socket } from 'node:net';
import { getuid } from 'node:process';
import { platform } from '#platform';
import { native } from '../../native/load.ts';

/** The system's own user, which may do to this process whatever it likes. */
const ROOT = 0;

/**
 * False of another user's process, which may have come here by a mode that somebody has changed, or with a descriptor that it was passed. True also
 * where nobody can tell: without the addon, and on Deno, whose descriptors are not the system's.
 */
export function isAllowed(socket: Socket): boolean {
  const { primitives } = native();
  const { fd } = (socket as unknown as { _handle?: { readonly fd?: number } })._handle ?? {};
  if (primitives === undefined || fd === undefined || fd < 0 || platform.name === 'deno') return true;
  try {
    const { uid } = primitives.peerCredentials(fd);
    return uid === getuid?.() || uid === ROOT;
  } catch {
    // As of one that has gone already.
    return false;
  }
}
