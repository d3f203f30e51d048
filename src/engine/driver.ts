// What a server between programs has to do for us: carry small messages to whoever listens for a subject. NATS and Redis do, and neither promises more.

import type { QueueStore } from './queue.ts';

export interface Driver {
  readonly name: string;
  /** For people; without a password. */
  readonly where: string;
  /** Bytes of a message at the most. */
  readonly maxBytes: number;
  /** Whether this side has its server; without it what is published may be lost. */
  readonly up: boolean;
  /**
   * It has lost its server: what was published last, and what comes until it is up again, may be lost.
   * @returns takes it back
   */
  onDown(told: () => void): () => void;
  /** When it has its server (again). Rejects once it is closed. */
  ready(): Promise<void>;
  /** To all who listen for it now, once at the most. What is published by one side comes in order. */
  publish(subject: string, bytes: Uint8Array): void;
  /** The same; whether anybody there listens for it. Rejects where that is not to be known. */
  tell(subject: string, bytes: Uint8Array): Promise<boolean>;
  /** The same, to one of those who have it together (`share`). */
  tellOne(subject: string, bytes: Uint8Array): Promise<boolean>;
  /** When the server has what was published before. Rejects where it has lost it. */
  flush(): Promise<void>;
  /**
   * From when it resolves on what is published there is heard. `*` stands for one part of a subject, `>` at its end for all that follow.
   * @throws (rejects) AddressError ERR_LISTEN where the server does not allow it
   */
  subscribe(subject: string, heard: Heard): Promise<Subscription>;
  /** As one of many, of whom each message reaches one. */
  share(subject: string, heard: Heard): Promise<Subscription>;
  /**
   * A queue that the server keeps.
   * @param ackMs without a sign of who has a job, before another one has it
   * @throws (rejects) UnsupportedError where the server, or the client, has no such thing
   */
  queue(name: string, ackMs: number): Promise<QueueStore>;
  /** Lets go of the server, where it was connected to here. */
  close(): Promise<void>;
}

/** `bytes` may be kept. */
export type Heard = (bytes: Uint8Array, subject: string) => void;

export interface Subscription {
  close(): void;
}
