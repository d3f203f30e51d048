// What ties two ends together, over native ports of a test's own: nothing of it joins a link.

import * as layout from '../../src/memory/layout.ts';
import type { NativePair } from '../../src/memory/native-pair.ts';
import type { TieEvents } from '../../src/transport/ring/tie.ts';
import { ThreadLink } from '../../src/transport/thread/thread-link.ts';
import { ThreadTie } from '../../src/transport/thread/thread-tie.ts';
import { sharedParking } from '../../src/wait/parking.ts';

const NOBODY: TieEvents = { arrived(): void {}, closed(): void {} };

export function tieOver(natives: NativePair, events: TieEvents = NOBODY): ThreadTie {
  const words = new Int32Array(new SharedArrayBuffer(layout.DATA * 4));
  const side = { words, here: layout.SIDE_0, there: layout.SIDE_1 };
  return new ThreadTie(
    new ThreadLink(natives),
    undefined,
    side,
    { parking: sharedParking('doorbell'), life: null },
    events,
  );
}
