// A session whose connection is in another thread, which gives bytes and takes bytes: between the two, in the thread that has the lines. What goes out goes frame by frame,
// for what the session says of itself stands between frames; and both greetings are read as they pass, for they say whether the two resume.
import type { LayoutError } from '../../errors.ts';
import * as frames from '../stream/frames.ts';
import type { Greeting } from '../stream/greeting.ts';
import { joined } from '../stream/joined.ts';
import { firstWords } from './fresh-line.ts';
import { RESUMES } from './heard.ts';
import type { LineUser } from './line.ts';
import type { Resumed, ResumingStream } from './resuming-stream.ts';

/** Who carries the bytes on. */
export interface RelayUser extends LineUser {
  /** The session takes more. */
  idle?(): void;
}

const NOTHING: Uint8Array = new Uint8Array(0);

export class RelayedSession implements Resumed {
  /** Chunks that came. */
  heard = 0;
  features: number | undefined;
  readonly #stream: ResumingStream;
  #user: RelayUser | undefined;
  /** The beginning of what the other side says, until its greeting is whole. */
  #early: Uint8Array | undefined = NOTHING;
  #own: Greeting | undefined;
  #peer: Greeting | undefined;
  #met = false;
  /** The beginning of a frame whose end has not come from the thread. */
  #part: Uint8Array = NOTHING;
  #full = false;
  #idleDue = false;
  #pings = 0;

  constructor(stream: ResumingStream) {
    this.#stream = stream;
  }

  // ---- what the thread says -------------------------------------------------------------------------------------------

  connect(user: RelayUser): void {
    this.#user = user;
  }
  write(bytes: Uint8Array): void {
    const all = this.#part.length === 0 ? bytes : joined([this.#part, bytes]);
    let at = 0;
    for (let length = frames.frameBytes(all, at); length <= all.length - at; length = frames.frameBytes(all, at)) {
      this.#say(all.subarray(at, at + length));
      at += length;
    }
    this.#part = all.slice(at);
    if (!this.#full) this.#idle();
  }
  #say(frame: Uint8Array): void {
    if (!this.#stream.write(frame)) this.#full = true;
    if (this.#own !== undefined) return;
    this.#own = firstWords(frame)?.greeting;
    this.#meet();
  }
  /** Behind the call of the user's that this may be in. */
  #idle(): void {
    if (this.#idleDue) return;
    this.#idleDue = true;
    queueMicrotask(() => {
      this.#idleDue = false;
      this.#user?.idle?.();
    });
  }
  flow(flows: boolean): void {
    this.#stream.flow(flows);
  }
  ending(): void {
    this.#stream.ending();
  }
  end(): void {
    this.#stream.end();
  }
  destroy(): void {
    this.#stream.lose(new Error('it was given up'));
  }

  // ---- what the session says ------------------------------------------------------------------------------------------

  received(bytes: Uint8Array): void {
    this.heard++;
    if (this.#early !== undefined) this.#look(bytes);
    this.#user?.received(bytes);
  }
  #look(bytes: Uint8Array): void {
    const early = joined([this.#early as Uint8Array, bytes]);
    const first = firstWords(early);
    this.#early = first === undefined ? early : undefined;
    this.#peer = first?.greeting;
    this.#meet();
  }
  /** What one of them does not take, its connection refuses. */
  #meet(): void {
    const [own, peer] = [this.#own, this.#peer];
    if (own === undefined || peer === undefined || this.#met) return;
    this.#met = true;
    const agreed = frames.agreedBits(own.features, peer.features);
    // One that is turned down has no session, though both would have taken one.
    this.features = own.resume === undefined && peer.resume === undefined ? agreed & ~RESUMES : agreed;
    this.#stream.met(peer);
  }
  drained(): void {
    this.#full = false;
    this.#idle();
  }
  closed(...how: Parameters<LineUser['closed']>): void {
    this.#user?.closed(...how);
  }
  damaged(error: LayoutError): void {
    const { RESET, BODY_BYTES, CODE_DAMAGE } = frames;
    this.#stream.write(frame(frames.frameHead(RESET, BODY_BYTES[RESET] as number), 0, CODE_DAMAGE, 0));
    // Which ends what this was the connection of.
    this.#stream.lose(error);
  }
  ping(): void {
    if (this.#met) this.#stream.write(frame(frames.frameHead(frames.PING, 8), 0, ++this.#pings, 0));
  }
}

function frame(...words: readonly number[]): Uint8Array {
  return new Uint8Array(Int32Array.from(words).buffer);
}
