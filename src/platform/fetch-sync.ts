// A worker that waits for an answer over HTTP: how a service worker brings what it reads while it stands still (transport/native/sync-reads.ts).
import { ANSWER_HEADER, READ_PATH } from '../limits.ts';
import type { SyncAnswer } from './contract.ts';

/** Pages have XMLHttpRequest, too, and must not wait; a service worker has none. */
export function fetchesSync(): boolean {
  return 'XMLHttpRequest' in globalThis && !('document' in globalThis);
}
/** An address comes in a handle, which may be of another origin's making: what is not ours is not asked, nor any other address of our own server, with our cookies. */
export function fetchSync(url: string): SyncAnswer | undefined {
  if (!url.startsWith(`${globalThis.origin}/`) || !new URL(url).pathname.endsWith(READ_PATH)) return undefined;
  const request = new XMLHttpRequest();
  request.open('GET', url, false);
  request.responseType = 'arraybuffer';
  try {
    request.send();
  } catch {
    return undefined;
  }
  const { status, response } = request;
  return { status, ours: request.getResponseHeader(ANSWER_HEADER) !== null, bytes: new Uint8Array(response ?? 0) };
}
