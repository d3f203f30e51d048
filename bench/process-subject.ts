// What a contender between processes brings: the way of a request from a worker process to the master and back, and the way
// of a stream from the master to a worker process, where it takes part in streams.
import type { ChildProcess, ForkOptions } from 'node:child_process';
import type { Form, Load } from './loads.ts';
import type { End, Missing, Wait } from './subject.ts';

/** One request or answer; both carry the payload, as in seed 004. */
export interface Note {
  readonly id: number;
  readonly payload: string;
}

export interface ProcessSubject {
  readonly name: string;
  readonly label: string;
  /** How it is used here and why that is its best use. */
  readonly use: string;
  absent?(): Promise<Missing | undefined>;
  /** Master: opens what workers connect to; every request that comes in is answered with the same note. */
  serve(): Promise<Hub>;
  /** Worker process. */
  join(address: unknown, index: number, onAnswer: (note: Note) => void): Promise<Link>;
  /** The same as `join` where there are `count` channels to the master, of which the link that it gives uses one in the middle. */
  joinMany?(address: unknown, count: number, onAnswer: (note: Note) => void): Promise<Link>;
  /** How its ends wait, where that is not with their event loops: in requests of one stream of one worker. */
  readonly wait?: Wait;
  /** One way, master to worker. */
  readonly stream?: ProcessStream;
}

/** What both kinds of master have. */
export interface Home {
  /** Travels to the workers. */
  readonly address: unknown;
  readonly forkOptions?: ForkOptions;
  /** Makes the child, where plain fork() won't do. */
  fork?(file: string): ChildProcess;
  /** A child was started. */
  adopt?(child: ChildProcess): void;
  close(): Promise<void> | void;
}

export interface Hub extends Home {
  /**
   * Answers without the event loop, until a note comes whose id is `LAST`, which is answered too. Where it is there, so is `ask` of the link, and the
   * contender has one worker at a time.
   */
  answerBlocked?(): void;
}

/** The id of the last note of a round, for who answers without an event loop. */
export const LAST = -1;

export interface Link {
  send(note: Note): void;
  /** Blocks this thread until the answer is there. */
  ask?(note: Note): Note;
  close(): Promise<void> | void;
}

export interface ProcessStream {
  /** What it can carry. */
  readonly forms: readonly Form[];
  /** How its ends wait, where that is not with their event loops. */
  readonly wait?: Wait;
  /** Master. */
  serve(load: Load): Promise<StreamHome>;
  /** Worker process: the end that receives, by `listen` or `receive`. */
  join(address: unknown, load: Load): Promise<End>;
}

export interface StreamHome extends Home {
  /** The end that sends, once the worker has joined. It brings `send`, which keeps to the contender's own back-pressure. */
  end(): Promise<End> | End;
}

/**
 * Sends a load with `post`, which answers with a promise when it is full; `last` lets go of what was kept back for more.
 */
export function sendBy(post: (value: unknown) => Promise<unknown> | undefined, last?: () => void): End['send'] {
  return async ({ items, mask }, count, _progress, from) => {
    for (let i = from; i < from + count; i++) {
      const full = post(items[i & mask]);
      if (full !== undefined) await full;
    }
    last?.();
  };
}
