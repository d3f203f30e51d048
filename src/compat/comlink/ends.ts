// Both ends of an endpoint, and what values travel as between them: what the program's transfer handlers make of them, a proxy, moved in part, or
// as they are. One file, for each of these needs the others.
import { CodecError, UsageError } from '../../errors.ts';
import { Connection } from '../../rpc/connection.ts';
import { Handled, type Manners } from '../../rpc/manners.ts';
import { resolved } from '../../rpc/options.ts';
import { isRemote } from '../../rpc/proxy.ts';
import { Transferred } from '../../rpc/reference.ts';
import type { Endpoint, Transferable } from './endpoints.ts';
import { Lines, type Server } from './lines.ts';
import { Another, Open, Root } from './open.ts';
import { firstProxy, Lease, leave, remoteHeld } from './remote.ts';
import { proxyMarker } from './symbols.ts';
import type { ProxyMarked, Remote } from './types.ts';

/** Says how some values travel that structured clone does not take, or takes otherwise; both sides have it under the same name. */
export interface TransferHandler<T, S> {
  /** Is asked of every argument and result. */
  canHandle(value: unknown): value is T;
  /** What can be cloned, and what of it moves. */
  serialize(value: T): [S, Transferable[]];
  deserialize(value: S): T;
}
function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** A new port that leads to a value. */
function exposedPort(value: object): MessagePort {
  const { port1, port2 } = new MessageChannel();
  expose(value, port1 as never);
  return port2;
}

const proxyHandler: TransferHandler<object, Endpoint> = {
  canHandle: (value): value is ProxyMarked => isObject(value) && Boolean((value as ProxyMarked)[proxyMarker]),
  serialize(value) {
    const port = exposedPort(value);
    return [port as never, [port as never]];
  },
  deserialize: (port) => wrap(port),
};

/** What has been thrown, for a handler called `throw` that a program puts in the place of this one. */
interface Thrown {
  readonly value: unknown;
}
const thrown: WeakSet<object> = new WeakSet();
interface ThrownForm {
  readonly isError: boolean;
  readonly value: unknown;
}
const throwHandler: TransferHandler<Thrown, ThrownForm> = {
  canHandle: (value): value is Thrown => isObject(value) && thrown.has(value),
  serialize: ({ value }) => {
    if (!(value instanceof Error)) return [{ isError: false, value }, []];
    const { message, name, stack } = value;
    return [{ isError: true, value: { message, name, stack } }, []];
  },
  deserialize: ({ isError, value }) => {
    throw isError ? Object.assign(new Error((value as Error).message), value) : value;
  },
};

/** By their names; both sides have to have the same. `proxy` and `throw` are here from the beginning. */
export const transferHandlers: Map<string, TransferHandler<unknown, unknown>> = new Map([
  ['proxy', proxyHandler as TransferHandler<unknown, unknown>],
  ['throw', throwHandler as TransferHandler<unknown, unknown>],
]);

const transfers: WeakMap<object, readonly unknown[]> = new WeakMap();

/** Returns the value itself, of which what stands in the list moves when it is an argument or a result. */
export function transfer<T>(value: T, list: readonly unknown[]): T {
  if (isObject(value)) transfers.set(value, list);
  return value;
}

/** Returns the value itself, of which the other side gets a proxy when it is an argument or a result. */
export function proxy<T extends object>(value: T): T & ProxyMarked {
  return Object.assign(value, { [proxyMarker]: true as const });
}

const manners: Manners = {
  remote: remoteHeld,
  answering: (value) => Open.of(value),
  carry(value) {
    // One of the other side's goes back as what it is there, one of a third side's as a function.
    if (isRemote(value)) return value;
    if (value instanceof Another) {
      const port = exposedPort(value.target);
      return new Transferred(port, [port], () => port.close());
    }
    for (const [name, handler] of transferHandlers) {
      if (handler === throwHandler || !handler.canHandle(value)) continue;
      // Not by a port of its own: it ends with this connection, and is told so.
      if (handler === proxyHandler) return Open.of(value as object);
      const [form, list] = handler.serialize(value);
      return new Handled(name, form, list);
    }
    const list = isObject(value) ? transfers.get(value) : undefined;
    return list === undefined ? value : new Transferred(value, list);
  },
  carryThrown(value) {
    const handler = transferHandlers.get('throw');
    if (handler === undefined || handler === (throwHandler as unknown)) return undefined;
    const told: Thrown = { value };
    thrown.add(told);
    const [form, list] = handler.serialize(told);
    return new Handled('throw', form, list);
  },
  arrived(name, value) {
    const handler = transferHandlers.get(name);
    if (handler !== undefined) return handler.deserialize(value);
    throw new CodecError(
      'ERR_DECODE',
      `Cannot take a value that the transfer handler ${JSON.stringify(name)} has made: there is none of that name here; set it on both sides`,
    );
  },
};

const OPTIONS: ReturnType<typeof resolved> = /* @__PURE__ */ resolved({});

/**
 * Lets whoever wraps the other end of `endpoint` use `value`: read, set, call and construct what it has. Ends when the last of them has let go; a port is
 * closed then.
 * @param endpoint by default the worker's own global object; in a worker of Node's `nodeEndpoint(parentPort)`
 * @param allowedOrigins of messages that come with an origin
 * @throws UsageError ERR_OPTION for what is no object or no endpoint; ERR_BUSY if something is exposed there
 */
export function expose(
  value: unknown,
  endpoint: Endpoint = globalThis as unknown as Endpoint,
  allowedOrigins: readonly (string | RegExp)[] = ['*'],
): void {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') {
    throw new UsageError('ERR_OPTION', `Cannot expose ${String(value)}: expected an object, a class or a function`, {
      value,
    });
  }
  const open = Open.of(value);
  const lines = Lines.of(endpoint);
  const allowed = [...allowedOrigins];
  let warned: string | undefined;
  const server: Server = {
    allows(origin) {
      const fits = (one: string | RegExp): boolean =>
        typeof one === 'string' ? one === '*' || one === origin : String(origin).search(one) >= 0;
      if (allowed.some(fits)) return true;
      // Whoever is not answered asks again and again.
      const from = JSON.stringify(origin) ?? 'nowhere';
      if (warned !== from)
        console.warn(`A message from ${from} is ignored: this origin may not call what is exposed here`);
      warned = from;
      return false;
    },
    take(line) {
      const connection = new Connection(line, OPTIONS, manners);
      const root = new Root(open, () => lines.unused(line));
      line.on('close', () => root.leave());
      connection.serving.expose(root);
    },
    left: () => open.released(),
  };
  if (!lines.serve(server)) {
    throw new UsageError(
      'ERR_BUSY',
      'Cannot expose a second object at this endpoint: put both into one, or give each a MessagePort of its own',
    );
  }
  open.held();
}

/** Of what `wrap` has returned nobody holds anything any more. */
const collected: FinalizationRegistry<Connection> = /* @__PURE__ */ new FinalizationRegistry((connection) => {
  leave(connection, false);
});

/**
 * A proxy of what is exposed at the other end. All that is asked of it is answered by a promise, which settles in every case: with what it is over there, with what was
 * thrown there, or with a ClosedError that says how the other side has ended.
 * @param target what the proxy is to be made of, for `typeof`; default a function
 * @throws UsageError ERR_OPTION for what is no endpoint
 */
export function wrap<T>(endpoint: Endpoint, target?: unknown): Remote<T> {
  const line = Lines.of(endpoint).begin();
  const connection = new Connection(line, OPTIONS, manners);
  line.awaited = () => connection.calls.size > 0;
  const lease = new Lease(connection, 0);
  collected.register(lease, connection);
  return firstProxy(lease, target as () => unknown) as Remote<T>;
}
