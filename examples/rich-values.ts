// Step 5. Values that JSON cannot carry, and objects that move, all in the order in which they were sent.
import assert from 'node:assert/strict';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { CLOSED, EMPTY, spawn } from '../src/index.ts';
import { green, heading, isProgram, say } from './screen.ts';

export async function richValues(): Promise<void> {
  heading('5  Everything structured clone carries, and things that move');
  const { port } = spawn(new URL('./workers/echo.js', import.meta.url));

  async function there(value: unknown, transfer: unknown[] = []): Promise<unknown> {
    port.postMessage(value, transfer);
    const back = await port.receiveAsync();
    assert(back !== CLOSED && back !== EMPTY);
    return back;
  }

  const map = new Map<unknown, unknown>([
    ['when', new Date(0)],
    [7n, new Set([1, 'two'])],
  ]);
  assert.deepEqual(await there(map), map);
  say(`${green('ok')}  a Map with a Date, a Set and a BigInt key`);

  const ring: { name: string; self?: unknown; list: unknown[] } = { name: 'cycle', list: [] };
  ring.self = ring;
  ring.list.push(ring, ring.list);
  const back = (await there(ring)) as typeof ring;
  assert(back.self === back && back.list[0] === back && back.list[1] === back.list);
  say(`${green('ok')}  an object that contains itself`);

  const numbers = { floats: new Float64Array([1.5, -0, Number.NaN]), bytes: new Uint8Array([1, 2, 3]) };
  assert.deepEqual(await there(numbers), numbers);
  say(`${green('ok')}  typed arrays, with NaN and -0`);

  const failure = new TypeError('boom', { cause: new RangeError('deeper') });
  const received = (await there(failure)) as TypeError;
  assert(received instanceof TypeError && received.cause instanceof RangeError);
  say(`${green('ok')}  an Error with its cause`);

  for (const nothing of [null, undefined, 0, false, '']) assert.equal(await there(nothing), nothing);
  say(`${green('ok')}  null, undefined, 0, false and '' are messages, never "nothing there"`);

  const buffer = new ArrayBuffer(1024);
  const { port1, port2 } = new MessageChannel();
  const order: string[] = [];
  port.postMessage('before');
  port.postMessage(buffer, [buffer]);
  port.postMessage(port2, [port2]);
  port.postMessage('after');
  assert.equal(buffer.byteLength, 0, 'the buffer has moved');
  let moved: MessagePort | undefined;
  for (let i = 0; i < 4; i++) {
    const value = await port.receiveAsync();
    order.push(typeof value === 'string' ? value : (value as object).constructor.name);
    if (typeof value === 'object') moved = value as MessagePort;
  }
  assert.deepEqual(order, ['before', 'ArrayBuffer', 'MessagePort', 'after']);
  const heard = new Promise((resolve) => port1.once('message', resolve));
  moved?.postMessage('through the port that travelled');
  assert.equal(await heard, 'through the port that travelled');
  port1.close();
  say(`${green('ok')}  an ArrayBuffer and a MessagePort moved there and back, in order: ${order.join(', ')}`);
  port.close();
}

if (isProgram(import.meta.url)) await richValues();
