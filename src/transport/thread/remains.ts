// What stays of an end when nobody holds its port any more, and who holds a port that nobody else does.
//
// A port that is dropped without close() is garbage like any other object, and its peer is told: `dropped`. So nothing
// that lives as long as the thread may lead to a port: not the listeners of its native ports, not a pending wait, not
// the list of what ends with the thread. They lead to this record at the most, which holds the port exactly while it has
// something to do: somebody listens or waits, or something has still to go out.
import { platform } from '#platform';
import { EndTeller } from '../../lane/end-teller.ts';
import { claimSide, type Remote } from '../../memory/handshake.ts';
import * as layout from '../../memory/layout.ts';
import type { CloseReason } from '../../outcome.ts';
import type { ThreadEnd } from '../../platform/contract.ts';
import { sharedParking } from '../../wait/parking.ts';
import type { Staying } from '../ring/tie.ts';
import { endWithThread, forgetThreadEnd } from '../thread-end.ts';
import type { Invitation } from './invitation.ts';

const droppedEnds = new FinalizationRegistry<Remains>((remains) => remains.end('dropped'));

export class Remains implements Staying {
  readonly #teller: EndTeller;
  #living: WeakRef<{ endThread(how: ThreadEnd): void }> | undefined;
  #kept: object | undefined;
  #over = false;

  constructor(teller: EndTeller) {
    this.#teller = teller;
  }

  /** From now on this end is over when `holder` is garbage, or with its thread, which `living` is told of. */
  watch(holder: object, living: { endThread(how: ThreadEnd): void }): void {
    this.#living = new WeakRef(living);
    droppedEnds.register(holder, this);
    endWithThread(this);
  }

  /** Keeps `port` though nobody else may hold it; `undefined` lets it go. */
  keep(port: object | undefined): void {
    this.#kept = port;
    if (this.#over && port === undefined) forgetThreadEnd(this);
  }

  /** The end is over, and whoever knew why has told. */
  over(): void {
    this.#over = true;
    if (this.#kept === undefined) forgetThreadEnd(this);
  }

  endThread(how: ThreadEnd): void {
    const living = this.#living?.deref();
    if (living !== undefined) living.endThread(how);
    else this.end(how);
  }

  /** Ends this side in the stead of a port that is gone. What it had sent is published, and nothing waited. */
  end(reason: CloseReason): void {
    if (!this.#over) this.#teller.tell(reason, 0);
    this.over();
    this.#teller.closeLines();
  }
}

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
