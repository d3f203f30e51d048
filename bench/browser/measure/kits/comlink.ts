// Comlink: calls through a proxy over a MessagePort.
import { loadRival } from '../rivals.ts';
import type { Kit, PageEnd } from '../subject.ts';

interface Package {
  wrap(endpoint: MessagePort): { call(value: unknown): Promise<unknown> };
  expose(target: object, endpoint: MessagePort): void;
}

export const comlink: Kit = {
  connect: async ({ url }) => {
    const { wrap } = await loadRival<Package>(url);
    const { port1, port2 } = new MessageChannel();
    const proxy = wrap(port1);
    const end: PageEnd = { ask: (value) => proxy.call(value), close: () => port1.close() };
    return { end, far: { data: port2, transfer: [port2] } };
  },
  attach: async (data, { url }) => {
    const { expose } = await loadRival<Package>(url);
    const port = data as MessagePort;
    let answer = (value: unknown): unknown => value;
    expose({ call: (value: unknown) => answer(value) }, port);
    return {
      serve: (next) => {
        answer = next;
      },
      close: () => port.close(),
    };
  },
};
