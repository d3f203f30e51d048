// The runtime's own MessagePort: the rival that everybody has, and the baseline of most tables.
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Connection, End, ThreadSubject } from '../subject.ts';
import { SpinWatch } from './spin-watch.ts';

type Wrap = (port: MessagePort) => End;

function onLoop(post: (port: MessagePort, value: unknown) => void, open: (message: unknown) => unknown): Wrap {
  return (port) => {
    let handler: ((value: unknown) => void) | null = null;
    let started = false;
    return {
      post: (value) => post(port, value),
      listen: (next) => {
        handler = next;
        if (started) return;
        started = true;
        port.on('message', (message: unknown) => handler?.(open(message)));
      },
      close: () => port.close(),
    };
  };
}

const clone: Wrap = onLoop(
  (port, value) => port.postMessage(value),
  (message) => message,
);

const json: Wrap = onLoop(
  (port, value) => port.postMessage(JSON.stringify(value)),
  (message) => JSON.parse(message as string),
);

// The sender keeps its bytes, as every other contender lets it: what is transferred is a copy.
const transfer: Wrap = onLoop(
  (port, value) => {
    const copy = (value as Uint8Array<ArrayBuffer>).slice();
    port.postMessage(copy, [copy.buffer]);
  },
  (message) => message,
);

/** Asks again and again: the only way to read a native port without returning to the event loop. */
const polled: Wrap = (port) => ({
  post: (value) => port.postMessage(value),
  read: () => {
    const watch = new SpinWatch();
    for (let turns = 0; ; turns++) {
      const got = receiveMessageOnPort(port) as { message: unknown } | undefined;
      if (got) return got.message;
      watch.turn(turns);
    }
  },
  close: () => port.close(),
});

function connectWith(wrap: Wrap): () => Connection {
  return () => {
    const { port1, port2 } = new MessageChannel();
    return { end: wrap(port1), data: port2, transfer: [port2] };
  };
}

function subject(wrap: Wrap, parts: Omit<ThreadSubject, 'connect' | 'attach'>): ThreadSubject {
  return { ...parts, connect: connectWith(wrap), attach: ({ data }) => wrap(data as MessagePort) };
}

export const subjects: readonly ThreadSubject[] = [
  subject(clone, {
    name: 'native-port',
    label: 'MessagePort',
    use: 'A MessageChannel, values handed to postMessage as they are; the sender stays within 4 MiB of unread messages, because an unbounded queue makes it slower.',
    forms: ['bytes', 'string', 'object'],
    waits: ['loop/loop'],
    perChannel: true,
    imports: () => [],
    opener: () => ({
      open: () => {
        const { port1, port2 } = new MessageChannel();
        return { near: port1, data: port2, transfer: [port2] };
      },
      attach: (data) => data as MessagePort,
    }),
  }),
  subject(json, {
    name: 'native-port:json',
    label: 'MessagePort, JSON string',
    use: 'The usual trick for objects on V8: stringify before postMessage, parse in the handler.',
    forms: ['object'],
    waits: ['loop/loop'],
  }),
  subject(transfer, {
    name: 'native-port:transfer',
    label: 'MessagePort, transferred copy',
    use: 'A copy of the bytes in the transfer list: the sender keeps its own, the copy moves without a second one.',
    forms: ['bytes'],
    waits: [],
    streamWait: 'loop/loop',
    quickIn: ['stream', 'scaling'],
  }),
  subject(polled, {
    name: 'native-port:polled',
    label: 'MessagePort, receiveMessageOnPort',
    use: 'Both threads poll receiveMessageOnPort without pause: the fastest round trip a native port gives, for two full cores.',
    forms: [],
    waits: ['block/block'],
  }),
];
