// What waits in the outbox has left its sender already, with the ports and buffers in it; and those may close while it waits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, channel, EMPTY, type Port } from '../../src/index.ts';
import { SIDE_VALUES_MAX } from '../../src/limits.ts';
import { type Role, startThread } from '../kit/thread.ts';
import { STEP_MS, turn, within } from '../kit/watchdog.ts';

interface Numbered {
  readonly i: number;
  readonly port2?: MessagePort;
}

/** As many values as the side channel takes, then `waiting` more, each with a native port. Returns their other ends. */
function postPorts(port: Port, waiting: number): MessagePort[] {
  const others: MessagePort[] = [];
  for (let i = 0; i < SIDE_VALUES_MAX + waiting; i++) {
    const { port1, port2 } = new MessageChannel();
    port.postMessage({ i, port2 }, [port2]);
    others.push(port1);
  }
  return others;
}

/** Closes native ports. They tell their other ends in a later turn: they have when one that was closed behind them has. */
async function closeNow(...ports: MessagePort[]): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const told = new Promise((resolve) => port2.addEventListener('close', resolve));
  port2.start();
  for (const port of [...ports, port1]) port.close();
  await within('the other ends to be told', told);
}

async function readOut(port: Port): Promise<number[]> {
  const numbers: number[] = [];
  for (;;) {
    const value = await within('what was posted', port.receiveAsync());
    if (value === CLOSED) return numbers;
    const { i, port2 } = value as Numbered;
    numbers.push(i);
    port2?.close();
    if (i < 0) return numbers;
  }
}

const ALL = [...Array(SIDE_VALUES_MAX + 3).keys()];
const missing = (numbers: readonly number[]): number[] => ALL.filter((i) => !numbers.includes(i));

test('a port that closes while its message waits hurts only that message, and its sender is told', async () => {
  const { port: near, remote } = channel();
  const far = attach(remote);
  const told: unknown[] = [];
  near.on('messageerror', (error) => told.push(error));
  const others = postPorts(near, 3);
  await closeNow(others[SIDE_VALUES_MAX + 1] as MessagePort);
  near.postMessage({ i: -1 });
  const flushed = near.flush();
  const numbers = await readOut(far);
  await within('the flush', flushed);
  await turn();
  assert.equal(numbers.at(-1), -1);
  assert.deepEqual(
    numbers.slice(0, -1),
    [...numbers.slice(0, -1)].sort((a, b) => a - b),
  );
  // Some runtimes still move a port whose other end is gone.
  const lost = missing(numbers);
  assert.ok(
    lost.every((i) => i === SIDE_VALUES_MAX + 1),
    `lost ${lost}`,
  );
  assert.equal(told.length, lost.length);
  assert.equal(near.stats().undelivered, lost.length);
  assert.equal(far.stats().undecodable, 0);
  for (const error of told) assert.equal((error as { code?: string }).code, 'ERR_DATA_CLONE');
  near.postMessage('goes on');
  assert.equal(far.tryReceive(), 'goes on');
  near.close();
  assert.equal(await within('the end', far.closed), 'closed');
  for (const other of others) other.close();
});

test('nobody listens for the failure: it is counted, and it is no uncaught error', async () => {
  const { port: near, remote } = channel();
  const far = attach(remote);
  const others = postPorts(near, 1);
  await closeNow(others.at(-1) as MessagePort);
  near.postMessage({ i: -1 });
  const numbers = await readOut(far);
  await turn();
  assert.equal(near.stats().undelivered, SIDE_VALUES_MAX + 2 - numbers.length);
  near.close();
  far.close();
  for (const other of others) other.close();
});

test('close() with such a message in the outbox ends both ends, and the other messages arrive', async () => {
  const { port: near, remote } = channel();
  const far = attach(remote);
  const others = postPorts(near, 3);
  await closeNow(others[SIDE_VALUES_MAX + 1] as MessagePort);
  near.close();
  assert.equal(await within('the end here', near.closed), 'closed');
  const numbers = await readOut(far);
  assert.ok(missing(numbers).every((i) => i === SIDE_VALUES_MAX + 1));
  assert.equal(far.stats().undecodable, 0);
  assert.equal(await within('the end there', far.closed), 'closed');
  for (const other of others) other.close();
});

const exits: Role = async (stage) => {
  const port = stage.port();
  const others: MessagePort[] = [];
  const second = stage.millrace.attach(await stage.hear());
  for (let i = 0; i < stage.data.count; i++) {
    const { port1, port2 } = new MessageChannel();
    port.postMessage({ i, port2 }, [port2]);
    others.push(port1);
  }
  const { port1, port2 } = new MessageChannel();
  const told = new Promise((resolve) => port2.addEventListener('close', resolve));
  port2.start();
  others.at(-2)?.close();
  // The other end of what was closed before has been told, too.
  port1.close();
  await told;
  second.postMessage('goodbye');
  stage.exit();
};

test('a thread exits with such a message in its outbox: it ends, and so do all of its ports', async () => {
  const { port, remote } = channel();
  const thread = startThread(exits, { remote, data: { count: SIDE_VALUES_MAX + 3 } });
  const code = new Promise((resolve) => thread.worker.on('exit', resolve));
  const { port: other, remote: second } = channel();
  thread.tell(second, second.transfer);
  assert.equal(await within('the exit', code), 0);
  const numbers = await readOut(port);
  assert.ok(missing(numbers).every((i) => i === SIDE_VALUES_MAX + 1));
  assert.equal(await within('the end', port.closed), 'exit');
  assert.equal(await within('the end of the other channel', other.closed), 'exit');
  assert.equal(other.tryReceive(), 'goodbye');
});

test('a list with something in it that does not move is refused before anything has moved', () => {
  const { port: near, remote } = channel();
  const far = attach(remote);
  const gone = new ArrayBuffer(8);
  structuredClone(gone, { transfer: [gone] });
  const bad: unknown[] = [{}, [], null, 1, 'text', () => 1, new Map(), new Date(), new Uint8Array(8), gone];
  // The second time around the side channel is full and the value is held back.
  for (let round = 0; round < 2; round++) {
    for (const item of bad) {
      for (const send of round === 0 ? [near.postMessage, near.trySend] : [near.postMessage]) {
        const buffer = new ArrayBuffer(8);
        assert.throws(() => send.call(near, [buffer], [buffer, item]), { code: 'ERR_TRANSFER' });
        assert.throws(() => send.call(near, [buffer], [buffer, buffer]), { code: 'ERR_TRANSFER' });
        assert.equal(buffer.byteLength, 8);
      }
    }
    for (let i = 0; round === 0 && i <= SIDE_VALUES_MAX; i++) near.postMessage(i, [new ArrayBuffer(8)]);
  }
  assert.equal(far.tryReceive(), 0);
  near.close();
  far.close();
});

test('a value that cannot be cloned is to blame for it, whatever has moved', () => {
  const { port: near, remote } = channel();
  const far = attach(remote);
  for (let i = 0; i < 2; i++) {
    const buffer = new ArrayBuffer(8);
    let error: unknown;
    try {
      near.postMessage([buffer, () => 1], [buffer]);
    } catch (caught) {
      error = caught;
    }
    assert.equal((error as { code?: string }).code, 'ERR_DATA_CLONE');
    // Deno detaches first; the message says so, and nowhere else is there anything to say.
    assert.equal(buffer.byteLength === 0, /detached the buffers/.test(String(error)));
    for (let j = 0; i === 0 && j <= SIDE_VALUES_MAX; j++) near.postMessage(j, [new ArrayBuffer(8)]);
  }
  assert.equal(far.tryReceive(), 0);
  assert.notEqual(far.tryReceive(), EMPTY);
  near.close();
  far.close();
});

test('the newest message of `latest` that waits: it is counted, and a newer one goes out', async () => {
  const { port: near, remote } = channel({ overflow: 'latest' });
  const far = attach(remote);
  const told: unknown[] = [];
  near.on('messageerror', (error) => told.push(error));
  const others = postPorts(near, 1);
  await closeNow(...others.slice(-1));
  assert.equal((far.tryReceive() as Numbered).i, SIDE_VALUES_MAX - 1);
  // Moves what waits along.
  assert.equal(near.tryReceive(), EMPTY);
  const last = far.tryReceive();
  await turn();
  assert.equal(told.length, last === EMPTY ? 1 : 0);
  assert.equal(near.stats().undelivered, told.length);
  near.postMessage('newest');
  assert.equal(far.tryReceive(), 'newest');
  near.close();
  far.close();
  for (const other of others) other.close();
});

test('a handle and a native port in a message that waits have left their sender: there they are of no use', async () => {
  const { port: near, remote } = channel({ capacityBytes: 1024 });
  const far = attach(remote);
  while (near.trySend(0));
  const { port: inner, remote: handle } = channel();
  const { port1, port2 } = new MessageChannel();
  near.postMessage({ handle, port2 }, [...handle.transfer, port2]);
  assert.ok(near.stats().outboxBytes > 0, 'it waits');
  assert.throws(() => attach(handle), { code: 'ERR_HANDLE' });
  assert.throws(() => near.postMessage(port2, [port2]));
  let message: unknown = 0;
  while (message === 0) message = await within('the message', far.receiveAsync());
  const arrived = message as { handle: unknown; port2: MessagePort };
  const there = attach(arrived.handle);
  inner.postMessage('by the handle');
  assert.equal(there.receive({ timeoutMs: STEP_MS }), 'by the handle');
  const heard = new Promise((resolve) => arrived.port2.addEventListener('message', ({ data }) => resolve(data)));
  arrived.port2.start();
  port1.postMessage('by the native port');
  assert.equal(await within('the native port', heard), 'by the native port');
  arrived.port2.close();
  for (const each of [near, far, inner, there]) each.close();
});

test('buffers that move, and texts that go natively, count in the outbox as long as they are', () => {
  const BYTES = 100_000;
  const next = {
    buffers: (port: Port, i: number) => port.postMessage(i, [new ArrayBuffer(BYTES)]),
    texts: (port: Port, i: number) => port.postMessage(`${i} `.padEnd(BYTES, 'text')),
  };
  for (const [what, post] of Object.entries(next)) {
    const { port, remote } = channel({ outboxBytes: 10 * BYTES });
    const far = attach(remote);
    let posted = 0;
    const postAll = (): void => {
      for (; posted < 1000; posted++) post(port, posted);
    };
    assert.throws(postAll, { code: 'ERR_OUTBOX_FULL' }, what);
    assert.ok(posted <= SIDE_VALUES_MAX + 12, `${posted} ${what}`);
    for (const each of [port, far]) each.close();
  }
});
