// Blocking reads without shared memory. A thread that stands still reads no native port; a service worker can bring it the same pieces by a synchronous
// request. So pieces are numbered, in the order in which they are posted: either way brings them, and what one has brought the other one drops.
//
// Who posts keeps the bytes of each piece until the reader has said that it has them, by either way. So nothing is lost where a request was given up.
// What stands beside the bytes cannot be kept, and comes natively alone. The bytes say where it belongs, and are read up to there until it has come.
import { ofAgent } from '../../agent.ts';

/** In the place of a value beside the bytes. */
export const BESIDE = 1;

/** The pieces of one end, for a reader at the other that may block. */
export interface KeptPieces {
  /** Where they can be asked for. */
  readonly address: string;
  /** One was posted. Bytes must not change afterwards; `null` is the last. */
  push(piece: Uint8Array | typeof BESIDE | null): void;
  /** The reader has so many. */
  confirm(count: number): void;
  /** Nobody reads any more. */
  drop(): void;
}

/** Makes them, once this thread has said by what they are read (src/browser/answering.ts). */
export interface Keeper {
  keep: (() => KeptPieces) | undefined;
}
export const keeper = (): Keeper => ofAgent<Keeper>('kept-pieces/1', () => ({ keep: undefined }));

// ---- an answer --------------------------------------------------------------------------------------------------
//
//     byte   each piece
//     0      kind: 0 bytes, 1 a value beside them, 2 the last
//     1      length of the bytes, little-endian, 32 bits
//     5      the bytes

const BYTES = 0;
const LAST = 2;
const HEAD_BYTES = 5;

export function writePieces(pieces: readonly (Uint8Array | typeof BESIDE | null)[]): Uint8Array<ArrayBuffer> {
  const lengthOf = (piece: (typeof pieces)[number]): number => (piece instanceof Uint8Array ? piece.length : 0);
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + HEAD_BYTES + lengthOf(piece), 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const piece of pieces) {
    bytes[at] = piece === null ? LAST : piece === BESIDE ? BESIDE : BYTES;
    view.setUint32(at + 1, lengthOf(piece), true);
    at += HEAD_BYTES;
    if (piece instanceof Uint8Array) {
      bytes.set(piece, at);
      at += piece.length;
    }
  }
  return bytes;
}

/** Views of `bytes`; what cannot be an answer is `undefined`. */
export function readPieces(bytes: Uint8Array): (Uint8Array | typeof BESIDE | null)[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const pieces: (Uint8Array | typeof BESIDE | null)[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + HEAD_BYTES > bytes.length) return undefined;
    const kind = bytes[at];
    const end = at + HEAD_BYTES + view.getUint32(at + 1, true);
    if (end > bytes.length || (kind as number) > LAST) return undefined;
    pieces.push(kind === LAST ? null : kind === BESIDE ? BESIDE : bytes.subarray(at + HEAD_BYTES, end));
    at = end;
  }
  return pieces;
}
