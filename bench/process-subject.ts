// What a contender between processes brings: the way of a request from a worker process to the master and back.
import type { ChildProcess, ForkOptions } from 'node:child_process';
import type { Missing } from './subject.ts';

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
}

export interface Hub {
  /** Travels to the workers. */
  readonly address: unknown;
  readonly forkOptions?: ForkOptions;
  /** Makes the child, where plain fork() won't do. */
  fork?(file: string): ChildProcess;
  /** A child was started. */
  adopt?(child: ChildProcess): void;
  /** Processor microseconds that a server of its own used so far. */
  close(): Promise<void> | void;
}

export interface Link {
  send(note: Note): void;
  close(): Promise<void> | void;
}
