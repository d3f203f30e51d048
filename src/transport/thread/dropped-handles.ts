// Handles that nobody will attach: who has the other end is told.
import type { Remote } from '../../memory/handle.ts';
import * as layout from '../../memory/layout.ts';
import { claimSide } from '../../memory/sides.ts';
import type { Invitation } from './invitation.ts';
import { endUnused } from './unopened-end.ts';

/** A handle that this thread made, as far as it can be told of when it is garbage. */
interface DroppedHandle {
  readonly words: Int32Array;
  readonly end: 0 | 1;
  readonly invitation: Invitation;
}

const droppedHandles = new FinalizationRegistry<DroppedHandle>(({ words, end, invitation }) => {
  // Handed on, or attached here: it is somebody else's.
  const lines = invitation.takeBack();
  if (lines !== undefined && claimSide(words, end, 2)) endUnused(words, end, lines, 'dropped');
});

/** Tells the other end when a handle that this thread made is garbage before it was handed over or attached. */
export function watchHandle(remote: Remote, invitation: Invitation): Remote {
  const { end, memory, texts } = remote;
  // Copies of the handle share its `texts`, and its transfer list keeps them: one of the three is enough to hand it over.
  droppedHandles.register(texts, { words: new Int32Array(memory, 0, layout.DATA), end, invitation });
  return remote;
}
