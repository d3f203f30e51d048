// Reading in a world that may deliver late. Where what was sent is there at once it must be, so that the suites stay as strict there;
// elsewhere it comes in some turn of the event loop, and is awaited.
import assert from 'node:assert/strict';
import { CLOSED, EMPTY, type Port } from '../../src/index.ts';
import { turn, until } from '../kit/watchdog.ts';
import type { PortWorld } from './port.ts';

export interface Arrivals {
  /** What `tryReceive` answers, once it is not EMPTY. */
  next(port: Pick<Port, 'tryReceive'>): Promise<unknown>;
  /** So many of them. */
  take(port: Pick<Port, 'tryReceive'>, count: number): Promise<unknown[]>;
  /** All there are before the end. */
  readOut(port: Pick<Port, 'tryReceive'>): Promise<unknown[]>;
  /** That something is so, as the other side has made it. */
  sees(what: string, look: () => boolean): Promise<void>;
  /** What is on its way has arrived. */
  quiet(): Promise<void>;
}

export function arrivals({ late }: Pick<PortWorld, 'late'>): Arrivals {
  const next = async (port: Pick<Port, 'tryReceive'>): Promise<unknown> => {
    let value: unknown = port.tryReceive();
    if (late !== undefined) {
      await until('a message', () => {
        if (value === EMPTY) value = port.tryReceive();
        return value !== EMPTY;
      });
    }
    return value;
  };
  return {
    next,
    async take(port, count) {
      const values: unknown[] = [];
      while (values.length < count) values.push(await next(port));
      return values;
    },
    async readOut(port) {
      const values: unknown[] = [];
      for (let value = port.tryReceive(); value !== CLOSED; value = port.tryReceive()) {
        if (value !== EMPTY) values.push(value);
        else if (late !== undefined) await turn();
      }
      return values;
    },
    async sees(what, look) {
      if (late === undefined) assert.ok(look(), what);
      else await until(what, look);
    },
    async quiet() {
      await late?.();
    },
  };
}
