// The same worker for Comlink, where it is installed, or for the re-enactment of how it waits: a message with a number is answered with that number.

import { type MessagePort, workerData } from 'node:worker_threads';

const mortal = {
  square: (n: number): number => n * n,
  exit: (): never => process.exit(0),
  fail(): Promise<never> {
    setTimeout(() => {
      throw new RangeError('out of luck');
    });
    return new Promise(() => {});
  },
  compute(): never {
    for (;;);
  },
};
type Request = { id: number; name: keyof typeof mortal; value: number };

const { port, comlink, adapter } = workerData as { port: MessagePort; comlink?: string; adapter?: string };
if (comlink !== undefined) {
  const { expose } = (await import(comlink)) as { expose(what: object, endpoint: unknown): void };
  const { default: adapt } = (await import(adapter as string)) as { default(port: unknown): unknown };
  expose(mortal, adapt(port));
} else {
  port.on('message', async ({ id, name, value }: Request) =>
    port.postMessage({ id, value: await mortal[name](value) }),
  );
}
