// For a server that there is already: it gives each socket that it has let in, and the acceptor is the listener behind.
import type { Listener } from '../port/link-listener.ts';
import { NOTHING_SAID, type NodeRequest, type WebRequest } from '../transport/network/upgrade-request.ts';
import { Entrance, type EntranceOptions } from './entrance.ts';
import { givenLine } from './given.ts';
import { refusedFor } from './origins.ts';

export interface Acceptor<In = unknown, Out = unknown> extends Omit<Listener<In, Out>, 'address' | 'ref' | 'unref'> {
  /**
   * Takes over a socket that nobody has read from: call it in the very turn in which the server tells of it. Who is behind it speaks first, within `timeoutMs`.
   * Whatever it is that it says, and if it is no client of this library, harms nobody else.
   * @param socket a WebSocket: of `ws`, also on Bun, or of Deno's `upgradeWebSocket`, whose messages may have 16 KiB (`maxPayload`); or a socket of node:net or node:tls
   * @param request the one that asked for the WebSocket, of node:http or a `Request`: without it nobody knows whose page it was, which only `origins: 'any'` does not ask. A
   *   page that may not come is closed with code 1008
   * @throws UsageError ERR_OPTION for what is no such socket, and for a WebSocket without its request
   */
  accept(socket: object, request?: NodeRequest | WebRequest): void;
}

/**
 * Takes connections from a server of your own, which decides about addresses, paths and certificates:
 *
 * ```js
 * import { createServer } from 'node:net';
 * import { acceptor, connect } from 'millrace/net';
 * const clients = acceptor();
 * const server = createServer((socket) => clients.accept(socket));
 * await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
 * const port = await connect(`tcp:${server.address().port}`);
 * port.postMessage('hello');
 * for await (const client of clients) {
 *   console.log(await client.receiveAsync());             // hello
 *   break;
 * }
 * await clients.close();
 * server.close();
 * ```
 * `close()` ends the connections that it has, and whatever is accepted from then on; the server is yours.
 * @throws UsageError ERR_OPTION
 */
export function acceptor<In = unknown, Out = unknown>(options: EntranceOptions = {}): Acceptor<In, Out> {
  const entrance = new Entrance(options, ['origins']);
  const { pingMs } = entrance.choice;
  const { listener, hall } = entrance.behind({ address: 'an accepted socket', hold() {}, close() {} });
  const accepts: Acceptor = {
    accept(socket, request) {
      const given = givenLine(socket, request, pingMs, entrance.origins === 'any');
      const asked = given.request ?? NOTHING_SAID;
      if (refusedFor(entrance.origins, asked) !== undefined) given.refuse();
      else given.open((line) => hall.enter(line, given.kind, asked));
    },
    get connections() {
      return listener.connections;
    },
    close: (how) => listener.close(how),
    [Symbol.asyncIterator]: () => listener[Symbol.asyncIterator](),
    [Symbol.dispose]: () => listener[Symbol.dispose](),
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  };
  return accepts as Acceptor<In, Out>;
}
