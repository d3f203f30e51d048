// One end among many that a thread waits for at once, as its link's marks see it: who selects is told, or the event loop, or both.
import type { SelectPlace } from '../transport.ts';
import type { TieEvents, Together } from './tie.ts';

export class MarkedTogether implements Together {
  readonly #place: () => SelectPlace;
  readonly #events: Pick<TieEvents, 'arrived'>;
  #tell: ((blocked: boolean) => boolean) | undefined;
  #arrivesLater = false;

  /**
   * @param place of this agent, where all its ends are waited for
   * @param events tells the event loop to look
   */
  constructor(place: () => SelectPlace, events: Pick<TieEvents, 'arrived'>) {
    this.#place = place;
    this.#events = events;
  }
  get place(): SelectPlace {
    return this.#place();
  }
  /** Its end was told, or it has come to a link, of which no mark tells whoever selects. */
  changed(): void {
    this.#tell?.(false);
  }
  selected(tell: (blocked: boolean) => boolean): void {
    this.#tell = tell;
  }
  later(): void {
    if (this.#arrivesLater) return;
    queueMicrotask(() => {
      this.#arrivesLater = false;
      this.#events.arrived();
    });
    // Not before: where the stack has ended nobody would be told any more.
    this.#arrivesLater = true;
  }
  /** As Marked of link/link-end.ts. */
  marked(blocked: boolean): void {
    if (this.#tell?.(blocked) === false) return;
    if (blocked) this.later();
    else this.#events.arrived();
  }
}
