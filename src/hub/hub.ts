// What takes the place of a server between programs, in a thread of one of them: whoever has a port to it takes part.
import { HUB_QUEUE_BYTES_DEFAULT } from '../limits.ts';
import { checked, checkNames } from '../port/options.ts';
import type { Port } from '../port/port.ts';
import { claimPort } from './claimed.ts';
import { Member, type Shared } from './member.ts';
import { Subjects } from './subjects.ts';

export interface HubOptions {
  /** Bytes that its queues keep together, dead letters included, before `put` is refused; default 256 MiB. A job counts 256 beside its own, a queue 4096. */
  readonly maxQueueBytes?: number | undefined;
}
export interface HubStats {
  readonly members: number;
  /** Messages that were not said to a member, for it had 32 MiB to take in, or 48 of answers. */
  readonly dropped: number;
  /** Bytes that its queues keep, of `maxQueueBytes`. */
  readonly queueBytes: number;
}

/** Where members meet: ports, topics, requests and queues by name, without a server. It keeps what it has in memory. */
export class Hub {
  readonly #members = new Set<Member>();
  readonly #shared: Shared;
  #closed = false;

  /** @throws UsageError ERR_OPTION */
  constructor(options: HubOptions = {}) {
    checkNames(options, ['maxQueueBytes']);
    const rule = { fallback: HUB_QUEUE_BYTES_DEFAULT, min: 0, max: Number.MAX_SAFE_INTEGER };
    const max = checked('maxQueueBytes', options.maxQueueBytes, rule) as number;
    this.#shared = {
      subjects: new Subjects(),
      queues: new Map(),
      budget: { used: 0, max },
      byId: new Map(),
      dropped: 0,
    };
  }

  /**
   * Whoever has the other end of this port takes part, by `open(port)`: it says what it likes to all others, and hears what it likes. The port is the hub's from now on, and the member
   * is gone when it ends.
   * @throws UsageError ERR_OPTION for what is no port, for one that a hub or an engine has, and for one whose `overflow` drops messages; ERR_BUSY for one that somebody reads
   */
  join(port: Port): void {
    claimPort(port, 'Cannot join to a hub');
    if (this.#closed) {
      port.close();
      return;
    }
    const member: Member = new Member(port, this.#shared, () => this.#members.delete(member));
    this.#members.add(member);
  }

  stats(): HubStats {
    const { dropped, budget } = this.#shared;
    return { members: this.#members.size, dropped, queueBytes: budget.used };
  }

  /** Ends all its members' ports as `closed`. What its queues have is gone. Idempotent. */
  close(): void {
    this.#closed = true;
    const { queues } = this.#shared;
    for (const queue of queues.values()) queue.close();
    // Before anybody leaves, and leaves jobs to others.
    queues.clear();
    for (const member of this.#members) member.end();
  }
  [Symbol.dispose](): void {
    this.close();
  }
}
