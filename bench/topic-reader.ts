// A worker of scenario `topic`: reads, adds up, and says when it has as many messages as were meant for it.
import { parentPort, workerData } from 'node:worker_threads';
import type { TopicHandle } from '../src/topic/index.ts';
import { openDoor } from './doors.ts';
import { weigh } from './topic-load.ts';

export interface TopicReaderData {
  /** One of the two. */
  readonly handle?: TopicHandle;
  readonly channel?: string;
  readonly blocks: boolean;
  readonly reliable: boolean;
  /** Word 0: messages published to it, ever, once the round is over for it. */
  readonly target: SharedArrayBuffer;
}

if (parentPort !== null) {
  const port = parentPort;
  const { handle, channel, blocks, reliable, target } = workerData as TopicReaderData;
  const words = new Int32Array(target);
  let count = 0;
  let sum = 0;
  const take = (value: unknown): void => {
    sum = (sum + weigh(value)) | 0;
    if (++count === Atomics.load(words, 0)) port.postMessage(sum);
  };
  if (channel !== undefined) {
    const all = new BroadcastChannel(channel);
    all.onmessage = (event: { data: unknown }) => take(event.data);
    port.postMessage('ready');
  } else {
    const { subscribe } = await openDoor<typeof import('../src/topic/index.ts')>('./topic');
    const reader = subscribe(handle, reliable ? { slow: 'reliable' } : {});
    port.postMessage('ready');
    if (blocks) for (const value of reader.blocking()) take(value);
    else for await (const value of reader) take(value);
  }
}
