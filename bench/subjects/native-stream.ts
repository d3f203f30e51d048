// A ReadableStream that is transferred, which platforms can do by themselves.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { type CallSubject, callWorker, numbers } from '../call-subject.ts';

function transfers(): boolean {
  const { port1, port2 } = new MessageChannel();
  try {
    const stream = new ReadableStream();
    port1.postMessage(stream, [stream as never]);
    return true;
  } catch {
    return false;
  } finally {
    port1.close();
    port2.close();
  }
}

export const subjects: readonly CallSubject[] = [
  {
    name: 'native-stream',
    label: 'ReadableStream, transferred',
    use: 'The worker makes a ReadableStream that pulls from the generator and sends it in a transfer list; it is read with for await.',
    can: ['items'],
    wait: 'loop/loop',
    absent: async () => {
      if (!transfers()) return { reason: 'this runtime transfers no ReadableStream' };
      // Its port stays open behind the end of the stream, and nobody can reach it to close it.
      if (process.versions['deno']) return { reason: 'a ReadableStream that was transferred keeps Deno from ending' };
      return undefined;
    },
    open: async () => {
      const { port1, port2 } = new MessageChannel();
      const worker = await callWorker('native-stream', port2, [port2]);
      return {
        items: async (count) => {
          const come = new Promise<ReadableStream<number>>((resolve) => port1.once('message', resolve));
          port1.postMessage(count);
          return (await come) as unknown as AsyncIterable<number>;
        },
        close: async () => {
          port1.close();
          await worker.terminate();
        },
      };
    },
    serve: (data) => {
      const port = data as MessagePort;
      port.on('message', (count: number) => {
        const steps = numbers(count);
        const stream = new ReadableStream<number>({
          async pull(controller): Promise<void> {
            const { done, value } = await steps.next();
            if (done === true) controller.close();
            else controller.enqueue(value);
          },
        });
        port.postMessage(stream, [stream as never]);
      });
    },
  },
];
