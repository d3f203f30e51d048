// A server of NATS that pages reach by WebSockets, and a program that they meet there, as a user's server is one.
// Under `/nats/address` stands where to connect to, under `/nats/client.js` the client; `/nats/kill`, posted, kills the server and starts it again.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { freePort, startServer } from '../../dist/test/kit/engine-servers.js';

export class Nats {
  #started;

  /** @returns the answer for such a path, undefined for others */
  async answerTo(path, origin) {
    if (!path.startsWith('/nats/')) return undefined;
    if (path === '/nats/client.js') return { headers: { 'Content-Type': 'text/javascript' }, body: await client() };
    this.#started ??= start(origin);
    const { address, server } = await this.#started;
    if (path === '/nats/address') return { body: address };
    if (path !== '/nats/kill') return { status: 404 };
    await server.kill();
    await server.start();
    return { status: 204 };
  }
  async close() {
    const { engine, server, folder } = (await this.#started) ?? {};
    await engine?.close({ drainMs: 0 });
    await server?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function start(origin) {
  const { open } = await import('../../dist/lib/nats.js');
  const folder = mkdtempSync(join(tmpdir(), 'millrace-page-nats-'));
  const port = await freePort();
  const settings = join(folder, 'websocket.conf');
  writeFileSync(settings, `websocket { listen: "127.0.0.1:${port}", no_tls: true, allowed_origins: ["${origin}"] }\n`);
  const server = await startServer('nats', ['-c', settings]);
  const engine = await open(server.url);
  await engine.serve('double', (number) => number * 2);
  const listener = await engine.listen('echo');
  (async () => {
    for await (const come of listener) come.onmessage = ({ data }) => come.postMessage(data);
  })();
  const sums = engine.topic('sums');
  let sum = 0;
  const numbers = await engine.subscribe('numbers.*');
  (async () => {
    for await (const number of numbers) sums.publish((sum += number));
  })();
  return { address: `ws://127.0.0.1:${port}`, server, engine, folder };
}

/** What a page needs of @nats-io, in one file. */
async function client() {
  const contents = "export { wsconnect } from '@nats-io/nats-core'; export * as jetstream from '@nats-io/jetstream';";
  const resolveDir = fileURLToPath(new URL('.', import.meta.url));
  const { outputFiles } = await build({
    stdin: { contents, resolveDir },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  });
  return outputFiles[0].text;
}
