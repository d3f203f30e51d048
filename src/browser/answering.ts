// In a page: answers what the service worker asks for workers that block. Keeps the pieces of each channel until its reader has them (kept-pieces.ts).
import { KEPT_ANSWER_BYTES } from '../limits.ts';
import { type BESIDE, type KeptPieces, keeper, writePieces } from '../transport/native/kept-pieces.ts';
import type { Asked } from './worker-types.ts';

type Piece = Uint8Array | typeof BESIDE | null;

/** One channel's. */
class Pieces implements KeptPieces {
  readonly address: string;
  readonly #forget: () => void;
  /** `#kept[0]` is the piece of number `#first`. */
  readonly #kept: Piece[] = [];
  #first = 0;
  /** Who waits for the piece behind them. A newer request takes its place: nobody hears the older one any more. */
  #waiting: MessagePort | undefined;
  /** When who waits is told that there is nothing. */
  #limit: ReturnType<typeof setTimeout> | undefined;

  constructor(address: string, forget: () => void) {
    this.address = address;
    this.#forget = forget;
  }

  push(piece: Piece): void {
    this.#kept.push(piece);
    this.#answerWaiting();
  }
  #answerWaiting(): void {
    const port = this.#waiting;
    if (port === undefined) return;
    clearTimeout(this.#limit);
    this.#waiting = undefined;
    this.#answer(port);
  }
  confirm(count: number): void {
    const known = Math.min(count - this.#first, this.#kept.length);
    if (!(known > 0)) return;
    this.#kept.splice(0, known);
    this.#first += known;
  }
  drop(): void {
    this.#kept.length = 0;
    this.#forget();
    // A worker that was terminated while it asked: until that is answered no newer service worker takes the place of the one that was asked.
    clearTimeout(this.#limit);
    this.#waiting?.postMessage(null);
    this.#waiting?.close();
    this.#waiting = undefined;
  }

  ask({ from, waitMs }: Asked, port: MessagePort): void {
    this.confirm(from);
    clearTimeout(this.#limit);
    // A service worker is not replaced before all that it was asked is answered, whether somebody hears that or not.
    this.#waiting?.postMessage(new Uint8Array(0));
    this.#waiting?.close();
    this.#waiting = port;
    // A request of long ago, of which nobody waits for the answer, has it.
    if (this.#kept.length > 0 || from !== this.#first || !(waitMs > 0)) this.#answerWaiting();
    else this.#limit = setTimeout(() => this.#answerWaiting(), waitMs);
  }
  #answer(port: MessagePort): void {
    let end = 0;
    for (let bytes = 0; end < this.#kept.length && bytes < KEPT_ANSWER_BYTES; end++) {
      const piece = this.#kept[end];
      if (piece instanceof Uint8Array) bytes += piece.length;
    }
    const bytes = writePieces(this.#kept.slice(0, end));
    port.postMessage(bytes, [bytes.buffer]);
    port.close();
  }
}

/** From here on what this page sends over native ports can be read by workers that block. @param base of the addresses */
export function answer(container: ServiceWorkerContainer, base: string): void {
  const channels = new Map<string, Pieces>();
  // Another copy of this library in this page hears the same requests.
  const own = `${crypto.randomUUID()}.`;
  let last = 0;
  container.addEventListener('message', ({ data, ports: [port] }: MessageEvent) => {
    const asked = data as Asked | null | undefined;
    if (asked?.type !== 'millrace-read' || !asked.channel.startsWith(own) || port === undefined) return;
    const pieces = channels.get(asked.channel);
    // Its end was read, or its worker is gone.
    if (pieces === undefined) port.postMessage(null);
    else pieces.ask(asked, port);
  });
  container.startMessages();
  keeper().keep = () => {
    const channel = `${own}${++last}`;
    const pieces = new Pieces(`${base}&channel=${channel}`, () => channels.delete(channel));
    channels.set(channel, pieces);
    return pieces;
  };
}
