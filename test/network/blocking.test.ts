// Reading and writing with the thread blocked, over networks: a carrier has the lines, and finds others in their place while whoever reads is blocked.
// watchdog: 300 s
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AddressError, type Port, RefusedError, UnsupportedError, UsageError } from '../../src/index.ts';
import type { Listener } from '../../src/net/index.ts';
import { CuttingProxy, portIn } from '../kit/cutting-proxy.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { connect, listen } from '../kit/net.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';
import { RUN, runProgram } from '../runtimes/program.ts';

const PROGRAM = fileURLToPath(inOneFile(new URL('./program.js', import.meta.url)));
const ADDRESSES = { tcp: 'tcp:127.0.0.1:0', ws: 'ws://127.0.0.1:0/' };
const take = async (server: Listener): Promise<Port> => {
  for await (const port of server) return port;
  throw new Error('no connection');
};

interface Blocked {
  readonly port: Port;
  readonly proxy: CuttingProxy;
  readonly ended: Promise<{ readonly status: unknown }>;
  close(): Promise<void>;
}
/** One who reads with its thread blocked, as who has connected or as who listens, and this side's port to it, by way of a proxy. */
async function blocked(address: string, role: 'obey' | 'serve-blocked'): Promise<Blocked> {
  if (role === 'obey') {
    const server = await listen(address);
    const proxy = await CuttingProxy.to(portIn(server.address));
    const ended = runProgram(PROGRAM, [role, proxy.inFrontOf(server.address)], STEP_MS);
    const port = await within('a connection', take(server));
    return { port, proxy, ended, close: () => server.close() };
  }
  const child = spawn(process.execPath, [...RUN, PROGRAM, role, address], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<{ status: number | null }>((resolve) =>
    child.once('exit', (status) => resolve({ status })),
  );
  const stdout = child.stdout as NonNullable<typeof child.stdout>;
  const [line] = (await within('its address', once(stdout, 'data'))) as [Buffer];
  const theirs = String(line).trim();
  const proxy = await CuttingProxy.to(portIn(theirs));
  const port = await connect(proxy.inFrontOf(theirs));
  return { port, proxy, ended, close: async () => {} };
}

for (const [kind, address] of Object.entries(ADDRESSES)) {
  for (const role of ['obey', 'serve-blocked'] as const) {
    const who = role === 'obey' ? 'who has connected' : 'who listens';
    test(`${kind}: ${who} reads with its thread blocked, and lines that break meanwhile are not noticed`, async () => {
      const { port, proxy, ended, close } = await blocked(address, role);
      const count = 5000;
      // A line that breaks before both have greeted is the end of who has connected.
      port.postMessage('there');
      assert.equal(await within('an answer', port.receiveAsync()), 'there');
      const all = (async () => {
        for (let i = 0; i < count; i++) assert.equal(await port.receiveAsync(), i);
      })();
      for (let i = 0; i < count; i++) {
        port.postMessage(i);
        if (i % 100 === 99) await port.drained();
        if (i % 250 !== 249) continue;
        // With some on their way; neither side has noticed before.
        for (const { cuts } = proxy; proxy.cuts === cuts; await turn()) {
          await until('a line', () => port.link?.status === 'open');
          proxy.cut(i % 500 === 499 ? 'end' : 'reset');
        }
      }
      await within('all answers', all, 60);
      assert.ok(proxy.cuts >= count / 250, `it was cut ${proxy.cuts} times`);
      port.postMessage('exit');
      const last: unknown[] = [];
      await within(
        'the end',
        (async () => {
          for await (const value of port) last.push(value);
        })(),
      );
      assert.deepEqual(last, [...Array(1000).keys()]);
      assert.equal(port.reason, 'exit');
      assert.equal((await within('its end', ended)).status, 7);
      await close();
      await proxy.close();
    });
  }

  test(`${kind}: a receive that blocks ends where the connection is lost, and says of what`, async () => {
    const server = await listen(address);
    const proxy = await CuttingProxy.to(portIn(server.address));
    const ended = runProgram(PROGRAM, ['obey', proxy.inFrontOf(server.address), '300'], STEP_MS);
    const port = await within('a connection', take(server));
    port.postMessage('there');
    assert.equal(await within('an answer', port.receiveAsync()), 'there');
    await proxy.close();
    assert.equal((await within('its end', ended)).output.trim(), 'lost TimeoutError');
    await server.close();
  });

  test(`${kind}: who comes to a listener that may block is asked who it is, also as it comes back`, async () => {
    const asked: (string | undefined)[] = [];
    const server = await listen(address, {
      blocking: true,
      authorize: async ({ token, header }) => {
        asked.push(token);
        if (kind === 'ws') assert.match(String(header('Host')), /^127\.0\.0\.1:/);
        return token === 'mine' ? 'ada' : undefined;
      },
    });
    const proxy = await CuttingProxy.to(portIn(server.address));
    const theirs = proxy.inFrontOf(server.address);
    await assert.rejects(within('the answer', connect(theirs, { token: 'no' })), RefusedError);
    await assert.rejects(within('the answer', connect(theirs, { token: 'no', blocking: true })), RefusedError);
    const [far, near] = await within(
      'both',
      Promise.all([connect(theirs, { token: 'mine', blocking: true }), take(server)]),
    );
    assert.equal(near.link?.identity, 'ada');
    assert.equal(far.link?.way?.name, kind);
    const statuses: unknown[] = [];
    for (const port of [far, near]) port.link?.addEventListener('status', ({ data }) => statuses.push(data));
    proxy.cut();
    await until('both without a line', () => statuses.includes('reconnecting'));
    near.postMessage('again');
    assert.equal(await within('a message', far.receiveAsync()), 'again');
    await until('both with a line', () => [far, near].every((port) => port.link?.status === 'open'));
    assert.deepEqual(asked, ['no', 'no', 'mine', 'mine']);
    await Promise.all([far.link?.close(), server.close()]);
    await proxy.close();
  });

  test(`${kind}: errors of the other thread are those of this one`, async () => {
    const server = await listen(address, { blocking: true });
    await assert.rejects(listen(server.address, { blocking: true }), (error) => {
      assert.ok(error instanceof AddressError, String(error));
      assert.deepEqual([error.code, error.address], ['ERR_ADDRESS_IN_USE', server.address]);
      return true;
    });
    const free = server.address;
    await server.close();
    await assert.rejects(connect(free, { blocking: true }), (error) => {
      assert.ok(error instanceof AddressError, String(error));
      assert.deepEqual([error.code, error.address], ['ERR_UNREACHABLE', free]);
      assert.ok(error.cause instanceof Error);
      return true;
    });
    const signal = AbortSignal.abort(new RangeError('enough'));
    await assert.rejects(connect(free, { blocking: true, signal }), RangeError);
    await assert.rejects(connect(free, { blocking: 'yes' as never }), UsageError);
  });
}

test('what cannot go to the other thread is told', async () => {
  const url = 'ws://127.0.0.1:1/';
  await assert.rejects(connect(url, { blocking: true, webSocket: () => ({}) as never }), UnsupportedError);
  const tls = { key: () => 'secret', cert: 'x' } as never;
  await assert.rejects(listen('tls:0', { blocking: true, tls }), (error) => {
    assert.ok(error instanceof UsageError, String(error));
    assert.deepEqual([error.code, /secret/.test(String(error))], ['ERR_OPTION', false]);
    return true;
  });
});
