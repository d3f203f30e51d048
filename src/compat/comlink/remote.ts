// Comlink's proxies: a path into something of another thread, which is read by `await`, set, called and constructed.
import { platform } from '#platform';
import { ClosedError, UnsupportedError } from '../../errors.ts';
import type { Connection } from '../../rpc/connection.ts';
import type { Pending } from '../../rpc/pending.ts';
import { type Held, invokeAsync, markRemote, rejected } from '../../rpc/proxy.ts';
import { CONSTRUCT, ENDPOINT, LEAVE, SET } from './open.ts';
import { createEndpoint, proxyMarker, releaseProxy } from './symbols.ts';

type Target = (...values: unknown[]) => unknown;
type Path = readonly string[];

const SHOWN: readonly symbol[] = [Symbol.for('nodejs.util.inspect.custom'), Symbol.for('Deno.customInspect')];

/** What all proxies of one thing share. Whoever holds any of them, or waits for an answer, holds this, and with it what was given away. */
export class Lease {
  readonly connection: Connection;
  readonly target: number;
  /** What has to be held so that the other side keeps it. */
  readonly hold: object | undefined;
  readonly #pending: Set<Pending> = new Set();
  #released = false;

  constructor(connection: Connection, target: number, hold?: object) {
    this.connection = connection;
    this.target = target;
    this.hold = hold;
  }

  get state(): string {
    if (this.#released) return ' (released)';
    const { reason } = this.connection.port;
    return reason === undefined ? '' : ` (${reason})`;
  }

  /** @throws ClosedError once it was released */
  ask(ask: string, path: Path, values: unknown[]): Promise<unknown> {
    if (this.#released) throw releasedError();
    const { connection, target } = this;
    let pending: Pending | undefined;
    const asked = new Promise((resolve, reject) => {
      const over = (): void => {
        if (pending !== undefined) this.#pending.delete(pending);
      };
      const settler = {
        resolve(value: unknown): void {
          over();
          resolve(value);
        },
        reject(error: unknown, failure?: unknown): void {
          over();
          if (failure === undefined) reject(error);
          else resolve(rejected(failure));
        },
      };
      const word = ask === 'call' || ask === 'get' ? undefined : ask;
      pending = connection.calls.start(target, path, values, ask === 'get', undefined, settler, undefined, word);
      if (pending !== undefined) this.#pending.add(pending);
    });
    return asked;
  }
  /** Nobody can wait for a property to be set: that the other side is gone is no news then, all else is. */
  set(path: Path, value: unknown): void {
    this.ask(SET, path, [value]).catch((error: unknown) => {
      if (!(error instanceof ClosedError)) throw error;
    });
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    const { connection, target } = this;
    for (const pending of [...this.#pending]) connection.calls.giveUp(pending, releasedError());
    if (target > 0) {
      connection.values.remotes.drop(target);
      return;
    }
    leave(connection, true);
  }
}

/**
 * Nobody has what was wrapped any more. What was given by way of it may still be held, and goes on: the connection ends behind that.
 * @param released the program said so, and is done with what it has given away itself, too; else the garbage collector did
 */
export function leave(connection: Connection, released: boolean): void {
  if (connection.onLess !== undefined) return;
  const { values, streams, calls } = connection;
  const isUsed = (): boolean => {
    const [sources, readers] = streams.open;
    return values.remotes.size + readers > 0 || (!released && values.held + sources > 0);
  };
  const end = (): void => {
    connection.out.flush();
    connection.port.close();
  };
  if (!isUsed()) {
    end();
    return;
  }
  connection.onLess = () => {
    if (calls.size === 0 && !isUsed()) end();
  };
  calls.start(0, [], [], false, undefined, { resolve() {}, reject() {} }, false, LEAVE);
}

/** @throws UnsupportedError where no MessagePort comes through: it was refused over there, or something else has come in its place */
async function portOf(asked: Promise<unknown>): Promise<unknown> {
  let cause: unknown;
  try {
    const port = await asked;
    if (platform.isNativePort(port)) return port;
  } catch (error) {
    const { code, name } = Object(error) as { code?: unknown; name?: unknown };
    if (code !== 'ERR_TRANSFER' && name !== 'DataCloneError') throw error;
    cause = error;
  }
  throw new UnsupportedError(
    'Cannot make an endpoint: no MessagePort comes through what this proxy goes over, as to another process; give the proxy itself away, or open a channel beside it (port.link.channel)',
    { feature: 'createEndpoint', cause },
  );
}

function releasedError(): ClosedError {
  return new ClosedError('Cannot use this proxy: it was released', 'closed');
}

class Traps implements ProxyHandler<Target> {
  readonly #lease: Lease;
  readonly #path: Path;
  constructor(lease: Lease, path: Path) {
    this.#lease = lease;
    this.#path = path;
  }

  get(target: Target, name: string | symbol): unknown {
    const lease = this.#lease;
    const path = this.#path;
    switch (name) {
      case proxyMarker:
        return true;
      case releaseProxy:
      case Symbol.dispose:
        return () => lease.release();
      case createEndpoint:
        return () => portOf(lease.ask(ENDPOINT, [], []));
      case Symbol.toPrimitive:
        return () => this.#shown();
      case 'then': {
        // A promise may be resolved with a proxy. A property is read when it is awaited.
        if (path.length === 0) return undefined;
        return (...how: [() => unknown, () => unknown]) => lease.ask('get', path, []).then(...how);
      }
      default:
    }
    if (typeof name === 'symbol') return SHOWN.includes(name) ? () => this.#shown() : undefined;
    return makeProxy(lease, [...path, name], target);
  }
  set(_target: Target, name: string | symbol, value: unknown): boolean {
    // Whoever marks a proxy as one changes nothing.
    if (name === proxyMarker) return true;
    if (typeof name === 'symbol') return false;
    this.#lease.set([...this.#path, name], value);
    return true;
  }
  apply(target: Target, _this: unknown, values: unknown[]): unknown {
    const path = this.#path;
    // `onClick.bind(api)` is the same: over there it is called on what it is a method of.
    if (path.at(-1) === 'bind') return makeProxy(this.#lease, path.slice(0, -1), target);
    return this.#lease.ask('call', path, values);
  }
  construct(_target: Target, values: unknown[]): object {
    return this.#lease.ask(CONSTRUCT, this.#path, values);
  }
  #shown(): string {
    const { target, state } = this.#lease;
    return `[Remote ${[target === 0 ? 'exposed' : 'proxy', ...this.#path].join('.')}${state}]`;
  }
}

function makeProxy(lease: Lease, path: Path, target: Target): object {
  const { connection } = lease;
  const traps = new Traps(lease, path);
  // Node's console does not ask a Proxy but what it is made of.
  const shows: Target = function remote(): void {};
  Object.defineProperty(shows, SHOWN[0] as symbol, {
    value: () => (traps.get(target, SHOWN[0] as symbol) as () => string)(),
  });
  const made = new Proxy(shows, traps);
  const { hold } = lease;
  markRemote(made, { connection, target: lease.target, path, options: undefined, invoke: invokeAsync, hold });
  return made;
}

/** The first proxy of something. */
export function firstProxy(lease: Lease, target: Target = () => {}): object {
  return makeProxy(lease, [], target);
}

/** What the other side has given away. */
export function remoteHeld({ connection, target, hold }: Held): object {
  return firstProxy(new Lease(connection, target, hold));
}
