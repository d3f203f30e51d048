// The browser's own channels.
import type { Load } from '../../../loads.ts';
import type { Kit, PageEnd } from '../subject.ts';

/** What a worker, its scope and a port have in common. */
interface Poster extends EventTarget {
  postMessage(value: unknown): void;
}

/** They queue without end; what is posted under one order stays within 4 MiB. */
function endOf(poster: Poster, close: () => void): PageEnd {
  let handler: ((value: unknown) => void) | null = null;
  let listening = false;
  const take = (event: Event): void => handler?.((event as MessageEvent).data);
  return {
    post: (value) => poster.postMessage(value),
    listen: (next) => {
      handler = next;
      if (!listening) poster.addEventListener('message', take);
      listening = true;
    },
    send: ({ items, mask }: Load, count, _progress, from) => {
      for (let i = from; i < from + count; i++) poster.postMessage(items[i & mask]);
    },
    close,
  };
}

function endOfPort(port: MessagePort): PageEnd {
  port.start();
  return endOf(port, () => port.close());
}

export const nativePort: Kit = {
  connect: () => {
    const { port1, port2 } = new MessageChannel();
    return { end: endOfPort(port1), far: { data: port2, transfer: [port2] } };
  },
  attach: (data) => endOfPort(data as MessagePort),
};

export const workerPost: Kit = {
  connect: (_terms, worker) => ({ end: endOf(worker!, () => {}), far: { data: undefined, transfer: [] } }),
  attach: () => endOf(globalThis as unknown as Poster, () => {}),
};
