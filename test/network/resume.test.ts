// What becomes of a connection whose lines break, in both kinds of lines: it goes on, or ends and says why. 40 cuts in 80,000 messages; 1,000 in 1,000,000 under SOAK=1.
// watchdog: 300 s
import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { type Port, RefusedError, TimeoutError } from '../../src/index.ts';
import type { ConnectOptions, Listener, ListenOptions } from '../../src/net/index.ts';
import { CuttingProxy, portIn } from '../kit/cutting-proxy.ts';
import { connect, listen } from '../kit/net.ts';
import { Random, seed } from '../kit/prng.ts';
import { turn, until, within } from '../kit/watchdog.ts';

const SOAK = process.env['SOAK'] === '1';
const ADDRESSES = { tcp: 'tcp:127.0.0.1:0', tls: 'tls:127.0.0.1:0', ws: 'ws://127.0.0.1:0/' };

interface Met {
  readonly server: Listener;
  readonly proxy: CuttingProxy;
  /** The listener's, and who has connected. */
  readonly near: Port;
  readonly far: Port;
}

async function meet(address: string, options: ListenOptions = {}, own: ConnectOptions = {}): Promise<Met> {
  const server = await listen(address, options);
  const proxy = await CuttingProxy.to(portIn(server.address));
  const taken = server[Symbol.asyncIterator]().next();
  const far = await connect(proxy.inFrontOf(server.address), own);
  const near = (await within('a connection', taken)).value as Port;
  await within('both', Promise.all([near.ready, far.ready]));
  return { server, proxy, near, far };
}
async function end({ server, proxy, far }: Met): Promise<void> {
  await within('the end', Promise.all([far.link?.close(), server.close()]));
  await proxy.close();
}
const statusOf = (port: Port): string | undefined => port.link?.status;

for (const [kind, address] of Object.entries(ADDRESSES)) {
  test(`${kind}: none of many messages is lost, doubled or out of order while lines are cut`, async () => {
    const met = await meet(address);
    const { proxy, near, far } = met;
    const [count, cuts] = SOAK ? [500_000, 1000] : [40_000, 40];
    const random = new Random(seed);
    const pads = Array.from({ length: 16 }, () => 'x'.repeat(random.int(0, 300)));
    const send = async (port: Port): Promise<void> => {
      for (let i = 0; i < count; i++) {
        port.postMessage({ i, pad: pads[i % pads.length] });
        if (i % 500 === 499) await port.drained();
        // Spread over the cuts: so much is sent before the next one.
        while (proxy.cuts < Math.floor((i / count) * cuts)) await cut();
      }
      await port.flush();
    };
    let cutting: Promise<void> | undefined;
    const cut = (): Promise<void> => {
      cutting ??= (async () => {
        await until('a line', () => statusOf(near) === 'open' && statusOf(far) === 'open');
        proxy.cut(random.int(0, 3) === 0 ? 'end' : 'reset');
        // Neither side has noticed before.
        await turn();
        cutting = undefined;
      })();
      return cutting;
    };
    const read = async (port: Port): Promise<void> => {
      for (let i = 0; i < count; i++) {
        const { i: got, pad } = (await port.receiveAsync()) as { i: number; pad: string };
        if (got !== i || pad !== pads[i % pads.length]) assert.fail(`message ${i} came as ${got}`);
      }
    };
    const all = Promise.all([send(near), send(far), read(near), read(far)]);
    await within('all messages', all, SOAK ? 1200 : 120);
    assert.ok(proxy.cuts >= cuts - 1, `it was cut ${proxy.cuts} times`);
    assert.deepEqual([near.stats().undelivered, far.stats().undelivered], [0, 0]);
    await end(met);
  });

  test(`${kind}: a message of 64 MB arrives whole, also where its line breaks in the middle, and others go on beside it`, async () => {
    const met = await meet(address);
    const { proxy, near, far } = met;
    const [large, small] = [far, far.link?.channel('small') as Port];
    const bytes = new Uint8Array(64 << 20).map((_, i) => (i * 2654435761) >>> 24);
    large.postMessage(bytes);
    const beside = near.link?.channel('small') as Port;
    const answering = (async () => {
      for await (const value of beside) beside.postMessage(value);
    })();
    let got: unknown;
    const coming = near.receiveAsync().then((value) => {
      got = value;
    });
    let rounds = 0;
    while (got === undefined) {
      small.postMessage(rounds);
      assert.equal(await within('an answer beside it', small.receiveAsync()), rounds++);
      if (rounds === 3) proxy.cut();
    }
    await coming;
    assert.ok(Buffer.from(bytes.buffer).equals(got as Uint8Array));
    assert.ok(rounds >= 3, `${rounds} rounds beside it`);
    small.close();
    await within('its end', answering);
    await end(met);
  });

  test(`${kind}: what is posted without a line waits, and status tells; who is there first is told first`, async () => {
    const met = await meet(address);
    const { proxy, near, far } = met;
    const told: string[] = [];
    far.link?.addEventListener('status', ({ data }) => void told.push(data));
    await proxy.close();
    await until('both to notice', () => statusOf(near) === 'reconnecting' && statusOf(far) === 'reconnecting');
    near.postMessage('to there');
    far.postMessage('to here');
    assert.equal(far.reason, undefined);
    await proxy.open();
    assert.equal(await within('a message', far.receiveAsync()), 'to there');
    assert.equal(await within('a message', near.receiveAsync()), 'to here');
    await until('both to be there', () => statusOf(near) === 'open' && statusOf(far) === 'open');
    await end(met);
    assert.deepEqual(told, ['reconnecting', 'open', 'over']);
  });

  test(`${kind}: without another line in resumeMs both sides are lost, with an error that says so`, async () => {
    const met = await meet(address, { resumeMs: 200 }, { resumeMs: 200 });
    const { proxy, near, far, server } = met;
    const pending = far.flush().catch((error) => error);
    await proxy.close();
    for (const port of [near, far]) {
      assert.equal(await within('the end', port.closed), 'lost');
      assert.ok(port.error instanceof TimeoutError, String(port.error));
      assert.match(port.error.message, /200 ms/);
    }
    await within('what waits', pending);
    await server.close();
  });

  test(`${kind}: lines that break with whatever is said over them are no better than none`, async () => {
    const met = await meet(address, { resumeMs: 3000 }, { resumeMs: 3000 });
    const { proxy, near, far } = met;
    proxy.most = kind === 'ws' ? 10_000 : 40_000;
    const large = 'x'.repeat(300_000);
    far.postMessage(large);
    if (kind === 'ws') {
      // Of a WebSocket's message the other side has all or nothing.
      assert.equal(await within('the end', far.closed), 'lost');
      assert.match(String((far.error as Error).message), /One line after the other breaks.*3000 ms/);
      assert.equal(await within('the end', near.closed), 'lost');
    } else assert.equal(await within('a message', near.receiveAsync()), large);
    proxy.most = Number.POSITIVE_INFINITY;
    await end(met);
  });

  test(`${kind}: a listener that was started anew knows nobody, and nothing begins anew in silence`, async () => {
    const met = await meet(address);
    const { proxy, near, far, server } = met;
    far.postMessage('never read');
    // Another one at the address, in the place of one whose process is gone.
    const other = await listen(address);
    proxy.to = portIn(other.address);
    proxy.cut();
    assert.equal(await within('the end', far.closed), 'lost');
    assert.ok(far.error instanceof RefusedError, String(far.error));
    assert.equal(other.connections, 0);
    assert.equal(near.reason, undefined, 'it may still come');
    await Promise.all([server.close(), other.close(), proxy.close()]);
  });

  test(`${kind}: without resume on either side a line that breaks is the end`, async () => {
    for (const [here, there] of [
      [{ resume: false }, {}],
      [{}, { resume: false }],
    ]) {
      const met = await meet(address, here, there);
      met.proxy.cut();
      assert.deepEqual(await within('the end', Promise.all([met.near.closed, met.far.closed])), ['lost', 'lost']);
      await met.proxy.close();
      await met.server.close();
    }
  });

  test(`${kind}: a listener keeps as many without a line as it says, and ends the one that has waited longest`, async () => {
    const first = await meet(address, { maxParkedSessions: 1 });
    const { server, proxy } = first;
    const taken = server[Symbol.asyncIterator]().next();
    const second = await connect(proxy.inFrontOf(server.address));
    const near = (await within('a connection', taken)).value as Port;
    await within('both', near.ready);
    await proxy.close();
    await until('one to be over', () => [first.near, near].some(({ reason }) => reason === 'lost'));
    const [over, open] = first.near.reason === 'lost' ? [first.near, near] : [near, first.near];
    assert.match(String((over.error as Error).message), /maxParkedSessions/);
    assert.equal(open.reason, undefined);
    await proxy.open();
    const ends = await within('the ends', Promise.race([first.far.closed, second.closed]));
    assert.equal(ends, 'lost');
    await Promise.all([first.far.link?.close(), second.link?.close(), server.close()]);
    await proxy.close();
  });

  test(`${kind}: a listener keeps as many bytes without a line as it says`, async () => {
    const { server, proxy, near, far } = await meet(address, { maxParkedBytes: 100_000 });
    await proxy.close();
    await until('it to notice', () => statusOf(near) === 'reconnecting');
    near.postMessage('x'.repeat(50_000));
    assert.equal(near.reason, undefined);
    near.postMessage('y'.repeat(60_000));
    assert.equal(await within('the end', near.closed), 'lost');
    assert.match(String((near.error as Error).message), /maxParkedBytes/);
    await Promise.all([far.link?.close(), server.close()]);
  });

  test(`${kind}: a line on which nothing goes is no end; who connected finds another one, and the other side's is left`, async () => {
    const met = await meet(address, {}, { pingMs: 100 });
    const { proxy, near, far } = met;
    const { lines } = proxy;
    proxy.stall(true);
    far.postMessage('a');
    near.postMessage('b');
    proxy.stallNew = false;
    assert.deepEqual(await within('both', Promise.all([near.receiveAsync(), far.receiveAsync()])), ['a', 'b']);
    assert.ok(proxy.lines > lines);
    await end(met);
  });

  test(`${kind}: last words reach the other side over the next line`, async () => {
    for (const closer of ['near', 'far'] as const) {
      const met = await meet(address);
      const { proxy, near, far, server } = met;
      const [one, other] = closer === 'near' ? [near, far] : [far, near];
      await proxy.close();
      await until('both to notice', () => statusOf(near) === 'reconnecting' && statusOf(far) === 'reconnecting');
      for (let i = 0; i < 10; i++) one.postMessage(i);
      one.close();
      const draining = server.close({ drainMs: 60_000 });
      await proxy.open();
      const got: unknown[] = [];
      for await (const message of other) got.push(message);
      assert.deepEqual(got, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      assert.equal(await within('the end', other.closed), 'closed');
      await within('the listener', draining);
      await proxy.close();
    }
  });
}
