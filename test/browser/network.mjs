// A listener of millrace/net for the pages, as a user's server has one, and a proxy in front of it whose lines a page may cut.
// Under `/net/address` stands where to connect to; `/net/other` is a listener that takes no page of this origin; `/net/cut`, posted, ends all lines.
import { CuttingProxy, portIn } from '../../dist/test/kit/cutting-proxy.js';

export class Network {
  #started;

  /** @returns the answer for such a path, undefined for others */
  async answerTo(path, origin) {
    if (!path.startsWith('/net/')) return undefined;
    this.#started ??= start(origin);
    const { addresses, proxy } = await this.#started;
    if (path === '/net/cut') proxy.cut();
    const body = addresses[path.slice('/net/'.length)];
    return body === undefined ? { status: path === '/net/cut' ? 204 : 404 } : { body };
  }
  async close() {
    const { servers = [], proxy } = (await this.#started) ?? {};
    await Promise.all([...servers.map((server) => server.close()), proxy?.close()]);
  }
}

async function start(origin) {
  const { listen } = await import('../../dist/lib/net.js');
  const { expose } = await import('../../dist/lib/rpc.js');
  const authorize = ({ token, header }) => token !== 'nobody' && (token ?? header('cookie') ?? true);
  const server = await listen('ws://127.0.0.1:0/pages', { origins: [origin], authorize });
  const other = await listen('ws://127.0.0.1:0/others', { origins: ['https://app.example'] });
  (async () => {
    for await (const port of server) {
      port.onmessage = ({ data }) => port.postMessage(data === 'identity' ? port.link.identity : data);
      (async () => {
        for await (const offer of port.link.channels) expose({ double: (number) => number * 2 }, offer.accept());
      })();
    }
  })();
  const proxy = await CuttingProxy.to(portIn(server.address));
  return {
    addresses: { address: proxy.inFrontOf(server.address), other: other.address },
    servers: [server, other],
    proxy,
  };
}
