// How a compat door, which is given bare memory, learns that a thread ended: its own (the runtime says so), or the
// other one, when the user hands over the Worker or MessagePort that leads to it.
import { platform } from '#platform';

type Listener = () => void;
interface Emitter {
  once?: (name: string, listener: Listener) => unknown;
  off?: (name: string, listener: Listener) => unknown;
  addEventListener?: (name: string, listener: Listener) => unknown;
  removeEventListener?: (name: string, listener: Listener) => unknown;
}

/** What workers and ports say when they end, in the words of Node (`exit`) and of everybody else (`close`). */
const ENDINGS = ['exit', 'close'] as const;

/**
 * Calls `ended` once when `peer` reports its end. Objects that report nothing (a worker in a browser) are accepted and
 * stay silent. Returns how to stop watching.
 */
export function watchPeer(peer: unknown, ended: () => void): () => void {
  if (typeof peer !== 'object' || peer === null) return () => {};
  const emitter = peer as Emitter;
  const stop = (): void => {
    for (const name of ENDINGS) {
      if (typeof emitter.off === 'function') emitter.off(name, heard);
      else if (typeof emitter.removeEventListener === 'function') emitter.removeEventListener(name, heard);
    }
  };
  const heard = (): void => {
    stop();
    ended();
  };
  for (const name of ENDINGS) {
    if (typeof emitter.once === 'function') emitter.once(name, heard);
    else if (typeof emitter.addEventListener === 'function') emitter.addEventListener(name, heard);
  }
  return stop;
}

// One listener per thread however many ends there are, for runtimes warn about a crowd of them. An end is forgotten
// when it closes, and the set holds nothing else alive.
const openEnds = new Set<() => void>();
let listening = false;

/** Calls `ended` if this thread ends by itself before the returned function is called. Never for a killed thread. */
export function atThreadEnd(ended: () => void): () => void {
  openEnds.add(ended);
  if (!listening) {
    listening = true;
    platform.onThreadEnd(() => {
      for (const end of openEnds) end();
    });
  }
  return () => void openEnds.delete(ended);
}
