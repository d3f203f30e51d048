// Doors that are locked: TLS, users, passwords, tokens, NKeys; and a server at a path.
// asked for: node-22, node-24
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import type { Engine } from '../../src/engine/engine.ts';
import { AddressError } from '../../src/index.ts';
import * as nats from '../../src/nats/index.ts';
import * as redis from '../../src/redis/index.ts';
import { freePort, missingServer, startServer } from '../kit/engine-servers.ts';
import { askNode } from '../kit/redis-cluster.ts';
import { rejection } from '../kit/rejection.ts';
import { within } from '../kit/watchdog.ts';
import { runtimeKind } from '../runtimes/program.ts';

const pem = (name: string): string =>
  fileURLToPath(new URL(`../../../test/network/fixtures/only-for-tests-${name}.pem`, import.meta.url));
const [key, cert] = [pem('key'), pem('cert')];
const ca = readFileSync(cert, 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'millrace-secured-'));
after(() => rmSync(folder, { recursive: true }));

/** It is open, and all of it goes. */
async function works(engine: Engine): Promise<void> {
  await engine.serve('double', (n) => (n as number) * 2);
  assert.equal(await within('an answer', engine.request('double', 4)), 8);
  const queue = await engine.queue<number>('jobs');
  const done = new Promise((resolve) => queue.work(resolve));
  await queue.put(7);
  assert.equal(await within('the job', done), 7);
  await engine.close();
}
async function isRefused(opening: Promise<Engine>, why: RegExp): Promise<void> {
  const error = await rejection(opening);
  assert.ok(error instanceof AddressError && error.code === 'ERR_UNREACHABLE', String(error));
  assert.match(error.message, why);
  assert.doesNotMatch(inspect(error, { depth: 9 }), /geheim/);
}

test('redis: over TLS, with a user, at a path, by both clients', { skip: missingServer('redis') }, async () => {
  const [sealed, path] = [await freePort(), join(folder, 'redis.sock')];
  const options = `--tls-port ${sealed} --tls-cert-file ${cert} --tls-key-file ${key} --tls-ca-cert-file ${cert} --tls-auth-clients no --unixsocket ${path}`;
  const server = await startServer('redis', options.split(' '));
  // All that it may do is in the guide.
  const may =
    'resetkeys ~{millrace.queue.* resetchannels &millrace.* &{millrace.* -@all +subscribe +unsubscribe +psubscribe +punsubscribe +publish +pubsub +eval +xadd +xreadgroup +xack +xdel +xrange +xpending +xclaim +xautoclaim +xgroup +xinfo +xlen +zadd +zrangebyscore +zrem +zcard +set +get +time +info';
  await askNode(server.port, `ACL SETUSER ada on >geheim ${may}`);
  const { Redis } = (await import('ioredis' as string)) as { Redis: new (options: object) => redis.IoredisClient };
  const made: redis.IoredisClient[] = [];
  const byIoredis = async (options: object): Promise<Engine> => {
    const client = new Redis({ lazyConnect: true, ...options });
    made.push(client);
    return await redis.open(client);
  };
  const url = (name: string): string => `rediss://${name}@localhost:${sealed}`;
  await works(await redis.open(url('ada:geheim'), { client: { socket: { ca } } }));
  await works(await byIoredis({ port: sealed, tls: { ca }, username: 'ada', password: 'geheim' }));
  await works(await redis.open(`unix:${path}`));
  await works(await redis.open(`unix:${path}`, { client: { username: 'ada', password: 'geheim' } }));
  await works(await byIoredis({ path, username: 'ada', password: 'geheim' }));
  const untrusted = /certificate|issuer/i;
  await isRefused(redis.open(url('ada:geheim')), untrusted);
  await isRefused(byIoredis({ port: sealed, tls: {}, username: 'ada', password: 'geheim' }), untrusted);
  await isRefused(redis.open(url('ada:geheim-2'), { client: { socket: { ca } } }), /WRONGPASS/);
  await isRefused(byIoredis({ path, username: 'ada', password: 'geheim-2' }), /WRONGPASS/);
  await isRefused(redis.open(`unix:${path}-2`), /ENOENT|no such file/i);
  await server.stop();
});

test('a cluster of redis: over TLS, with a user', { skip: missingServer('cluster') }, async () => {
  const { RedisCluster } = await import('../kit/redis-cluster.ts');
  const options = `--tls-cluster yes --tls-cert-file ${cert} --tls-key-file ${key} --tls-ca-cert-file ${cert} --tls-auth-clients no`;
  const sealed: number[] = [];
  const there = new RedisCluster(options.split(' '), async () => {
    const port = await freePort();
    sealed.push(port);
    return ['--tls-port', String(port), '--cluster-announce-tls-port', String(port)];
  });
  await there.start();
  for (const { port } of there.nodes) await askNode(port, 'ACL SETUSER ada on >geheim ~* &* +@all');
  await works(await redis.open(`rediss://ada:geheim@127.0.0.1:${sealed[0]}`, { client: { socket: { ca } } }));
  await there.stop();
});

test('nats: over TLS, with a user, a token, an NKey', { skip: missingServer('nats') }, async () => {
  const { createUser } = (await import('@nats-io/nkeys' as string)) as {
    createUser(): { getPublicKey(): string; getSeed(): Uint8Array };
  };
  const { nkeyAuthenticator } = (await import('@nats-io/transport-node' as string)) as {
    nkeyAuthenticator(seed: Uint8Array): unknown;
  };
  const user = createUser();
  const subjects = '["millrace.>", "$JS.API.>", "$JS.ACK.>", "_INBOX.>"]';
  const permissions = `permissions: { publish: ${subjects}, subscribe: ["millrace.>", "_INBOX.>"] }`;
  const tls = `tls { cert_file: "${cert}", key_file: "${key}" }`;
  const configured = async (name: string, text: string): Promise<Awaited<ReturnType<typeof startServer>>> => {
    writeFileSync(join(folder, name), text);
    return await startServer('nats', ['-c', join(folder, name)]);
  };
  const users = `authorization { users: [
    { user: ada, password: geheim, ${permissions} }
    { nkey: ${user.getPublicKey()}, ${permissions} }
  ] }`;
  const server = await configured('users.conf', `${tls}\n${users}`);
  const sealed = { tls: { ca } };
  const at = (name: string): string => `tls://${name}localhost:${server.port}`;
  await works(await nats.open(at('ada:geheim@'), { client: sealed }));
  const authenticator = nkeyAuthenticator(user.getSeed());
  await works(await nats.open(at(''), { client: { ...sealed, authenticator } }));
  await isRefused(nats.open(at('ada:geheim@')), /certificate|issuer/i);
  await isRefused(nats.open(at('ada:geheim-2@'), { client: sealed }), /authorization/i);
  const stranger = nkeyAuthenticator(createUser().getSeed());
  await isRefused(nats.open(at(''), { client: { ...sealed, authenticator: stranger } }), /authorization/i);
  await server.stop();

  const tokens = await configured('tokens.conf', 'authorization { token: "geheim" }');
  await works(await nats.open(`nats://geheim@127.0.0.1:${tokens.port}`));
  await works(await nats.open(tokens.url, { client: { token: 'geheim' } }));
  // Who asks for TLS is not to say a secret to a server that has none.
  for (const client of [{}, { tls: undefined }, { tls: null }, { tls: false }, { tls: 0 }, { tls: '' }])
    await isRefused(nats.open(`tls://geheim@127.0.0.1:${tokens.port}`, { client }), /tls/i);
  // On Deno the socket of the package tells of a reset when nobody listens to it any more: an error of nobody's, behind the refusal (seen in 2.9).
  if (runtimeKind !== 'deno') await isRefused(nats.open(`nats://geheim-2@127.0.0.1:${tokens.port}`), /authorization/i);
  await tokens.stop();
});
