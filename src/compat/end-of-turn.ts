// What is put off to the end of this thread's turn: bells to ring, records to publish. A thread that blocks does not come
// to the end of its turn, so whoever blocks it does all of that first, whatever it blocks on. The list belongs to the
// thread and not to a pipe, as the turn does.
import { ofAgent } from '../agent.ts';

export interface PutOff {
  endTurn(): void;
}

let own: PutOff[] | undefined;
const putOffHere = (): PutOff[] => (own ??= ofAgent('turn/1', () => []));

/** Has `it.endTurn()` called once, when this turn ends or the thread is about to block. */
export function atEndOfTurn(it: PutOff): void {
  const putOff = putOffHere();
  // In this order, and by one that is not in the list yet: a call may run out of stack in either.
  if (putOff.length === 0) queueMicrotask(endTurn);
  putOff.push(it);
}

/** Call before blocking. */
export function endTurn(): void {
  const putOff = putOffHere();
  let told = 0;
  try {
    for (; told < putOff.length; told++) putOff[told]?.endTurn();
  } finally {
    // One that throws is still in the list: it, and those behind it, are told in the next turn.
    putOff.splice(0, told);
  }
}
