// `node:worker_threads` in a thread of a suite (threads.ts): its data and messages come over the port that the page hands to it.
const heard: unknown[] = [];
type Listener = (value: unknown) => void;
const listeners: Listener[] = [];
let always: Listener | undefined;

const { port, data } = await new Promise<{ port: MessagePort; data: unknown }>((resolve) => {
  self.addEventListener('message', ({ ports }: MessageEvent) => {
    const port = ports[0] as MessagePort;
    port.onmessage = ({ data }) => {
      if ('ping' in data) port.postMessage({ pong: data.ping });
      else if ('workerData' in data) resolve({ port, data: data.workerData });
      else {
        const listener = listeners.shift() ?? always;
        if (listener === undefined) heard.push(data.told);
        else listener(data.told);
      }
    };
  });
});

export const isMainThread = false;
export const MessageChannel: typeof globalThis.MessageChannel = globalThis.MessageChannel;
export const workerData: unknown = data;
interface ParentPort {
  postMessage(value: unknown, transfer?: readonly Transferable[]): void;
  once(type: 'message', listener: Listener): void;
  on(type: 'message', listener: Listener): void;
}
export const parentPort: ParentPort = {
  postMessage: (value, transfer = []) => port.postMessage(value, transfer as Transferable[]),
  once(_, listener) {
    if (heard.length > 0) listener(heard.shift());
    else listeners.push(listener);
  },
  on(_, listener) {
    for (const value of heard.splice(0)) listener(value);
    always = listener;
  },
};
