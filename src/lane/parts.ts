// A message longer than a record may be: its bytes follow each other in several records, of which the first one says how
// long the whole is, and every one but the last that more will follow. `frame/join.ts` puts them together again.
import { HEADER_BYTES, MORE, PARTS_PREFIX_BYTES } from '../frame/header.ts';
import { FULL } from '../ring/producer.ts';
import type { RecordSink } from './records.ts';

/** Bytes of a part at the least: a first one that held its prefix only would bring nothing on, and be refused. */
const PART_BYTES_MIN: number = 2 * PARTS_PREFIX_BYTES;

/**
 * Writes parts of a message as far as they find room now. Never blocks.
 * @param kind of the whole message
 * @param moved bytes of it that are in the ring already; 0 before the first part
 * @param rest kind of every part but the first, where that is told
 * @returns bytes of it that are in the ring then
 */
export function writeParts(
  sink: Pick<RecordSink, 'views' | 'capacity' | 'claimable' | 'tryClaim' | 'commit'>,
  kind: number,
  bytes: Uint8Array,
  moved: number,
  rest: number = kind,
): number {
  const { capacity } = sink;
  let written = moved;
  while (written < bytes.length) {
    const prefix = written === 0 ? PARTS_PREFIX_BYTES : 0;
    const left = bytes.length - written + prefix;
    // Parts of an eighth of the ring keep both sides busy at once; the rest goes as it is.
    const smallest = Math.min(left, Math.max(PART_BYTES_MIN, (capacity >>> 3) - HEADER_BYTES));
    const room = sink.claimable(smallest);
    if (room < smallest) break;
    const length = Math.min(room, left, Math.max(PART_BYTES_MIN, capacity >>> 2));
    const offset = sink.tryClaim(length);
    if (offset === FULL) break;
    const { views } = sink;
    if (prefix > 0) {
      views.words[offset >>> 2] = bytes.length;
      views.words[(offset >>> 2) + 1] = 0;
    }
    const from = written;
    written += length - prefix;
    views.blocks.copyIn(bytes.subarray(from, written), offset + prefix);
    const tag = prefix > 0 ? kind : rest;
    sink.commit(length, written < bytes.length ? tag | MORE : tag);
  }
  return written;
}
