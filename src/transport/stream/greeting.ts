// What the two sides of a connection say of themselves first, and what each makes of it.
import { LayoutError, UsageError } from '../../errors.ts';
import {
  KNOWN_TEXT_BYTES_DEFAULT,
  KNOWN_TEXTS_MAX,
  MESSAGE_BYTES_DEFAULT,
  MESSAGE_BYTES_MAX,
  STREAM_CHANNELS_MAX,
  STREAM_FIELDS_BYTES_MAX,
  STREAM_WINDOW_MAX,
  STREAM_WINDOW_MIN,
} from '../../limits.ts';
import type { ChannelTerms } from './channel.ts';
import {
  BODY_BYTES,
  HELLO,
  highWord,
  lowWord,
  positionOf,
  REQUIRED_BITS,
  STREAM_MAGIC,
  STREAM_VERSION,
} from './frames.ts';

/** What stands behind the words of a greeting: a ticket, a name, whatever a kind is for. Which are given out: docs/protocol/. */
export interface GreetingField {
  readonly kind: number;
  readonly bytes: Uint8Array;
}

/** Which stream a line goes on with, and from where: what a layer below the frames says that resumes. The connection only carries it. */
export interface Resume {
  /** SESSION: 16 bytes, not all of them 0. */
  readonly session: Uint8Array;
  /** HEARD: bytes of the stream that have come, below 2^53. */
  readonly heard: number;
}

export interface Greeting {
  /** Bits of what the side can do beyond the protocol's first version. Which are given out: docs/protocol/. */
  readonly features: number;
  /** Bytes, encoded, of the longest message that it takes on any channel. */
  readonly messageMax: number;
  /** Channels that the other side may have open. */
  readonly channelsMax: number;
  /** Bytes of large strings that it remembers for a channel. */
  readonly textBytesMax: number;
  readonly fields: readonly GreetingField[];
  /** `undefined` of a side that does not resume, or says what can be no position. */
  readonly resume: Resume | undefined;
}

/** What a side says of itself, in its greeting. */
export interface GreetingOptions {
  /** Bytes, encoded, of the longest message that this side takes on any channel. */
  readonly maxMessageBytes?: number | undefined;
  /** Bytes of large strings that this side remembers for a channel, on behalf of the peer. */
  readonly textBytesMax?: number | undefined;
  /** Channels that a peer may have open. */
  readonly channelsMax?: number | undefined;
  /** What it requires of the peer (the low 16 bits), and what it offers (the high ones). Which are given out: docs/protocol/. */
  readonly features?: number | undefined;
  /** Where a layer below goes on with a stream. */
  readonly resume?: Resume | undefined;
  /** What stands behind the greeting, 4096 bytes at the most. A peer that does not know a kind passes it over. */
  readonly fields?: readonly GreetingField[] | undefined;
}

/** What a side says of itself to this peer, in place of what its options say. */
export type Answer = GreetingOptions | undefined;

/** @throws UsageError ERR_OPTION */
export function greetingFor(options: GreetingOptions): Greeting {
  const { fields = [], resume } = options;
  fieldBytes(fields);
  checkResume(resume);
  return {
    features: options.features ?? 0,
    messageMax: options.maxMessageBytes ?? MESSAGE_BYTES_DEFAULT,
    channelsMax: options.channelsMax ?? STREAM_CHANNELS_MAX,
    textBytesMax: options.textBytesMax ?? KNOWN_TEXT_BYTES_DEFAULT,
    fields,
    resume,
  };
}

/** The words of HELLO. */
export function greetingWords({
  features,
  messageMax,
  channelsMax,
  textBytesMax,
  resume,
}: Greeting): readonly number[] {
  return [
    ...[STREAM_MAGIC, STREAM_VERSION, STREAM_VERSION, features],
    ...[messageMax, channelsMax, textBytesMax, 0],
    ...resumeWords(resume),
  ];
}

const SESSION = 8;
const HEARD = 12;
const SESSION_BYTES = 16;

function resumeWords(resume: Resume | undefined): readonly number[] {
  if (resume === undefined) return [0, 0, 0, 0, 0, 0];
  const { session, heard } = resume;
  return [...new Int32Array(session.slice().buffer), lowWord(heard), highWord(heard)];
}
function resumeOf(words: Int32Array): Resume | undefined {
  const session = new Uint8Array(words.slice(SESSION, HEARD).buffer);
  const heard = positionOf(words[HEARD] as number, words[HEARD + 1] as number);
  return session.every((byte) => byte === 0) || Number.isNaN(heard) ? undefined : { session, heard };
}
/** @throws UsageError ERR_OPTION */
function checkResume(resume: Resume | undefined): void {
  if (resume === undefined) return;
  const { session, heard } = resume;
  const fits = session instanceof Uint8Array && session.length === SESSION_BYTES && session.some((byte) => byte !== 0);
  if (fits && Number.isSafeInteger(heard) && heard >= 0) return;
  throw new UsageError(
    'ERR_OPTION',
    `Option resume cannot be ${session?.length} bytes and position ${heard}: it takes ${SESSION_BYTES} bytes, not all 0, and a whole number from 0`,
    { option: 'resume', value: resume },
  );
}

/** The fields behind them. @throws UsageError if there is no room for all */
export function fieldBytes(fields: readonly GreetingField[]): Uint8Array {
  const size = fields.reduce((sum, { bytes }) => sum + 8 + ((bytes.length + 7) & -8), 0);
  if (size > STREAM_FIELDS_BYTES_MAX) {
    throw new UsageError(
      'ERR_OPTION',
      `Option fields cannot take ${size} bytes: a greeting has room for ${STREAM_FIELDS_BYTES_MAX}`,
      { option: 'fields', value: size },
    );
  }
  const words = new Int32Array(size >>> 2);
  const memory = new Uint8Array(words.buffer);
  let at = 0;
  for (const { kind, bytes } of fields) {
    words[at >>> 2] = kind;
    words[(at >>> 2) + 1] = bytes.length;
    memory.set(bytes, at + 8);
    at += 8 + ((bytes.length + 7) & -8);
  }
  return memory;
}

/**
 * Why the two sides cannot talk, if they cannot.
 * @param known required features that this side knows
 * @throws LayoutError if it is no greeting
 */
export function noCommonTongue(words: Int32Array, known: number): LayoutError | undefined {
  const [magic, version, versionMin, features] = words as unknown as [number, number, number, number];
  if (magic !== STREAM_MAGIC)
    throw new LayoutError('Cannot connect: the stream does not begin with a greeting of millrace');
  if (versionMin > STREAM_VERSION || version < STREAM_VERSION) {
    return new LayoutError(
      `Cannot connect: the other side speaks versions ${versionMin} to ${version}, this one ${STREAM_VERSION}`,
    );
  }
  const unknown = features & REQUIRED_BITS & ~known;
  if (unknown === 0) return undefined;
  return new LayoutError(`Cannot connect: the other side needs features 0x${unknown.toString(16)}, unknown here`);
}

/** @throws LayoutError if it cannot be what an honest side says */
export function greetingOf(words: Int32Array): Greeting {
  const [features, messageMax, channelsMax, textBytesMax] = words.subarray(3) as unknown as [
    number,
    number,
    number,
    number,
  ];
  if (messageMax < 1 || channelsMax < 0 || textBytesMax < 0) {
    throw new LayoutError(
      `Cannot connect: messages of ${messageMax} bytes, ${channelsMax} channels, ${textBytesMax} bytes of texts make no sense`,
    );
  }
  // It may take more than this side ever sends.
  const most = Math.min(messageMax, MESSAGE_BYTES_MAX);
  return { features, messageMax: most, channelsMax, textBytesMax, fields: fieldsOf(words), resume: resumeOf(words) };
}

/** What stands behind a greeting: fields of a KIND, a LENGTH and so many bytes. @throws LayoutError */
function fieldsOf(words: Int32Array): readonly GreetingField[] {
  const fields: GreetingField[] = [];
  const memory = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  for (let at = (BODY_BYTES[HELLO] as number) >>> 2; at < words.length; ) {
    const kind = words[at] as number;
    const length = words[at + 1] as number;
    at += 2;
    if (length >>> 0 > (words.length - at) * 4)
      throw new LayoutError(`Cannot connect: a field of ${length} bytes does not lie in its greeting`, { length });
    fields.push({ kind, bytes: memory.slice(at * 4, at * 4 + length) });
    at += ((length + 7) & -8) >>> 2;
  }
  return fields;
}

/** The terms that stand at the beginning of OPEN and of ACCEPT. */
export function termsOf(words: Int32Array): ChannelTerms {
  const [window, messageMax, texts, textBytes] = words as unknown as [number, number, number, number];
  return { window, messageMax, texts, textBytes };
}

/** What holds for what a side sends: the smaller of what it has said of it, and what its reader takes. Both know both. */
export function agreedTerms(said: ChannelTerms, reader: Greeting): ChannelTerms {
  return {
    window: said.window,
    messageMax: Math.min(said.messageMax, reader.messageMax),
    texts: Math.min(said.texts, KNOWN_TEXTS_MAX),
    textBytes: Math.min(said.textBytes, reader.textBytesMax),
  };
}

/**
 * Why nobody takes a channel on these terms; undefined if they can be. No number is too high: the reader's is below it then.
 * @param known flags that may be required of this side
 */
export function noTerms(
  { window, messageMax, texts, textBytes }: ChannelTerms,
  flags: number,
  known: number,
): string | undefined {
  const unknown = flags & REQUIRED_BITS & ~known;
  if (unknown !== 0) return `flags 0x${unknown.toString(16)} are unknown here`;
  if (window < STREAM_WINDOW_MIN || window > STREAM_WINDOW_MAX || (window & (window - 1)) !== 0)
    return `credit cannot be ${window} bytes`;
  if (messageMax < 1) return `messages cannot be of ${messageMax} bytes`;
  if (texts < 0 || textBytes < 0) return `nobody remembers ${textBytes} bytes of ${texts} texts`;
  return undefined;
}
