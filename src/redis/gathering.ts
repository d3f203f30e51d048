// What is said to one channel while promises settle goes in one message: requests and answers come many at a time, and each publication costs as much as the
// codec of a hundred. JSON goes by itself, for it is read in other languages.
//
// A message of several: u8 kind (192, which no other begins with), 3 bytes of nothing; then each behind a u32 of its bytes, little-endian.
import { RECORD_BYTES } from '../engine/record.ts';
import { setUint32, uint32At } from '../engine/words.ts';
import { ENGINE_MESSAGE_BYTES_MAX } from '../limits.ts';
import { pooled } from '../memory/pooled.ts';
import { type Settleable, settleable } from '../port/waiters.ts';

const GATHERED = 0xc0;
const BRACE = 0x7b;
const HEAD_BYTES = 4;
const COUNTED_BYTES = 4;

type Publish = (channel: string, bytes: Uint8Array, given: () => boolean) => Promise<unknown>;

interface Waiting {
  readonly messages: Uint8Array[];
  /** Of each, whether nobody waits for it any more. */
  readonly givens: (() => boolean)[];
  bytes: number;
  readonly said: Settleable<unknown>;
}

const wanted = (): boolean => false;

export class Gathering {
  readonly #publish: Publish;
  readonly #waiting = new Map<string, Waiting>();

  constructor(publish: Publish) {
    this.#publish = publish;
  }

  /**
   * @param given whether nobody waits for it any more
   * @returns what is said to the message that it goes in
   */
  say(channel: string, bytes: Uint8Array, given: () => boolean = wanted): Promise<unknown> {
    const needed = COUNTED_BYTES + bytes.length;
    const alone = bytes[0] === BRACE;
    const before = this.#waiting.get(channel);
    if (before !== undefined && !alone && before.bytes + needed <= ENGINE_MESSAGE_BYTES_MAX) {
      before.messages.push(bytes);
      before.givens.push(given);
      before.bytes += needed;
      return before.said.promise;
    }
    if (before !== undefined) this.#send(channel, before);
    if (alone) return this.#publish(channel, bytes, given);
    if (this.#waiting.size === 0) queueMicrotask(() => this.sendAll());
    const said = settleable<unknown>();
    this.#waiting.set(channel, { messages: [bytes], givens: [given], bytes: HEAD_BYTES + needed, said });
    return said.promise;
  }
  sendAll(): void {
    for (const [channel, waiting] of this.#waiting) this.#send(channel, waiting);
  }
  #send(channel: string, { messages, givens, bytes, said }: Waiting): void {
    this.#waiting.delete(channel);
    const [first] = messages as [Uint8Array];
    const whole = messages.length === 1 ? first : joined(messages, bytes);
    // Where one is wanted, the others go with it.
    this.#publish(channel, whole, () => givens.every((each) => each())).then(said.resolve, said.reject);
  }
}

function joined(messages: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = pooled(bytes);
  setUint32(whole, 0, GATHERED);
  let at = HEAD_BYTES;
  for (const message of messages) {
    setUint32(whole, at, message.length);
    whole.set(message, at + COUNTED_BYTES);
    at += COUNTED_BYTES + message.length;
  }
  return whole;
}

/**
 * The messages in one; it by itself where it is no message of several, or makes no sense as one. Anybody may publish there: it is no larger than what is said here, and
 * no message is less than the head of a record, so that what comes out of it is bounded.
 */
export function messagesIn(whole: Uint8Array): Uint8Array[] {
  if (whole[0] !== GATHERED || whole.length > ENGINE_MESSAGE_BYTES_MAX) return [whole];
  const messages: Uint8Array[] = [];
  let at = HEAD_BYTES;
  while (at + COUNTED_BYTES <= whole.length) {
    const from = at + COUNTED_BYTES;
    const end = from + uint32At(whole, at);
    if (end > whole.length || end - from < RECORD_BYTES) return [whole];
    messages.push(whole.subarray(from, end));
    at = end;
  }
  return at === whole.length ? messages : [whole];
}
