// A client of the package `ws` is one for `webSocket`, and so is the runtime's own; a connection has a link; a listener's ports have types.
import { WebSocket as OfPackage } from 'ws';
import { acceptor, connect, listen } from '../../src/net/index.ts';

export async function networks(): Promise<void> {
  await connect('wss://host/', { webSocket: (url) => new OfPackage(url, { ca: 'pem', headers: { a: 'b' } }) });
  await connect('wss://host/', { webSocket: (url) => new WebSocket(url) });
  const port = await connect<string, number>('tcp:1', { token: async () => 'fresh' });
  port.postMessage(5);
  // @ts-expect-error: a number goes out
  port.postMessage('5');
  await port.link.close();
  for await (const client of await listen<number, string>('tcp:0')) {
    client.onmessage = ({ data }) => client.postMessage(data.toFixed());
    client.link.identity?.at(0);
  }
  for await (const client of acceptor<number>()) client.onmessage = ({ data }) => data.toFixed();
}
