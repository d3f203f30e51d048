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
