// Both ends of a sab-message-port, or of what has its names, for every frame that times it: Node's threads and pages.
import type { Load, Tally } from '../loads.ts';
import type { End } from '../subject.ts';

export interface SabPort {
  postMessage(value: unknown): Promise<void> | undefined;
  read(timeout?: number, blocking?: boolean, maxMessages?: number): unknown;
  asyncRead(timeout?: number, maxMessages?: number): Promise<unknown>;
  onmessage: ((event: { data: unknown }) => void) | null;
  postInit(target: null, extra?: object): [data: { port?: unknown }, transfer: unknown[]];
  close(): void;
}

export interface Package {
  SABMessagePort: { new (side?: string, sizeKB?: number): SabPort; from(init: unknown): SabPort };
  MWChannel: { new (side: string, sizeKB?: number): SabPort; from(init: unknown): SabPort };
}

/** Messages handed over before the sender waits for the port: its batching is what makes it fast. */
const BATCH = 256;

/** The stand-in has the original's shape under names of its own. */
export interface StandIn {
  readonly StandInMessagePort: Package['SABMessagePort'];
  readonly StandInChannel: Package['MWChannel'];
}

/** The original's names, also over the stand-in. */
export function packageOf(found: Package | StandIn): Package {
  if ('SABMessagePort' in found) return found;
  return { SABMessagePort: found.StandInMessagePort, MWChannel: found.StandInChannel };
}

async function sendBatches(port: SabPort, load: Load, count: number, from: number): Promise<void> {
  const { items, mask } = load;
  for (let i = 0; i < count; ) {
    const end = Math.min(count, i + BATCH);
    let last: Promise<void> | undefined;
    for (; i < end; i++) last = port.postMessage(items[(from + i) & mask]);
    await last;
  }
}

function readBlocking(port: SabPort, load: Load, count: number): Tally {
  let sum = 0;
  for (let seen = 0; seen < count; ) {
    const batch = port.read(Number.POSITIVE_INFINITY, true, BATCH) as unknown[];
    // Newest first, as documented: popping gives the order of sending.
    for (let value = batch.pop(); value !== undefined; value = batch.pop(), seen++) sum = (sum + load.weigh(value)) | 0;
  }
  return { count, sum };
}

async function readAsync(port: SabPort, load: Load, count: number): Promise<Tally> {
  let sum = 0;
  for (let seen = 0; seen < count; ) {
    const batch = (await port.asyncRead(Number.POSITIVE_INFINITY, BATCH)) as unknown[];
    for (let value = batch.pop(); value !== undefined; value = batch.pop(), seen++) sum = (sum + load.weigh(value)) | 0;
  }
  return { count, sum };
}

export function wrap(port: SabPort, blocks: boolean): End {
  const end: End = {
    post: (value) => port.postMessage(value),
    send: (load, count, _progress, from) => sendBatches(port, load, count, from),
    receive: (load, count) => (blocks ? readBlocking(port, load, count) : readAsync(port, load, count)),
    close: () => port.close(),
  };
  if (blocks) end.read = () => port.read();
  else
    end.listen = (handler) => {
      port.onmessage = handler && ((event) => handler(event.data));
    };
  return end;
}

/** A SharedArrayBuffer is shared by being cloned; Node refuses it in a transfer list. */
export function moved(transfer: readonly unknown[]): unknown[] {
  return transfer.filter((part) => !(part instanceof SharedArrayBuffer));
}
