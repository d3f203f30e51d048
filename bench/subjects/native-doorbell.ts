// A native port whose worker blocks: the way of libraries that make a worker wait synchronously. The sender rings a shared
// word after each post; the worker sleeps on it and then asks its port.
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { End, ThreadSubject } from '../subject.ts';

/** Deno's port may hand a message out a little after the bell: then it is asked again. */
const LOOK_AGAIN_MS = 5;
/** Far beyond any round: a peer that has failed must not leave this thread blocked for good. */
const LOOKS_MAX = 4_000;

interface Data {
  readonly port: MessagePort;
  readonly bell: Int32Array;
}

function ringing(port: MessagePort, bell: Int32Array): End {
  let handler: ((value: unknown) => void) | null = null;
  let started = false;
  return {
    post: (value) => {
      port.postMessage(value);
      Atomics.add(bell, 0, 1);
      Atomics.notify(bell, 0);
    },
    listen: (next) => {
      handler = next;
      if (!started) port.on('message', (message: unknown) => handler?.(message));
      started = true;
    },
    close: () => port.close(),
  };
}

function blocking({ port, bell }: Data): End {
  return {
    post: (value) => port.postMessage(value),
    read: () => {
      for (let looks = 0; looks < LOOKS_MAX; looks++) {
        const rung = Atomics.load(bell, 0);
        const got = receiveMessageOnPort(port) as { message: unknown } | undefined;
        if (got) return got.message;
        Atomics.wait(bell, 0, rung, LOOK_AGAIN_MS);
      }
      throw new Error('the other side does not send');
    },
    close: () => port.close(),
  };
}

export const subjects: readonly ThreadSubject[] = [
  {
    name: 'native-doorbell',
    label: 'MessagePort with a doorbell',
    use: 'What libraries for synchronous workers do: the sender rings a shared word after postMessage, the worker sleeps on it in Atomics.wait and then calls receiveMessageOnPort; answers go to the main thread by postMessage.',
    forms: [],
    waits: ['loop/block'],
    onlyIn: ['round-trip', 'after-rest', 'first-thousand'],
    connect: () => {
      const { port1, port2 } = new MessageChannel();
      const bell = new Int32Array(new SharedArrayBuffer(4));
      return { end: ringing(port1, bell), data: { port: port2, bell } satisfies Data, transfer: [port2] };
    },
    attach: ({ data }) => blocking(data as Data),
  },
];
