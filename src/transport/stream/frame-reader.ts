// Cuts a byte stream into frames, however its chunks fall. Keeps a header and a control frame at the most: the bytes of DATA go
// on as they come.
import { LayoutError } from '../../errors.ts';
import { STREAM_FRAME_BYTES_MAX, STREAM_UNKNOWN_BYTES_MAX } from '../../limits.ts';
import {
  BEHIND_BYTES_MAX,
  BODY_BYTES,
  CONTROL_BYTES_MAX,
  DATA,
  FRAME_HEADER_BYTES,
  lengthOf,
  OPTIONAL_TYPES,
  typeOf,
} from './frames.ts';

export interface FrameHandler {
  /** A frame that is not DATA, whole. `words` is the reader's own and holds until it returns. */
  control(type: number, channel: number, words: Int32Array): void;
  /** A DATA frame of `length` bytes begins. */
  dataBegins(channel: number, length: number): void;
  /** Its next bytes: `bytes` from `start` to `end`, the medium's own until it returns. */
  data(bytes: Uint8Array, start: number, end: number): void;
  dataEnds(): void;
}

/** Bytes of body of a frame that only who knows its feature can read; undefined for one that nobody here knows. */
type RoomFor = (type: number) => readonly [least: number, most: number] | undefined;

export class FrameReader {
  readonly #handler: FrameHandler;
  readonly #roomFor: RoomFor;
  /** Of the frame at hand, as far as it is kept: header, then body. */
  readonly #kept = new Int32Array((FRAME_HEADER_BYTES + CONTROL_BYTES_MAX) >>> 2);
  readonly #keptBytes = new Uint8Array(this.#kept.buffer);
  #filled = 0;
  /** Bytes to keep before anything can be done. */
  #wanted: number = FRAME_HEADER_BYTES;
  /** Bytes of a DATA frame that are still to come. */
  #data = 0;
  #stopped = false;

  constructor(handler: FrameHandler, roomFor: RoomFor = () => undefined) {
    this.#handler = handler;
    this.#roomFor = roomFor;
  }

  /** Whether the stream stands between two frames. */
  get between(): boolean {
    return this.#filled === 0 && this.#data === 0;
  }

  /** The stream is over, by what was handed on or by whoever it was handed to: what stands behind that means nothing. */
  stop(): void {
    this.#stopped = true;
  }

  /**
   * Takes what has come.
   * @throws LayoutError if it can be no frame; what follows means nothing then
   */
  feed(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.#stopped; ) {
      if (this.#data > 0) {
        const end = Math.min(bytes.length, at + this.#data);
        this.#data -= end - at;
        this.#handler.data(bytes, at, end);
        if (this.#data === 0) this.#handler.dataEnds();
        at = end;
        continue;
      }
      const end = Math.min(bytes.length, at + this.#wanted - this.#filled);
      // A few bytes: a view of them costs more than they do.
      while (at < end) this.#keptBytes[this.#filled++] = bytes[at++] as number;
      if (this.#filled === this.#wanted) this.#whole();
    }
  }

  #whole(): void {
    const length = lengthOf(this.#kept[0] as number);
    const type = typeOf(this.#kept[0] as number);
    const channel = this.#kept[1] as number;
    if (this.#filled === FRAME_HEADER_BYTES) {
      this.#check(type, length, channel);
      if (type === DATA) {
        this.#filled = 0;
        this.#data = length;
        this.#handler.dataBegins(channel, length);
        if (length === 0) this.#handler.dataEnds();
        return;
      }
      this.#wanted = FRAME_HEADER_BYTES + length;
      if (length > 0) return;
    }
    this.#filled = 0;
    this.#wanted = FRAME_HEADER_BYTES;
    this.#handler.control(
      type,
      channel,
      this.#kept.subarray(FRAME_HEADER_BYTES >>> 2, (FRAME_HEADER_BYTES + length) >>> 2),
    );
  }

  #check(type: number, length: number, channel: number): void {
    const [least, most] = boundsOf(type) ?? this.#roomFor(type) ?? [0, -1];
    if (length >= least && length <= most && channel >= 0) return;
    const text = `Cannot read the stream: a frame claims type ${type}, ${length} bytes and channel ${channel}${this.#kept[0] === HTTP ? '; what is there speaks HTTP' : ''}`;
    throw new LayoutError(text, { length, kind: type });
  }
}

/** The first letters of its answers: whoever is at the wrong address is told what mostly stands there. */
const HTTP = 0x50545448;

const DATA_BOUNDS = [0, STREAM_FRAME_BYTES_MAX] as const;

/** Bytes of body at the least and at the most; undefined for one that nobody knows by this page, and nobody may pass over. */
function boundsOf(type: number): readonly [least: number, most: number] | undefined {
  if (type === DATA) return DATA_BOUNDS;
  if (type >= OPTIONAL_TYPES) return [0, STREAM_UNKNOWN_BYTES_MAX];
  const least = BODY_BYTES[type];
  return least === undefined ? undefined : [least, least + (BEHIND_BYTES_MAX[type] ?? 0)];
}
