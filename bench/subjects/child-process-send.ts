// ChildProcess.send and process.send: the runtime's own channel between parent and child, and cluster's.
import { Buffer } from 'node:buffer';
import type { ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';
import { windowOf } from '../drivers.ts';
import type { Load } from '../loads.ts';
import { type Hub, type Link, type Note, type ProcessStream, type ProcessSubject, sendBy } from '../process-subject.ts';
import type { End } from '../subject.ts';

function answer(child: ChildProcess): void {
  child.on('message', (message: unknown) => {
    const note = message as Note & { ctl?: string };
    if (note.ctl === undefined) child.send({ id: note.id, payload: note.payload });
  });
}

async function join(_address: unknown, _index: number, onAnswer: (note: Note) => void): Promise<Link> {
  process.on('message', (message: unknown) => {
    const note = message as Note & { ctl?: string };
    if (note.ctl === undefined) onAnswer(note);
  });
  return {
    send: (note) => {
      process.send!(note);
    },
    close: () => {},
  };
}

function serve(serialization: 'json' | 'advanced'): () => Promise<Hub> {
  return async () => ({ address: undefined, forkOptions: { serialization }, adopt: answer, close: () => {} });
}

/** Parts of the window, each of which ends with a message that is told when it is written. */
const WINDOW_PARTS = 8;

/**
 * Sends within a window of what the runtime has not written yet, as its callback tells: `send` itself queues without end.
 */
export function sendingEnd(child: Pick<ChildProcess, 'send'>, load: Load, textual: boolean): End {
  const part = Math.max(1, windowOf(load) / WINDOW_PARTS);
  let inPart = 0;
  let open = 0;
  let room: (() => void) | undefined;
  const written = (): void => {
    open--;
    room?.();
    room = undefined;
  };
  const post = (value: unknown): Promise<void> | undefined => {
    const message = textual && load.spec.form === 'bytes' ? { text: encode(value as Uint8Array) } : value;
    if (++inPart < part) {
      child.send(message as object);
      return undefined;
    }
    inPart = 0;
    child.send(message as object, written);
    if (++open < WINDOW_PARTS) return undefined;
    return new Promise((resolve) => {
      room = resolve;
    });
  };
  return { send: sendBy(post)!, close: () => {} };
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Everything that `process` hears, but for orders. */
export function receivingEnd(load: Load, textual: boolean): End {
  let handler: ((value: unknown) => void) | null = null;
  const decoded = textual && load.spec.form === 'bytes';
  process.on('message', (message: unknown) => {
    if ((message as { ctl?: string }).ctl !== undefined) return;
    handler?.(decoded ? Buffer.from((message as { text: string }).text, 'base64') : message);
  });
  return {
    listen: (next) => {
      handler = next;
    },
    close: () => {},
  };
}

function streamed(serialization: 'json' | 'advanced'): ProcessStream {
  const textual = serialization === 'json';
  return {
    forms: ['bytes', 'object'],
    serve: async (load) => {
      let child: ChildProcess | undefined;
      return {
        address: undefined,
        forkOptions: { serialization },
        adopt: (one) => {
          child = one;
        },
        end: () => sendingEnd(child!, load, textual),
        close: () => {},
      };
    },
    join: async (_address, load) => receivingEnd(load, textual),
  };
}

export const subjects: readonly ProcessSubject[] = [
  {
    name: 'child-process-send',
    label: 'child_process.send, json',
    use: 'fork() with its default serialization, objects as they are: what seed 004 calls native (pipe). In streams bytes go as base64, and what the runtime has not written yet is kept within 4 MiB.',
    serve: serve('json'),
    join,
    stream: streamed('json'),
  },
  {
    name: 'child-process-send:advanced',
    label: 'child_process.send, advanced',
    use: 'The same with serialization: "advanced" (structured clone), which wins for large payloads.',
    serve: serve('advanced'),
    join,
    stream: streamed('advanced'),
  },
  {
    name: 'cluster',
    label: 'cluster worker.send',
    use: 'cluster.fork and process.send; the same pipe as child_process.send with cluster’s own messages beside it.',
    absent: async () =>
      typeof cluster?.fork === 'function' && !process.versions['deno']
        ? undefined
        : { reason: 'this runtime has no working node:cluster', remedy: 'run it under Node or Bun' },
    serve: async () => ({
      address: undefined,
      fork: (file) => {
        cluster.setupPrimary({ exec: file, args: [], serialization: 'json' });
        return cluster.fork().process;
      },
      adopt: answer,
      close: () => {},
    }),
    join,
  },
];
