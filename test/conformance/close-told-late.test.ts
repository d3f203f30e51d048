// The end of a channel, as an event, for those who begin to listen when it has come.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { attach, channel, type Port } from '../../src/index.ts';
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
