// BroadcastChannel: made for one to many, measured one to one as well because people use it so.
import type { End, ThreadSubject } from '../subject.ts';

let channelCount = 0;

/** Deno 2.9 drops what a slow reader leaves lying beyond a small buffer: no stream survives it. */
const loses: boolean = process.versions['deno'] !== undefined;

function wrap(name: string): End {
  const channel = new BroadcastChannel(name);
  let handler: ((value: unknown) => void) | null = null;
  channel.onmessage = (event: { data: unknown }) => handler?.(event.data);
  return {
    post: (value) => channel.postMessage(value),
    listen: (next) => {
      handler = next;
    },
    close: () => channel.close(),
  };
}

export const subjects: readonly ThreadSubject[] = [
  {
    name: 'broadcast-channel',
    label: 'BroadcastChannel',
    use: 'One channel by name, each side with onmessage; in fan-out one post reaches every worker, which is what it is for.',
    forms: loses ? [] : ['bytes', 'string', 'object'],
    waits: ['loop/loop'],
    quickIn: ['fan-out', 'round-trip'],
    broadcasts: true,
    perChannel: true,
    connect: () => {
      const name = `millrace-bench-${process.pid}-${channelCount++}`;
      return { end: wrap(name), data: name };
    },
    attach: ({ data }) => wrap(data as string),
  },
];
