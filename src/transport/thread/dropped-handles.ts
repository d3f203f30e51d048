// Handles that nobody will attach: who has the other end is told.
import { platform } from '#platform';
import { EndTeller } from '../../lane/end-teller.ts';
import { claimSide, type Remote } from '../../memory/handshake.ts';
import * as layout from '../../memory/layout.ts';
import { sharedParking } from '../../wait/parking.ts';
import type { Invitation } from './invitation.ts';

/** A handle that this thread made, as far as it can be told of when it is garbage. */
interface DroppedHandle {
  readonly words: Int32Array;
  readonly end: 0 | 1;
  readonly invitation: Invitation;
}

const droppedHandles = new FinalizationRegistry<DroppedHandle>(({ words, end, invitation }) => {
  // Handed on, or attached here: it is somebody else's.
  const natives = invitation.takeBack();
  if (natives === undefined || !claimSide(words, end, 2)) return;
  const teller = EndTeller.of(words, end, natives, sharedParking(platform.asyncPark));
  teller.tell('dropped', 0);
  teller.closeLines();
});

/** Tells the other end when a handle that this thread made is garbage before it was handed over or attached. */
export function watchHandle(remote: Remote, invitation: Invitation): Remote {
  const { end, memory, texts } = remote;
  // Copies of the handle share its `texts`, and its transfer list keeps them: one of the three is enough to hand it over.
  droppedHandles.register(texts, { words: new Int32Array(memory, 0, layout.DATA), end, invitation });
  return remote;
}
