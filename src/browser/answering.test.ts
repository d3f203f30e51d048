import assert from 'node:assert/strict';
import { test } from 'node:test';
import { within } from '../../test/kit/watchdog.ts';
import { type KeptPieces, keeper, readPieces } from '../transport/native/kept-pieces.ts';
import { answer } from './answering.ts';
import type { Asked } from './worker-types.ts';

/** A page that answers, and what its service worker asks of one channel's pieces. */
function page(): { pieces: KeptPieces; ask(from: number, waitMs: number): Promise<unknown> } {
  let hear!: (event: MessageEvent) => void;
  const container = {
    addEventListener: (_: string, listener: typeof hear) => {
      hear = listener;
    },
    startMessages(): void {},
  };
  answer(container as unknown as ServiceWorkerContainer, 'https://a.example/read?client=1');
  const pieces = keeper().keep!();
  const channel = new URL(pieces.address).searchParams.get('channel')!;
  const ask = (from: number, waitMs: number): Promise<unknown> => {
    const { port1, port2 } = new MessageChannel();
    const data: Asked = { type: 'millrace-read', channel, from, waitMs };
    const answered = new Promise((resolve) => {
      port1.onmessage = ({ data }) => {
        port1.close();
        resolve(data === null ? null : readPieces(data as Uint8Array));
      };
    });
    hear({ data, ports: [port2] } as unknown as MessageEvent);
    return within('an answer', answered);
  };
  return { pieces, ask };
}

test('who only looks is answered at once, whether there is something or not', async () => {
  const { pieces, ask } = page();
  assert.deepEqual(await ask(0, 0), []);
  pieces.push(Uint8Array.of(1, 2));
  assert.deepEqual(await ask(0, 0), [Uint8Array.of(1, 2)]);
});

test('who waits is answered when something comes, or when its time is over', async () => {
  const { pieces, ask } = page();
  assert.deepEqual(await ask(0, 1), []);
  const answered = ask(0, 1_000_000);
  pieces.push(Uint8Array.of(7));
  assert.deepEqual(await answered, [Uint8Array.of(7)]);
});

test('what was not confirmed is answered again, and what was is not; behind the end there is nobody', async () => {
  const { pieces, ask } = page();
  pieces.push(Uint8Array.of(1));
  pieces.push(null);
  assert.deepEqual(await ask(0, 0), [Uint8Array.of(1), null]);
  assert.deepEqual(await ask(0, 0), [Uint8Array.of(1), null]);
  assert.deepEqual(await ask(1, 0), [null]);
  pieces.drop();
  assert.equal(await ask(1, 0), null);
});

test('an older request is answered when a newer one takes its place, and keeps no service worker from being replaced', async () => {
  const { pieces, ask } = page();
  const older = ask(0, 1_000_000);
  const newer = ask(0, 1_000_000);
  assert.deepEqual(await older, []);
  pieces.push(Uint8Array.of(1));
  assert.deepEqual(await newer, [Uint8Array.of(1)]);
});

test('who waits when nobody is to read any more is told so, and keeps no service worker from being replaced', async () => {
  const { pieces, ask } = page();
  const answered = ask(0, 1_000_000);
  pieces.drop();
  assert.equal(await answered, null);
});
