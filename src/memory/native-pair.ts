// The native ports that go with a channel between threads: what each is for says transport/thread/thread-link.ts.
import { platform } from '#platform';
import type { NativePort } from '../platform/contract.ts';

/** The two native ports that one end of a channel holds. */
export interface NativePair {
  readonly tether: NativePort;
  readonly side: NativePort;
}

/** The native ports of both ends. */
export function createNatives(): { readonly near: NativePair; readonly far: NativePair } {
  const [tether0, tether1] = platform.messageChannel();
  const [side0, side1] = platform.messageChannel();
  return { near: { tether: tether0, side: side0 }, far: { tether: tether1, side: side1 } };
}

/**
 * A port that came in a message, as an object that nobody else has. If its other side has closed it may have closed by itself since, on
 * Node, and tells nobody who listens later: another one that is closed stands in for it, and does.
 */
export function renewed(port: NativePort): NativePort {
  return platform.moveHere([port])?.[0] ?? closedPort();
}
function closedPort(): NativePort {
  const [port, other] = platform.messageChannel();
  other.close();
  return port;
}
/** The same for the two of an end. */
export function renewedPair(pair: NativePair): NativePair {
  if (!platform.movesWhole) return pair;
  return { tether: renewed(pair.tether), side: renewed(pair.side) };
}
