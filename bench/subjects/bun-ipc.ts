// Bun's own way to a child: Bun.spawn with `ipc`.
import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import type { Hub, Note, ProcessSubject } from '../process-subject.ts';
import { subjects as nodes, receivingEnd, sendingEnd } from './child-process-send.ts';

type Serialization = 'json' | 'advanced';

interface Spawned {
  send(message: unknown): void;
  kill(signal?: string): void;
}
interface BunRuntime {
  spawn(
    command: readonly string[],
    options: {
      stdio: readonly string[];
      serialization: Serialization;
      ipc(message: unknown): void;
      onExit(child: unknown, code: number | null): void;
    },
  ): Spawned;
}

const { Bun } = globalThis as { Bun?: BunRuntime };

/** As much of a ChildProcess as the frame asks for. */
class SpawnedProcess extends EventEmitter {
  connected = true;
  readonly #child: Spawned;

  constructor(file: string, serialization: Serialization) {
    super();
    this.#child = Bun!.spawn([process.execPath, file], {
      stdio: ['ignore', 'inherit', 'inherit'],
      serialization,
      ipc: (message) => void this.emit('message', message),
      onExit: (_child, code) => {
        this.connected = false;
        this.emit('exit', code);
      },
    });
  }
  /** It tells nobody when something is written. */
  send(message: unknown, written?: () => void): boolean {
    this.#child.send(message);
    if (written !== undefined) setImmediate(written);
    return true;
  }
  kill(signal?: string): boolean {
    this.#child.kill(signal);
    return true;
  }
}

function forked(file: string, serialization: Serialization): ChildProcess {
  return new SpawnedProcess(file, serialization) as unknown as ChildProcess;
}

function subject(serialization: Serialization, name: string): ProcessSubject {
  const textual = serialization === 'json';
  return {
    name,
    label: `Bun.spawn with ipc, ${serialization}`,
    use: `Bun.spawn with ipc and serialization: "${serialization}"; its child has process.send. In streams ${textual ? 'bytes go as base64, and ' : ''}the event loop turns after each half MiB, for send tells nothing of its queue.`,
    absent: async () => (Bun ? undefined : { reason: 'only Bun has it', remedy: 'run it under Bun' }),
    serve: async (): Promise<Hub> => ({
      address: undefined,
      fork: (file) => forked(file, serialization),
      adopt: (child) => {
        child.on('message', (message: unknown) => {
          const note = message as Note & { ctl?: string };
          if (note.ctl === undefined) child.send({ id: note.id, payload: note.payload });
        });
      },
      close: () => {},
    }),
    join: nodes[0]!.join,
    stream: {
      forms: ['bytes', 'object'],
      serve: async (load) => {
        let child: ChildProcess | undefined;
        return {
          address: undefined,
          fork: (file) => {
            child = forked(file, serialization);
            return child;
          },
          end: () => sendingEnd(child!, load, textual),
          close: () => {},
        };
      },
      join: async (_address, load) => receivingEnd(load, textual),
    },
  };
}

export const subjects: readonly ProcessSubject[] = [subject('advanced', 'bun-ipc'), subject('json', 'bun-ipc:json')];
