// Ends of channels that move in a message. Where the sender puts a Port, there stands on the way what it takes to open its end
// again: the handle of an end that was never handed out, with what the end has taken along.
import { platform } from '#platform';
import { UsageError } from '../../errors.ts';
import type { MovingHandle } from '../../memory/handle.ts';

/** A Port that is to move, in a transfer list. */
export class MovingEnd {
  /** As it stands in values. */
  readonly port: object;
  readonly #refusal: () => string | undefined;
  readonly #leave: () => MovingHandle;
  readonly memory: unknown;

  /**
   * @param memory of its channel
   * @param refusal why it cannot move now, if it cannot
   * @param leave makes it a handle; fails only if its memory was damaged since it was asked, and has ended its channel then
   */
  constructor(port: object, memory: unknown, refusal: () => string | undefined, leave: () => MovingHandle) {
    this.port = port;
    this.memory = memory;
    this.#refusal = refusal;
    this.#leave = leave;
  }

  /** @param memory of the channel that is to carry it. @throws UsageError ERR_TRANSFER */
  check(memory: unknown): void {
    const why = memory === this.memory ? 'it is an end of the channel that it would travel on' : this.#refusal();
    if (why !== undefined) throw new UsageError('ERR_TRANSFER', `Cannot transfer a Port: ${why}`);
  }
  leave(): MovingHandle {
    return this.#leave();
  }
}

/**
 * Makes a Port of an end that came in a message.
 * @throws what is wrong with it: it is told to nobody else then that the end is lost
 */
export type OpenEnd = (handle: MovingHandle) => object;

export function isMovingEnd(item: unknown): item is MovingEnd {
  return item instanceof MovingEnd;
}
export function isMovingHandle(item: unknown): item is MovingHandle {
  const { type, luggage, moved } = (item ?? {}) as Partial<MovingHandle>;
  return type === 'millrace' && luggage instanceof Map && Array.isArray(moved);
}

/** The native ports among what moved with a message, those of moving ends included. */
export function nativesIn(moved: readonly unknown[]): unknown[] {
  return transferOfAll(moved).filter((item) => platform.isNativePort(item));
}
/** What is to be handed to the runtime as transfer list. Each once, as lists that somebody has forged may stand in themselves. */
export function transferOfAll(transfer: readonly unknown[]): readonly unknown[] {
  if (!transfer.some(isMovingHandle)) return transfer;
  const all = new Set(transfer);
  // What is added meanwhile comes in its turn.
  for (const item of all) {
    if (!isMovingHandle(item)) continue;
    for (const each of [item.pass, item.tether, item.side, ...item.moved]) all.add(each);
  }
  return [...all].filter((item) => item !== undefined && !isMovingHandle(item));
}
