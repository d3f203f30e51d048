// Handles that nobody will attach: who has the other end is told.
import type { Remote } from '../../memory/handle.ts';
import * as layout from '../../memory/layout.ts';
import { claimSide } from '../../memory/sides.ts';
import { endUnused } from '../beside/unopened-end.ts';
import type { Invitation } from './invitation.ts';

const droppedHandles = new FinalizationRegistry<Invitation>((invitation) => {
  const { watched } = invitation;
  if (watched === undefined) return;
  const { words, end } = watched;
  // Handed on: it is somebody else's.
  const lines = invitation.takeBack();
  if (lines !== undefined && claimSide(words, end, 2)) endUnused(words, end, lines, 'dropped');
});

/** Tells the other end when a handle that this thread made is garbage before it was handed over or attached. */
export function watchHandle(remote: Remote, invitation: Invitation): Remote {
  const { end, memory, texts, pass } = remote;
  // Copies of the handle share its `texts`, and its transfer list keeps them: one of the three is enough to hand it over.
  invitation.watched = { words: new Int32Array(memory, 0, layout.DATA), end, pass };
  droppedHandles.register(texts, invitation);
  return remote;
}
