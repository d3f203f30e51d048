// What becomes of values that are posted before their channel is there, where nothing but bytes will go: each is made again, at once, out of the
// bytes that its codec would have sent. So it is as it was, and whatever cannot go is refused to whoever posts it.
import type { Codec, CodecOptions, Decoder } from '../codec/codec.ts';
import { viewsOf } from '../memory/region.ts';
import { AsideEncoder } from './aside-encoder.ts';
import { type Beside, type HeldValue, NOTHING_BESIDE } from './beside.ts';

export class HeldCopies implements Pick<Beside, 'holdBack' | 'letGo'> {
  readonly #encoder: AsideEncoder;
  readonly #decoder: Decoder;

  /** @param messageMax bytes, encoded, of the longest message */
  constructor(codec: Codec, options: CodecOptions, messageMax: number) {
    // Each is for itself: neither of them learns.
    const alone = { ...options, knownTexts: 0, knownTextBytes: 0 };
    this.#encoder = new AsideEncoder(codec.createEncoder(alone), messageMax);
    this.#decoder = codec.createDecoder(alone);
  }

  /** @throws DataCloneError, UsageError ERR_TRANSFER, ERR_TOO_LARGE */
  holdBack(value: unknown, transfer: readonly unknown[]): HeldValue {
    const aside = transfer.length > 0 ? undefined : this.#encoder.encode(value, false);
    if (aside === undefined) return NOTHING_BESIDE.holdBack(value, transfer);
    const { bytes } = aside;
    const memory = viewsOf(new ArrayBuffer((bytes.length + 7) & -8), true);
    memory.bytes.set(bytes);
    const { length } = bytes;
    this.#encoder.giveBack(aside);
    return { value: this.#decoder.decode(memory, 0, length), transfer, bytes: length };
  }
  /** Nothing has moved. */
  letGo(): void {}
}
