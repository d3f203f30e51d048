// Both ends of our port, for every frame that times it: Node's threads and pages.
import type { Port } from '../../src/index.ts';
import type { Load, Tally } from '../loads.ts';
import type { End } from '../subject.ts';

/** Messages published together by a sender that has more to say, and taken together by a reader that blocks. */
const BATCH = 64;

/** Far beyond any round: a peer that has failed must not leave this thread blocked for good. */
const PATIENCE = { timeoutMs: 20_000 };

const NOTHING = Symbol();

/** Nothing came in time, or nothing will: `receive` says so by a symbol, which no load has. */
function taken(value: unknown): unknown {
  if (typeof value === 'symbol') throw new Error('the other side neither sends nor closes');
  return value;
}

function sent(done: boolean): void {
  if (!done) throw new Error('the other side does not read');
}

/** Blocks when the ring is full; each batch is published at once. */
function sendBlocking(port: Port, load: Load, count: number, from: number): void {
  const { items, mask } = load;
  let i = 0;
  const batch = (): void => {
    for (const end = Math.min(count, i + BATCH); i < end; i++) sent(port.send(items[(from + i) & mask], PATIENCE));
  };
  while (i < count) port.cork(batch);
}

/** Returns to the event loop when the ring is full. */
async function sendOnLoop(port: Port, load: Load, count: number, from: number): Promise<void> {
  const { items, mask } = load;
  let i = 0;
  const batch = (): void => {
    for (const end = Math.min(count, i + BATCH); i < end; i++) {
      if (!port.trySend(items[(from + i) & mask])) return;
    }
  };
  while (i < count) {
    const before = i;
    port.cork(batch);
    if (i < count && i - before < BATCH) await port.drained();
  }
}

function receiveBlocking(port: Port, load: Load, count: number): Tally {
  let sum = 0;
  for (let seen = 0; seen < count; ) {
    const batch = port.receiveMany(BATCH, PATIENCE);
    if (batch.length === 0) taken(NOTHING);
    for (const value of batch) sum = (sum + load.weigh(value)) | 0;
    seen += batch.length;
  }
  return { count, sum };
}

/** This thread blocks in `receive`. */
export function blocking(port: Port): End {
  return {
    post: (value) => port.postMessage(value),
    read: () => taken(port.receive(PATIENCE)),
    send: (load, count, _progress, from) => sendBlocking(port, load, count, from),
    receive: (load, count) => receiveBlocking(port, load, count),
    close: () => port.close(),
  };
}

/** This thread lives on its event loop. */
export function onLoop(port: Port): End {
  let handler: ((value: unknown) => void) | null = null;
  let listening = false;
  const take = (value: unknown): void => handler?.(value);
  return {
    post: (value) => port.postMessage(value),
    listen: (next) => {
      handler = next;
      if (!listening) port.on('message', take);
      listening = true;
    },
    send: (load, count, _progress, from) => sendOnLoop(port, load, count, from),
    close: () => port.close(),
  };
}
