// The end of a channel, as an event, for those who begin to listen when it has come.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { attach, CLOSED, channel, type Port, selectAsync } from '../../src/index.ts';
import { startThread } from '../kit/thread.ts';
import { turn, until, within } from '../kit/watchdog.ts';

/** What listeners hear that are added now, to the end. */
function heardBy(port: Port, closeFirst = false): Promise<unknown[]> {
  const heard: unknown[] = [];
  return within(
    'the end',
    new Promise((resolve) => {
      if (closeFirst) port.on('close', (reason) => resolve([...heard, reason]));
      port.on('message', (value) => heard.push(value));
      if (!closeFirst) port.on('close', (reason) => resolve([...heard, reason]));
    }),
  );
}

for (const touched of [false, true]) {
  const which = touched ? 'has looked before' : 'has not looked yet';
  test(`who begins to listen when the peer has ended, and ${which}, is handed what is unread, and then told`, async () => {
    const { port, remote } = channel();
    const far = attach(remote);
    if (touched) far.tryReceive();
    port.postMessage('unread');
    port.close();
    for (let i = 0; i < 5; i++) await turn();
    assert.deepEqual(await heardBy(far), ['unread', 'closed']);
  });
}

test('the same of who listens to the end first, and to messages in the same turn', async () => {
  const { port, remote } = channel();
  const far = attach(remote);
  for (const value of [1, 2, 3]) port.postMessage(value);
  port.close();
  for (let i = 0; i < 5; i++) await turn();
  assert.deepEqual(await heardBy(far, true), [1, 2, 3, 'closed']);
});

test('who hands over to another listener in the middle of what is unread is told of the end behind it', async () => {
  const { port, remote } = channel();
  const far = attach(remote);
  const heard: unknown[] = [];
  const end = new Promise((resolve) => {
    far.on('close', (reason) => resolve([...heard, reason]));
  });
  far.onmessage = ({ data }) => {
    heard.push(data);
    far.onmessage = null;
    far.onmessage = (next) => heard.push(next.data);
  };
  for (const value of [1, 2, 3]) port.postMessage(value);
  port.close();
  assert.deepEqual(await within('the end', end), [1, 2, 3, 'closed']);
});

test('the same of who awaits the first message, and then listens', async () => {
  const { port, remote } = channel();
  const far = attach(remote);
  const heard: unknown[] = [];
  const end = new Promise((resolve) => {
    far.on('close', (reason) => resolve([...heard, reason]));
  });
  for (const value of [1, 2, 3]) port.postMessage(value);
  port.close();
  const [first] = await once(far, 'message');
  heard.push(first);
  far.on('message', (value) => heard.push(value));
  assert.deepEqual(await within('the end', end), [1, 2, 3, 'closed']);
});

// More than are handed out without a turn of the event loop in between.
const MANY = 3000;
const LOOPS: Record<string, (far: Port, take: (value: unknown) => void) => Promise<void>> = {
  'for await': async (far, take) => {
    for await (const value of far) take(value);
  },
  receiveAsync: async (far, take) => {
    for (let value = await far.receiveAsync(); value !== CLOSED; value = await far.receiveAsync()) take(value);
  },
  selectAsync: async (far, take) => {
    for (;;) {
      await selectAsync([far]);
      const value = far.tryReceive();
      if (value === CLOSED) return;
      take(value);
    }
  },
};
for (const [name, loop] of Object.entries(LOOPS)) {
  test(`who takes one message after the other by ${name} is told of the end behind the last one`, async () => {
    const { port, remote } = channel();
    const far = attach(remote);
    let taken = 0;
    const end = new Promise((resolve) => {
      far.on('close', () => resolve(taken));
    });
    for (let i = 0; i < MANY; i++) port.postMessage(i);
    port.close();
    await within(
      'all that is unread',
      loop(far, () => taken++),
    );
    assert.equal(await within('the end', end), MANY);
  });
}

for (const loops of [2, 3]) {
  test(`the same where ${loops} loops share the messages, and a last one comes with the end`, async () => {
    const { port, remote } = channel();
    const far = attach(remote);
    let taken = 0;
    const end = new Promise((resolve) => {
      far.on('close', () => resolve(taken));
    });
    const done = Array.from({ length: loops }, async () => {
      for await (const _ of far) taken++;
    });
    await turn();
    port.postMessage('last');
    port.close();
    assert.equal(await within('the end', end), 1);
    await within('all loops', Promise.all(done));
  });
}

test('the same of a thread that has ended', async () => {
  const { port, remote } = channel();
  const thread = startThread((stage) => stage.port().postMessage('last'), { remote });
  await thread.ended;
  await within('the end', port.closed);
  const [first, reason] = await heardBy(port);
  assert.equal(first, 'last');
  assert.equal(reason, port.reason);
});

test('who asks for the end alone when all is read is told of it, and only once', async () => {
  const { port, remote } = channel();
  const far = attach(remote);
  port.close();
  await within('the end', far.closed);
  let told = 0;
  far.on('close', () => told++);
  far.on('close', () => told++);
  for (let i = 0; i < 5; i++) await turn();
  far.on('close', () => told++);
  for (let i = 0; i < 5; i++) await turn();
  assert.equal(told, 2);
});

test('one who ceases to listen before it is told is not told, and the next one is', async () => {
  const { port, remote } = channel();
  const far = attach(remote);
  port.close();
  await within('the end', far.closed);
  const told: string[] = [];
  const first = (): number => told.push('first');
  far.on('close', first);
  far.off('close', first);
  for (let i = 0; i < 5; i++) await turn();
  far.on('close', () => told.push('second'));
  await until('it is told', () => told.length > 0);
  assert.deepEqual(told, ['second']);
});

test('one whom `selectAsync` has told of a message, and who reads no more, is told of the end', async () => {
  const { port, remote } = channel();
  const far = attach(remote);
  port.postMessage(1);
  port.close();
  await within('the end', far.closed);
  const told: unknown[] = [];
  const ready = selectAsync([far]);
  far.on('close', (reason) => told.push(reason));
  assert.equal(await within('it is ready', ready), far);
  await until('it is told', () => told.length > 0);
  assert.deepEqual(told, ['closed']);
  assert.equal(far.tryReceive(), 1);
});

test('the old end of a port that moves while its end waits to be told has moved, and the new one is told', async () => {
  const { port, remote } = channel();
  const { port: carrier, remote: there } = channel();
  const [far, arrives] = [attach(remote), attach(there)];
  port.postMessage(1);
  port.close();
  await within(
    'the end',
    far.closed.then(() => {}),
  );
  const told: unknown[] = [];
  far.on('close', (reason) => told.push(reason));
  carrier.postMessage(far, [far]);
  const moved = (await within('the port', arrives.receiveAsync())) as Port;
  await until('it is told', () => told.length > 0);
  assert.deepEqual(told, ['detached']);
  assert.deepEqual(await heardBy(moved), [1, 'closed']);
  carrier.close();
});
