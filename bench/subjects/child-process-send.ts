// ChildProcess.send and process.send: the runtime's own channel between parent and child, and cluster's.
import type { ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';
import type { Hub, Link, Note, ProcessSubject } from '../process-subject.ts';

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

export const subjects: readonly ProcessSubject[] = [
  {
    name: 'child-process-send',
    label: 'child_process.send, json',
    use: 'fork() with its default serialization, objects as they are: what seed 004 calls native (pipe).',
    serve: serve('json'),
    join,
  },
  {
    name: 'child-process-send:advanced',
    label: 'child_process.send, advanced',
    use: 'The same with serialization: "advanced" (structured clone), which wins for large payloads.',
    serve: serve('advanced'),
    join,
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
