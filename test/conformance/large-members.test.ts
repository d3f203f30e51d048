// Large strings in objects: some runtimes carry them beside the ring, shared between threads. Whichever way each goes, order,
// limits, the newest only, what is left over at the end, and late readers are as ever.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, channel, EMPTY, type Port } from '../../src/index.ts';
import { within } from '../kit/watchdog.ts';

const LARGE = 70_000;
let made = 0;
const text = (length = LARGE): string =>
  `${made++}`.padEnd(12, '_') + String.fromCharCode(97 + (made % 26)).repeat(length - 12);

/** Small and large, flat and nested, repeated and new, in turn. */
function mixture(count: number): unknown[] {
  const repeated = text();
  return Array.from({ length: count }, (_, i) => {
    switch (i % 7) {
      case 0:
        return { i, text: text() };
      case 1:
        return i;
      case 2:
        return { i, text: repeated };
      case 3:
        return { i, inner: { text: text() } };
      case 4:
        return text();
      case 5:
        return { i, a: text(), b: text(), wide: `λ${text(80_000)}` };
      default:
        return { i, small: 'x' };
    }
  });
}

/** Everything that comes until `count` messages have, the sender's outbox being moved on meanwhile. */
function drain(from: Port, sender: Port, count: number): unknown[] {
  const seen: unknown[] = [];
  while (seen.length < count) {
    const value = from.tryReceive();
    if (value !== EMPTY) seen.push(value);
    else assert.equal(sender.tryReceive(), EMPTY);
  }
  return seen;
}

test('a burst of small and large arrives in order, equal', () => {
  const { port, remote } = channel();
  const far = attach(remote);
  for (let round = 0; round < 3; round++) {
    const sent = mixture(70);
    for (const value of sent) port.postMessage(value);
    assert.deepEqual(drain(far, port, sent.length), sent);
  }
  port.close();
  far.close();
});

test('trySend() and postMessage() hold the limit of a message', () => {
  const { port, remote } = channel({ maxMessageBytes: 100_000 });
  const far = attach(remote);
  const tooLong = { id: 1, text: text(120_000) };
  assert.throws(() => port.postMessage(tooLong), { code: 'ERR_TOO_LARGE' });
  assert.throws(() => port.trySend(tooLong), { code: 'ERR_TOO_LARGE' });
  assert.throws(() => port.postMessage({ a: text(), b: text() }), { code: 'ERR_TOO_LARGE' });
  const fits = { id: 2, text: text(90_000) };
  port.postMessage(fits);
  assert.deepEqual(drain(far, port, 1), [fits]);
  port.close();
  far.close();
});

test('of objects with large strings only the newest is read, where only the newest counts', () => {
  const { port, remote } = channel({ overflow: 'latest' });
  const far = attach(remote);
  for (let round = 0; round < 3; round++) {
    const sent = Array.from({ length: 5 }, (_, i) => ({ i, text: text() }));
    for (const value of sent) port.postMessage(value);
    assert.deepEqual(far.tryReceive(), sent[4]);
    assert.equal(far.tryReceive(), EMPTY);
  }
  port.close();
  far.close();
});

test('what was sent before the end is read by who attaches after it', async () => {
  const { port, remote } = channel();
  const sent = mixture(140);
  for (const value of sent) port.postMessage(value);
  port.close();
  const far = attach(remote);
  const seen: unknown[] = [];
  for (;;) {
    const value = await within('the next message', far.receiveAsync());
    if (value === CLOSED) break;
    seen.push(value);
  }
  assert.deepEqual(seen, sent);
  far.close();
});

test('more objects than may be under way beside the ring arrive, too', () => {
  const { port, remote } = channel();
  const far = attach(remote);
  const sent = Array.from({ length: 300 }, (_, i) => ({ i, text: text(65_536) }));
  for (const value of sent) port.postMessage(value);
  assert.deepEqual(drain(far, port, sent.length), sent);
  port.close();
  far.close();
});
