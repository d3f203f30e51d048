// Options of topics and of their readers, checked once.
import { platform } from '#platform';
import { UnsupportedError, UsageError } from '../errors.ts';
import * as limits from '../limits.ts';
import { checked, checkNames } from '../port/options.ts';
import type { TopicMemorySource } from '../transport/topic-medium.ts';
import type { StartAt } from './consumer.ts';

/** What a topic can be told. Every bound has its reason in limits.ts. */
export interface TopicOptions {
  /** Bytes of the ring, rounded up to a power of two: how far a reader may be behind before it is skipped. Default 1 MiB. */
  readonly capacityBytes?: number | undefined;
  /** Bytes of the longest message, encoded: up to a quarter of the ring, which is the default. */
  readonly maxMessageBytes?: number | undefined;
  /** Readers that may ask not to be skipped, 0 to 64; default 0: the writer never waits. */
  readonly reliableReaders?: number | undefined;
  /**
   * What `publish` does when such a reader is a whole ring behind: `wait` blocks the thread until it has moved on, for
   * `patienceMs` (the default); `drop-newest` publishes nothing, to nobody, and counts that.
   */
  readonly whenHeld?: 'wait' | 'drop-newest' | undefined;
  /** Milliseconds that `wait` waits for one message, before it skips the readers that hold it up; default 10,000. */
  readonly patienceMs?: number | undefined;
  /**
   * Memory that other processes can map (`processMemory()` of millrace/process), for readers that come over a connection: `port.link.shareTopic`.
   * Without it readers are threads of this process.
   */
  readonly memory?: TopicMemorySource | undefined;
  /**
   * Who wakes readers that sleep: the `writer` within `publish` (the default), or a `thread` of the topic's own, so that a publication costs the same however many
   * sleep. For topics with many readers on event loops; the thread takes a few MB, and each wake-up one hop more. Not in browsers.
   */
  readonly wakes?: 'writer' | 'thread' | undefined;
  /** Whose named properties travel: those of match results alone (`matches`, the default), or those of every array (`always`). */
  readonly arrayProperties?: 'matches' | 'always' | undefined;
}

export interface ResolvedTopic {
  readonly capacityBytes: number;
  readonly maxMessageBytes: number;
  readonly reliableReaders: number;
  readonly whenHeld: 'wait' | 'drop-newest';
  readonly patienceMs: number;
  readonly memory: TopicMemorySource | undefined;
  readonly wakes: 'writer' | 'thread';
  readonly exactArrays: boolean;
}

/** What a reader can be told. */
export interface SubscribeOptions {
  /** Where it begins: with the newest message (`latest`, the default), the next one, or the oldest that is still there. */
  readonly start?: StartAt | undefined;
  /**
   * What becomes of a reader that is slow: it reads on as long as it is less than a ring behind, and goes on with the newest message when it was
   * overtaken (`skip`, the default); it gets the newest each time, and no other (`newest`); the writer may not overtake it
   * (`reliable`), if the topic has room for such readers.
   */
  readonly slow?: 'skip' | 'newest' | 'reliable' | undefined;
  /** Is told how many messages were missed, before the first one behind the gap is handed out. */
  readonly onMissed?: ((count: number) => void) | undefined;
}

/** @throws UsageError ERR_OPTION; UnsupportedError if this thread cannot wait, and would have to */
export function resolveTopic(options: TopicOptions = {}): ResolvedTopic {
  checkNames(options, [
    'capacityBytes',
    'maxMessageBytes',
    'reliableReaders',
    'whenHeld',
    'patienceMs',
    'memory',
    'wakes',
    'arrayProperties',
  ]);
  const asked = checked('capacityBytes', options.capacityBytes, {
    fallback: limits.TOPIC_CAPACITY_DEFAULT,
    min: 1,
    max: limits.TOPIC_CAPACITY_MAX,
  }) as number;
  let capacityBytes = limits.TOPIC_CAPACITY_MIN;
  while (capacityBytes < asked) capacityBytes *= 2;
  const messageMost = capacityBytes / limits.TOPIC_MESSAGE_SHARE;
  const maxMessageBytes = checked(
    'maxMessageBytes',
    options.maxMessageBytes,
    { fallback: messageMost, min: 64, max: messageMost },
    '; it may be a quarter of capacityBytes',
  ) as number;
  const reliableReaders = checked('reliableReaders', options.reliableReaders, {
    fallback: 0,
    min: 0,
    max: limits.TOPIC_RELIABLE_MAX,
  }) as number;
  const whenHeld = checked('whenHeld', options.whenHeld, { fallback: 'wait', names: ['wait', 'drop-newest'] });
  const patienceMs = checked('patienceMs', options.patienceMs, {
    fallback: limits.TOPIC_PATIENCE_MS,
    min: 1,
    max: limits.TIMEOUT_MS_MAX,
  }) as number;
  const properties = checked('arrayProperties', options.arrayProperties, {
    fallback: 'matches',
    names: ['matches', 'always'],
  });
  const exactArrays = properties === 'always';
  if (reliableReaders > 0 && whenHeld === 'wait' && !platform.canBlock) {
    throw new UnsupportedError(
      "Cannot make a topic that waits for its readers: this thread may not block; say whenHeld: 'drop-newest', or publish in a worker",
      { feature: 'blocking' },
    );
  }
  const wakes = checked('wakes', options.wakes, { fallback: 'writer', names: ['writer', 'thread'] });
  const { memory } = options;
  if (memory !== undefined && typeof memory?.make !== 'function') {
    throw new UsageError(
      'ERR_OPTION',
      `Option memory cannot be ${String(memory)}: it takes what processMemory() of millrace/process gives`,
      { option: 'memory', value: memory },
    );
  }
  return {
    capacityBytes,
    maxMessageBytes,
    reliableReaders,
    whenHeld: whenHeld as 'wait',
    patienceMs,
    memory,
    wakes: wakes as 'writer',
    exactArrays,
  };
}

export interface ResolvedSubscription {
  readonly start: StartAt;
  readonly slow: 'skip' | 'newest' | 'reliable';
  readonly onMissed: ((count: number) => void) | undefined;
}

/** @throws UsageError ERR_OPTION */
export function resolveSubscription(options: SubscribeOptions = {}): ResolvedSubscription {
  checkNames(options, ['start', 'slow', 'onMissed']);
  const start = checked('start', options.start, { fallback: 'latest', names: ['latest', 'next', 'oldest'] });
  const slow = checked('slow', options.slow, { fallback: 'skip', names: ['skip', 'newest', 'reliable'] });
  const { onMissed } = options;
  if (onMissed !== undefined && typeof onMissed !== 'function') {
    throw new UsageError('ERR_OPTION', `Option onMissed cannot be ${String(onMissed)}: it takes a function`, {
      option: 'onMissed',
      value: onMissed,
    });
  }
  return { start: start as StartAt, slow: slow as 'skip', onMissed };
}
