// The connections of a thread that ends, together: each says at once what goes without waiting, and only then is waited for those whose
// medium has enough, in short turns. So one whose peer has stopped takes the time of nobody who could still write. Of all copies of this
// library in the thread, as the hook is (thread-end.ts).
import { ofAgent } from '../../agent.ts';
import { EXIT_TURN_MS } from '../../limits.ts';
import type { ThreadEnd } from '../../platform/contract.ts';
import { endWithThread, forgetThreadEnd, type LastWords } from '../thread-end.ts';

/** A connection whose thread ends. */
export interface Exiting {
  /** Begins to end, as far as that goes without waiting; whether that was all. */
  beginExit(how: ThreadEnd, words: Partial<LastWords>): boolean;
  /** Goes on, and waits with the thread for so long at the most; whether that was all. */
  goOnExit(waitMs: number): boolean;
  /** There is no time any more: ends with what could be said. */
  finishExit(): void;
}

class Exits {
  readonly #open = new Set<Exiting>();

  add(connection: Exiting): void {
    if (this.#open.size === 0) endWithThread(this);
    this.#open.add(connection);
  }
  delete(connection: Exiting): void {
    if (this.#open.delete(connection) && this.#open.size === 0) forgetThreadEnd(this);
  }
  endThread(how: ThreadEnd, words?: LastWords): void {
    endTogether([...this.#open], how, words);
  }
}

/** One list for all copies, made for the first connection. */
function exits(): Exits {
  return ofAgent('connections/1', () => new Exits());
}

export function exitWithThread(connection: Exiting): void {
  exits().add(connection);
}
export function forgetExit(connection: Exiting): void {
  exits().delete(connection);
}

/** @param words without a time nobody waits */
export function endTogether(all: readonly Exiting[], how: ThreadEnd, words: Partial<LastWords> = {}): void {
  const { untilMs = 0 } = words;
  const left = (): number => Math.max(0, untilMs - performance.now());
  let open = all.filter((each) => !guarded(() => each.beginExit(how, words)));
  // Who is alone has no turns to take, and is asked once.
  while (open.length > 1 && left() > 0) {
    open = open.filter((each) => !isOver(each, Math.min(left(), EXIT_TURN_MS)));
  }
  for (const each of open) {
    const waitMs = left();
    if (waitMs === 0 || !guarded(() => each.goOnExit(waitMs))) guarded(() => each.finishExit());
  }
}

/** Whether it needs no further turn. Who says no before its time is over has a line that takes nothing any more, and would say so for ever. */
function isOver(each: Exiting, waitMs: number): boolean {
  const since = performance.now();
  if (guarded(() => each.goOnExit(waitMs))) return true;
  if (performance.now() - since >= waitMs / 2) return false;
  guarded(() => each.finishExit());
  return true;
}

/** As in thread-end.ts: the others are to end all the same, and nobody is left to hear of it. One that throws is done. */
export function guarded(body: () => unknown): boolean {
  try {
    return body() === true;
  } catch {
    return true;
  }
}
