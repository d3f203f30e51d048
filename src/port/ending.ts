// Whether and why a port is over, the promise of that, and the error that says so.
import { ClosedError } from '../errors.ts';
import type { CloseReason } from '../outcome.ts';
import type { Transport } from '../transport/transport.ts';
import { type Settleable, settleable } from './waiters.ts';

/** What has ended it, where it was this side and not its user by this port. */
const HERE: Partial<Record<CloseReason, string>> = {
  lost: 'what came is damaged',
  closed: 'its connection was closed',
};

export class Ending {
  readonly #transport: Pick<Transport, 'ended' | 'inspect'>;
  /** `close()` was called on this end, or it was transferred. */
  shut = false;
  #closed: Settleable<CloseReason> | undefined;
  #told: CloseReason | undefined;

  constructor(transport: Pick<Transport, 'ended' | 'inspect'>) {
    this.#transport = transport;
  }

  /** Whether the channel has ended, from either side's doing. */
  get over(): boolean {
    return this.shut || this.#transport.ended !== undefined;
  }

  /** Why, as soon as it has. */
  get reason(): CloseReason | undefined {
    return this.#transport.ended;
  }

  /** A promise of why, kept by `tell`. */
  get closed(): Promise<CloseReason> {
    this.#closed ??= settleable();
    if (this.#told !== undefined) this.#closed.resolve(this.#told);
    return this.#closed.promise;
  }
  /** Whether somebody may wait for that promise. */
  get awaited(): boolean {
    return this.#closed !== undefined;
  }
  tell(reason: CloseReason): void {
    this.#told = reason;
    this.#closed?.resolve(reason);
  }

  /** @throws ClosedError if it has */
  check(action: string): void {
    if (this.over) throw this.refusal(action);
  }

  refusal(action: string): ClosedError {
    const reason = this.reason ?? 'closed';
    const { error, endedHere } = this.#transport.inspect();
    const here = HERE[reason] ?? 'this thread is ending';
    const how = error instanceof Error ? `${reason}: ${error.message}` : reason;
    const gone = endedHere ? here : `the peer is gone (${how})`;
    const who = reason === 'detached' ? 'this port was transferred' : this.shut ? 'this end was closed' : gone;
    return new ClosedError(`Cannot ${action}: ${who}`, reason, error);
  }
}
