// How a compat door, which is given bare memory, learns that the other thread ended: the user hands over the Worker or
// MessagePort that leads to it.

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
