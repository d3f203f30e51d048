// The end of a pipe between any two looks of its other side: what was written before comes, who waits is told, and nothing is held.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SABPipe } from '../../src/compat/sab-message-port.ts';
import { turn, until } from '../kit/watchdog.ts';

const DISPOSED = -1;
/** Looks of a reader at its memory from the start to its rest; more than there are. */
const LOOKS = 60;

/** The reader goes to its rest. */
async function rest(): Promise<void> {
  for (let i = 0; i < 5; i++) await turn();
}

/** Has `then` called once, before the load of `buffer` that has `number` others before it. */
function atLoad(buffer: SharedArrayBuffer, number: number, then: () => void): () => boolean {
  const { load } = Atomics;
  let left = number;
  const stop = (): void => {
    Atomics.load = load;
  };
  Atomics.load = ((words: Int32Array, index: number): number => {
    if (words.buffer === buffer && left-- === 0) {
      stop();
      then();
    }
    return load(words, index);
  }) as typeof Atomics.load;
  return () => {
    stop();
    return left < 0;
  };
}

test('a handler hears what was written before the end, wherever that comes', async () => {
  for (let number = 0; number < LOOKS; number++) {
    const writer = new SABPipe('w', 4096);
    const reader = new SABPipe('r', writer.buffer);
    const heard: unknown[] = [];
    reader.onmessage = ({ data }) => heard.push(data);
    const over = atLoad(writer.buffer, number, () => {
      void writer.postMessage('last');
      writer.close();
    });
    await rest();
    if (!over()) {
      void writer.postMessage('last');
      writer.close();
    }
    await until(`the last one is heard, before load ${number}`, () => heard.length > 0 && !reader.hasRef());
    assert.deepEqual(heard, ['last']);
    reader.close();
  }
});

test('a pending asyncRead is told of the end, wherever that comes', async () => {
  for (let number = 0; number < LOOKS; number++) {
    const writer = new SABPipe('w', 4096);
    const reader = new SABPipe('r', writer.buffer);
    let settled = false;
    const settle = (): void => {
      settled = true;
    };
    reader.asyncRead().then(settle, settle);
    const over = atLoad(writer.buffer, number, () => writer.close());
    await rest();
    if (!over()) writer.close();
    await until(`it is told, before load ${number}`, () => settled && !reader.hasRef());
    reader.close();
  }
});

test('what waits for the end of the turn goes out before the word that says the end', async () => {
  const writer = new SABPipe('w', 4096, 0, null, 10);
  const seen = new SharedArrayBuffer(4096);
  const { store } = Atomics;
  Atomics.store = ((words: Int32Array, index: number, value: number): number => {
    const stored = store(words, index, value);
    // What a reader in another thread would find now.
    if (words.buffer === writer.buffer && value === DISPOSED) new Uint8Array(seen).set(new Uint8Array(writer.buffer));
    return stored;
  }) as typeof Atomics.store;
  try {
    const written = writer.postMessage('x');
    writer.close();
    await written;
  } finally {
    Atomics.store = store;
  }
  const reader = new SABPipe('r', seen);
  const heard: unknown[] = [];
  reader.onmessage = ({ data }) => heard.push(data);
  await until('it comes', () => heard.length === 1);
  assert.deepEqual(heard, ['x']);
  reader.close();
});
