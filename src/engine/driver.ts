// What a server between programs has to do for us: carry small messages to whoever listens for a subject. NATS, Redis and a hub do, and none promises more.

import type { QueueStore } from './queue.ts';

export interface Driver {
  readonly name: string;
  /** For people; without a password. */
  readonly where: string;
  /** Bytes of a message at the most, as the server says now. */
  readonly maxBytes: number;
  /** Whether this side has its server; without it what is published may be lost. */
  readonly up: boolean;
  /** Whether it has no server for ever: it was closed, here or by whoever has its client. */
  readonly closed: boolean;
  /** How often something that was published may have been lost on the way to the server. */
  readonly losses: number;
  /**
   * It has lost its server: what was published last, and what comes until it is up again, may be lost. Or it is `closed`.
   * @returns takes it back
   */
  onDown(told: () => void): () => void;
  /** Whether `ready` waits for nothing: it has its server, which knows all that is listened for. */
  readonly isReady: boolean;
  /** When it has its server (again). Rejects with a ClosedError once it is closed. */
  ready(): Promise<void>;
  /** To all who listen for it now, once at the most. What is published by one side comes in order. Never throws; whether it is on its way. */
  publish(subject: string, bytes: Uint8Array): boolean;
  /**
   * The same; whether anybody there listens for it.
   * @throws (rejects) ClosedError where the server is lost meanwhile; AddressError ERR_UNREACHABLE where it does not allow it
   */
  tell(subject: string, bytes: Uint8Array): Promise<boolean>;
  /**
   * The same, to one of those who have it together (`share`).
   * @param given whether nobody waits for it any more, asked right before it goes: then it does not, and that is true
   */
  tellOne(subject: string, bytes: Uint8Array, given?: () => boolean): Promise<boolean>;
  /** When the server has what was published before. Rejects where it was lost meanwhile. */
  flush(): Promise<void>;
  /**
   * From when it resolves on what is published there is heard. `*` stands for one part of a subject, `>` at its end for all that follow.
   * @throws (rejects) AddressError ERR_LISTEN where the server does not allow it; ClosedError
   */
  subscribe(subject: string, heard: Heard): Promise<Subscription>;
  /** As one of many, of whom each message reaches one. */
  share(subject: string, heard: Heard): Promise<Subscription>;
  /**
   * A queue that the server keeps.
   * @param ackMs without a sign of who has a job, before another one has it
   * @throws (rejects) UnsupportedError where the server, or the client, has no such thing; UsageError ERR_OPTION for another `ackMs` than others say
   */
  queue(name: string, ackMs: number): Promise<QueueStore>;
  /** Lets go of the server, where it was connected to here, and of all that it has of one that was handed in. */
  close(): Promise<void>;
}

/** `bytes` may be kept. */
export type Heard = (bytes: Uint8Array, subject: string) => void;

export interface Subscription {
  /** Hears no more, at once. */
  close(): void;
  /** Hears what was given to this side before the server knew that it hears no more. */
  drain(): Promise<void>;
}
