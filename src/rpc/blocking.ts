// A thread that stands still in calls, and serves meanwhile what they wait for.
import { ofAgent } from '../agent.ts';
import { ClosedError, CodecError } from '../errors.ts';
import { CALLS_LOOK_MAX, CALLS_LOOK_MS_MAX, CALLS_TURN_MS } from '../limits.ts';
import { CLOSED, EMPTY } from '../outcome.ts';
import type { Claim } from '../port/receiving.ts';
import type { Connection } from './connection.ts';
import { tellCrash } from './crash.ts';

/** What the connections of a thread have in common. */
interface Agent {
  /** By which other threads know this one in the chain of who is blocked. */
  readonly token: number;
  readonly connections: WeakMap<object, Connection>;
  /** Those that are open: a blocked thread looks at all of them. */
  readonly open: Set<WeakRef<Connection>>;
  /** How many blocking calls this thread is in, within each other. */
  blocked: number;
}

export function agent(): Agent {
  return ofAgent<Agent>('calls/1', () => {
    const open = new Set<WeakRef<Connection>>();
    tellCrash(open);
    return { token: 1 + Math.floor(Math.random() * 0x7ffffffe), connections: new WeakMap(), open, blocked: 0 };
  });
}

/** Who reads a port. */
export type Reads = Pick<Claim, 'tryReceive' | 'receive'>;

export class Blocking {
  readonly #connection: Connection;
  readonly #reads: Reads;
  readonly #agent: Agent = agent();
  /** How many calls over this connection this thread is blocked in, within each other. */
  depth = 0;

  constructor(connection: Connection, reads: Reads) {
    this.#connection = connection;
    this.#reads = reads;
  }

  /**
   * Blocks until `done`, and serves meanwhile what comes over this connection, and over others what somebody is blocked for. False: the
   * time limit passed first. @throws ClosedError, UnsupportedError
   */
  until(done: () => boolean, timeoutMs: number): boolean {
    const connection = this.#connection;
    const { out } = connection;
    const end = performance.now() + timeoutMs;
    const { open } = this.#agent;
    this.depth++;
    this.#agent.blocked++;
    // Who is called on behalf of this wait is seldom: it is looked for less and less often.
    let slice = CALLS_TURN_MS;
    let look = performance.now() + slice;
    try {
      connection.drain();
      out.flush();
      while (!done()) {
        if (connection.ended !== undefined) throw connection.ended;
        const now = performance.now();
        if (now >= end) return false;
        // What waits for room is tried again, and the port tells nobody who blocks.
        const alone = open.size < 2 && !out.stuck;
        // In turns, also where this one has always something to say.
        if (!alone && now >= look) {
          const heard = this.#others().filter((other) => other.blocking.lookIn()).length > 0;
          slice = heard ? CALLS_TURN_MS : Math.min(CALLS_LOOK_MS_MAX, slice * 2);
          look = performance.now() + slice;
          continue;
        }
        const value = this.#next(alone ? end - now : Math.min(end, look) - now);
        if (value === CLOSED) connection.end(connection.port.reason ?? 'lost');
        else if (value !== EMPTY) connection.accept(value);
        out.flush();
      }
      return true;
    } finally {
      this.depth--;
      this.#agent.blocked--;
      out.schedule();
      if (!this.ofThread) for (const other of open) other.deref()?.serving.resume();
    }
  }
  #next(timeoutMs: number): unknown {
    try {
      return this.#reads.receive({ timeoutMs });
    } catch (error) {
      if (error instanceof CodecError) this.#connection.lost();
      // Closed here, by what was served meanwhile.
      else if (error instanceof ClosedError) return CLOSED;
      else throw error;
      return EMPTY;
    }
  }
  /** Another connection of a thread that is blocked: what has come there, and what could not go out. Whether anything was heard. */
  lookIn(): boolean {
    const connection = this.#connection;
    const { port, received } = connection;
    try {
      connection.drain();
      for (let i = 0; i < CALLS_LOOK_MAX && connection.ended === undefined; i++) {
        const value = this.#reads.tryReceive();
        if (value === EMPTY) break;
        if (value === CLOSED) connection.end(port.reason ?? 'lost');
        else connection.accept(value);
      }
    } catch (error) {
      if (error instanceof CodecError) connection.lost();
      else connection.end(port.reason ?? 'lost');
    }
    connection.out.flush();
    port.moveOutbox?.();
    return connection.received !== received;
  }
  #others(): Connection[] {
    const others: Connection[] = [];
    for (const open of this.#agent.open) {
      const other = open.deref();
      if (other === undefined) this.#agent.open.delete(open);
      else if (other !== this.#connection) others.push(other);
    }
    return others;
  }
  /** Whether this thread is blocked in a call, over whichever connection. */
  get ofThread(): boolean {
    return this.#agent.blocked > 0;
  }
}
