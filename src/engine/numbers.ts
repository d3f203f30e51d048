// What was missed of somebody, by the numbers of what has come; and values that come in parts.
import { ENGINE_PARTS_BYTES_MAX, ENGINE_SENDERS_MAX, ENGINE_THING_BYTES } from '../limits.ts';
import { own } from './own.ts';
import type { Record } from './record.ts';

interface Sender {
  next: number;
  /** A value of which a part was missed: what else comes of it is of no use. */
  skips: number;
  /** Parts of the value that is under way. */
  pieces: Uint8Array[];
}

/** What a message that has come means. */
export interface Come {
  /** Messages of the same sender that were missed before it. */
  readonly missed: number;
  /** The value's bytes, once all of them are there. */
  readonly pieces: readonly Uint8Array[] | undefined;
  /** It, or one that was said later, has come before. */
  readonly doubled: boolean;
}

const SKIPPED: Come = { missed: 0, pieces: undefined, doubled: false };
const DOUBLED: Come = { missed: 0, pieces: undefined, doubled: true };

export class Numbers {
  /** By who says it; who has said nothing for longest first. */
  readonly #senders = new Map<string, Sender>();
  /** Of all parts that are kept, with what each takes beside. */
  #bytes = 0;

  come({ from, number, part, parts, count, bytes }: Record): Come {
    const known = this.#senders.get(from);
    const sender = known ?? { next: number, skips: -1, pieces: [] };
    this.#senders.delete(from);
    this.#senders.set(from, sender);
    if (this.#senders.size > ENGINE_SENDERS_MAX) this.#forgetFirst();
    const ahead = (number - sender.next) | 0;
    if (number === sender.skips) return SKIPPED;
    if (ahead < 0 || (ahead === 0 && part < sender.pieces.length)) return DOUBLED;
    let missed = ahead;
    if (ahead > 0) {
      sender.next = number;
      this.#drop(sender);
    }
    const weight = weightOf(bytes);
    if (parts > 1 && part <= sender.pieces.length) this.#makeRoom(weight, sender);
    if (part > sender.pieces.length || (parts > 1 && this.#bytes + weight > ENGINE_PARTS_BYTES_MAX)) {
      // One in the middle is missing, or it is too much: so is all of it.
      // Whoever is heard for the first time in the middle of one began it before anybody here listened.
      if (known !== undefined || part === 0) missed++;
      sender.next = (number + 1) >>> 0;
      sender.skips = number;
      this.#drop(sender);
      return { missed, pieces: undefined, doubled: false };
    }
    const isLast = part + 1 === parts;
    sender.pieces.push(isLast ? bytes : own(bytes));
    this.#bytes += weight;
    if (!isLast) return { missed, pieces: undefined, doubled: false };
    const { pieces } = sender;
    sender.next = (number + Math.max(1, count)) >>> 0;
    this.#drop(sender);
    return { missed, pieces, doubled: false };
  }
  /** Parts of whoever has said nothing for longest, and may never say the rest, go first. */
  #makeRoom(weight: number, sender: Sender): void {
    for (const each of this.#senders.values()) {
      if (this.#bytes + weight <= ENGINE_PARTS_BYTES_MAX) return;
      if (each !== sender) this.#drop(each);
    }
  }
  #drop(sender: Sender): void {
    for (const piece of sender.pieces) this.#bytes -= weightOf(piece);
    sender.pieces = [];
  }
  #forgetFirst(): void {
    const [[from, sender]] = this.#senders as unknown as [[string, Sender]];
    this.#senders.delete(from);
    this.#drop(sender);
  }
}
function weightOf({ length }: Uint8Array): number {
  return ENGINE_THING_BYTES + length;
}
