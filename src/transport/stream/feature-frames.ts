// The frames of features, types 64 to 127: which this side knows, when one may be said, and who is told of one that comes. What they
// mean is the feature's; here they are only frames of a length that can be checked, of something that both sides have agreed on.
import { platform } from '#platform';
import { LayoutError, UnsupportedError, UsageError } from '../../errors.ts';
import { STREAM_FEATURE_BYTES_MAX } from '../../limits.ts';
import type { StreamChannel } from './channel.ts';
import { FEATURE_TYPES, OPTIONAL_TYPES, unexpected } from './frames.ts';

export interface FeatureFrame {
  /** 64 to 127. */
  readonly type: number;
  /** The bit of FEATURES with which it is said of the connection. Without one it never is. */
  readonly feature?: number | undefined;
  /** The bit of FLAGS with which it is said of a channel. Without one it never is. */
  readonly flag?: number | undefined;
  /** Bytes of body, whole eights: at the least (default 0), and at the most. */
  readonly bytesMin?: number | undefined;
  readonly bytesMax: number;
  /**
   * One has come, of a channel or of the connection, in the middle of `received`. A LayoutError that it throws is damage, of the channel or of the
   * connection; what else it throws is reported.
   * @param words of the body; not its own, and only until it returns
   */
  came(words: Int32Array, channel: StreamChannel | undefined): void;
}

export class FeatureFrames {
  readonly #known: ReadonlyMap<number, FeatureFrame>;
  readonly #agreed: () => number;

  /**
   * @param agreed the features that both sides do
   * @throws UsageError ERR_OPTION
   */
  constructor(all: readonly FeatureFrame[], agreed: () => number) {
    for (const each of all) checkFrame(each);
    this.#known = new Map(all.map((each) => [each.type, each]));
    this.#agreed = agreed;
    if (this.#known.size < all.length) throw wrong('has the same type twice', undefined);
  }

  /** Bytes of body that such a frame may have. */
  roomFor(type: number): readonly [least: number, most: number] | undefined {
    const frame = this.#known.get(type);
    return frame && [frame.bytesMin ?? 0, frame.bytesMax];
  }

  isOfChannels(type: number): boolean {
    return this.#known.get(type)?.flag !== undefined;
  }

  /** @throws LayoutError if it does not belong here, or its feature says that it can be none */
  came(type: number, words: Int32Array, channel: StreamChannel | undefined): void {
    const frame = this.#known.get(type);
    const agreed = channel === undefined ? this.#agreed() : channel.flags;
    if (frame === undefined || (bitOf(frame, channel) & agreed) === 0) throw unexpected(type, channel?.number ?? 0);
    try {
      frame.came(words, channel);
    } catch (error) {
      if (error instanceof LayoutError) throw error;
      platform.reportError(error);
    }
  }

  /** Whether it may be said. @throws as StreamConnection.say */
  check(type: number, words: ArrayLike<number>, channel: StreamChannel | undefined, agreed: number): void {
    const frame = this.#known.get(type);
    const bytes = words.length * 4;
    if (frame === undefined || bytes % 8 !== 0 || bytes < (frame.bytesMin ?? 0) || bytes > frame.bytesMax) {
      throw new UsageError('ERR_OPTION', `Cannot say a frame of type ${type} and ${bytes} bytes: no feature has one`, {
        option: 'type',
        value: type,
      });
    }
    const bits = channel === undefined ? agreed : channel.attached ? channel.flags : 0;
    if ((bitOf(frame, channel) & bits) !== 0) return;
    const where = channel === undefined ? 'the connection' : 'the channel';
    throw new UnsupportedError(`Cannot say a frame of type ${type}: both sides have not agreed on it for ${where}`);
  }
}

function bitOf({ feature = 0, flag = 0 }: FeatureFrame, channel: StreamChannel | undefined): number {
  return channel === undefined ? feature : flag;
}

function checkFrame({ type, feature, flag, bytesMin = 0, bytesMax }: FeatureFrame): void {
  if (!Number.isInteger(type) || type < FEATURE_TYPES || type >= OPTIONAL_TYPES)
    throw wrong(`has type ${type}: it takes ${FEATURE_TYPES} to ${OPTIONAL_TYPES - 1}`, type);
  for (const bit of [feature, flag]) {
    if (bit !== undefined && (bit | 0) !== bit && bit >>> 0 !== bit) throw wrong(`has the bit ${bit}`, bit);
    if (bit !== undefined && (bit === 0 || (bit & (bit - 1)) !== 0))
      throw wrong(`has the bits ${bit}: it takes one`, bit);
  }
  if (feature === undefined && flag === undefined) throw wrong('belongs to no bit of FEATURES or FLAGS', type);
  for (const bytes of [bytesMin, bytesMax]) {
    if (!Number.isInteger(bytes) || bytes < 0 || bytes > STREAM_FEATURE_BYTES_MAX || bytes % 8 !== 0)
      throw wrong(`has ${bytes} bytes: it takes eights up to ${STREAM_FEATURE_BYTES_MAX}`, bytes);
  }
  if (bytesMin > bytesMax) throw wrong(`has ${bytesMin} bytes at the least and ${bytesMax} at the most`, bytesMin);
}

function wrong(why: string, value: unknown): UsageError {
  return new UsageError('ERR_OPTION', `Option featureFrames cannot be: a frame ${why}`, {
    option: 'featureFrames',
    value,
  });
}
