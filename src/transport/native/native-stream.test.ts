import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { within } from '../../../test/kit/watchdog.ts';
import type { NativePort } from '../../platform/contract.ts';
import { NativeStream } from './native-stream.ts';
import type { SyncReads } from './sync-reads.ts';

const nothing = (): void => {};
const values = { arrived: nothing, unreadable: nothing };

/** A stream, and the native port at the other end of which nobody says goodbye. */
function streamTo(reads?: SyncReads) {
  const { port1, port2 } = new MessageChannel();
  const stream = new NativeStream(port1 as unknown as NativePort, reads);
  const came: Uint8Array[] = [];
  const closed = new Promise<string>((resolve) => {
    stream.connect({ received: (bytes) => came.push(bytes.slice()), closed: resolve }, values, nothing);
  });
  return { stream, far: port2, came, closed };
}
const next = (port: MessagePort | import('node:worker_threads').MessagePort, type: string): Promise<unknown> =>
  new Promise((resolve) =>
    (port as EventTarget).addEventListener(type, (event) => resolve((event as MessageEvent).data)),
  );

test('a stream whose other side is gone without a word says its end, and closes its native port', async () => {
  const { stream, far, closed } = streamTo();
  const said = next(far, 'message');
  const over = next(far, 'close');
  far.start();
  stream.gone('terminated', undefined);
  assert.equal(await within('the end', closed), 'terminated');
  assert.equal(await within('null', said), null);
  await within('the native port to be closed', over);
});

test('what is said of locks is no piece of the stream, and no bytes', async () => {
  const pieces: number[] = [];
  const reads = { arrived: (bytes: number) => pieces.push(bytes) > 0, due: () => undefined, ahead: false };
  const { far, came, closed } = streamTo(reads as unknown as SyncReads);
  for (const word of ['millrace/native/http://here/you/1', true, false, Uint8Array.of(1), null]) far.postMessage(word);
  await within('the end', closed);
  assert.deepEqual([pieces, came.map((bytes) => [...bytes])], [[1, 0], [[1]]]);
});
