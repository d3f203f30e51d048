// The other thread of the sab-message-port tests. It loads its own copy of the door and is given nothing but the init
// message, as any user's worker would be.
import { parentPort, workerData } from 'node:worker_threads';
import { MWChannel, SABMessagePort, SABPipe } from '../../src/compat/sab-message-port.ts';

export type Task =
  | 'echo-blocking'
  | 'echo-async'
  | 'echo-async-read'
  | 'pipe-count'
  | 'read-then-report'
  | 'sync-loop'
  | 'wait-forever'
  | 'sibling'
  | 'exit-after-post'
  | 'close-after-post'
  | 'big-reply'
  | 'mw-echo'
  | 'mw-modes'
  | 'mw-quiet';
export interface Given {
  task: Task;
  buffer?: SharedArrayBuffer;
}
const { task, buffer } = workerData as Given;
const parent = parentPort!;

type Message = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: the init message is the user's
const init = (use: (message: any) => unknown): void => void parent.once('message', use);

if (task === 'echo-blocking') {
  init((message) => {
    const port = SABMessagePort.from(message);
    for (;;) {
      const value = port.read() as Message | null;
      void port.postMessage(value);
      if (value !== null && value.end === true) break;
    }
  });
} else if (task === 'echo-async') {
  init((message) => {
    const port = SABMessagePort.from(message);
    port.onmessage = (event) => {
      void port.postMessage(event.data);
      if ((event.data as Message | null)?.end === true) port.onmessage = null;
    };
  });
} else if (task === 'echo-async-read') {
  init(async (message) => {
    const port = SABMessagePort.from(message);
    for (;;) {
      const value = (await port.asyncRead()) as Message;
      await port.postMessage(value);
      if (value.end === true) break;
    }
  });
} else if (task === 'pipe-count') {
  const pipe = new SABPipe('r', buffer as SharedArrayBuffer);
  let count = 0;
  let sum = 0;
  for (;;) {
    const message = pipe.read() as { n: number };
    if (message.n < 0) break;
    count++;
    sum += message.n;
  }
  parent.postMessage({ count, sum });
} else if (task === 'read-then-report') {
  init((message) => {
    const port = SABMessagePort.from(message);
    const answers: unknown[] = [];
    for (const limit of message.reads as [number, number][]) answers.push(port.read(limit[0], true, limit[1]));
    parent.postMessage(answers);
    try {
      port.read();
    } catch (error) {
      parent.postMessage((error as Error).message);
    }
  });
} else if (task === 'sync-loop') {
  // The README's interrupt example, in short: never returns to the event loop between tasks.
  init((message) => {
    const port = SABMessagePort.from(message);
    for (;;) {
      const run = port.read() as Message;
      if (run.cmd === 'stop') break;
      if (run.cmd !== 'run') continue;
      for (let step = 0; ; step++) {
        void port.postMessage({ task: run.task, step });
        if ((port.tryRead() as Message | null)?.cmd === 'abort') {
          void port.postMessage({ task: run.task, aborted: true });
          break;
        }
      }
    }
  });
} else if (task === 'wait-forever') {
  init((message) => {
    const port = SABMessagePort.from(message);
    parent.postMessage('waiting');
    try {
      port.read();
    } catch (error) {
      parent.postMessage((error as Error).message);
    }
  });
} else if (task === 'sibling') {
  init(({ sibling, door, makes, reads }) => {
    const use = (end: { read(): unknown; postMessage(message: unknown): unknown }): void => {
      if (!reads) {
        parent.on('message', () => {}); // lives until it is killed
        return void end.postMessage('up');
      }
      parent.postMessage(end.read());
      try {
        end.read();
      } catch (error) {
        parent.postMessage((error as Error).message);
      }
    };
    const Door = door === 'MWChannel' ? MWChannel : SABMessagePort;
    if (makes) {
      const end = door === 'MWChannel' ? new MWChannel('m') : new SABMessagePort();
      end.postInit(sibling);
      use(end);
    } else sibling.once('message', (message: never) => use(Door.from(message)));
  });
} else if (task === 'exit-after-post' || task === 'close-after-post') {
  init((message) => {
    const port = SABMessagePort.from(message);
    for (let n = 0; n < 10; n++) void port.postMessage({ n });
    if (task === 'close-after-post') port.close();
  });
} else if (task === 'big-reply') {
  init((message) => {
    const port = SABMessagePort.from(message);
    const request = port.read() as { length: number };
    void port.postMessage('x'.repeat(request.length));
    // Blocks again at once: what did not fit the buffer has to go on from in here.
    const end = port.read() as Message;
    void port.postMessage(end);
  });
} else if (task === 'mw-echo') {
  init((message) => {
    const channel = MWChannel.from(message);
    for (;;) {
      const value = channel.read() as Message | null;
      channel.postMessage(value);
      if (value !== null && value.end === true) break;
    }
    channel.close();
  });
} else if (task === 'mw-modes') {
  init((message) => {
    const channel = MWChannel.from(message);
    const seen: unknown[] = [];
    const note = (value: unknown): void => {
      seen.push(value instanceof Map ? { map: [...value.keys()] } : value);
      const command = (value as Message).cmd;
      if (command === 'nonblocking') {
        channel.setMode('nonblocking');
        channel.onmessage = (event) => note(event.data);
        channel.postMessage('nonblocking');
      } else if (command === 'blocking') {
        channel.setMode('blocking');
        channel.postMessage('blocking');
        block();
      } else if (command === 'end') {
        channel.postMessage(seen);
        channel.setMode('blocking');
      }
    };
    const block = (): void => {
      let command: unknown;
      while (command !== 'nonblocking' && command !== 'end') {
        const value = channel.read();
        command = (value as Message).cmd;
        note(value);
      }
    };
    block();
  });
} else {
  init((message) => {
    MWChannel.from(message);
    parent.on('message', () => {});
    parent.postMessage('up');
  });
}
