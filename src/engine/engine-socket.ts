// One end of a line through a server: a WebSocket to whoever has it. Messages carry numbers, so that what the server has lost ends the line, and the session
// above goes on over the next one, with nothing lost. A server tells nobody that an end is gone: each asks now and then whether anybody hears the other one.
//
// A message: u8 kind, 3 bytes of nothing, u32 number (little-endian; modulo 2^32, from 0 on), then the bytes of a DATA.
import { UnsupportedError } from '../errors.ts';
import { ENGINE_PROBE_MS } from '../limits.ts';
import { pooled } from '../memory/pooled.ts';
import { OPEN, type WebSocketEventLike, type WebSocketLike } from '../transport/network/web-socket-line.ts';
import type { Driver } from './driver.ts';
import { Unflushed } from './unflushed.ts';
import { setUint32, uint32At } from './words.ts';

export const DATA = 0;
/** The answer to who asked for a line, with the subject of its listener. */
export const OPENED = 1;
const END = 2;
/** Is anybody there? Its number is that of the next message. */
export const PROBE = 3;
export const HEAD_BYTES = 8;

const CLOSED = 3;
const NORMAL = 1000;
const ABNORMAL = 1006;

export function message(kind: number, number: number, bytes: Uint8Array): Uint8Array {
  const whole = pooled(HEAD_BYTES + bytes.length);
  whole.fill(0, 0, HEAD_BYTES);
  whole[0] = kind;
  setUint32(whole, 4, number);
  whole.set(bytes, HEAD_BYTES);
  return whole;
}
const NOTHING = new Uint8Array(0);

export class EngineSocket implements WebSocketLike {
  readonly copies = true;
  binaryType = '';
  readyState: number = OPEN;
  readonly #driver: Driver;
  readonly #there: string;
  readonly #leave: () => void;
  readonly #listeners = new Map<string, (event: WebSocketEventLike) => void>();
  readonly #forget: () => void;
  readonly #probes: ReturnType<typeof setInterval>;
  #sent = 0;
  #heard = 0;
  #heardLately = false;
  readonly #unflushed: Unflushed;
  #sentSome: () => void = () => {};

  /**
   * @param there where the other end hears
   * @param leave this end hears no more
   */
  constructor(driver: Driver, there: string, leave: () => void) {
    this.#driver = driver;
    this.#there = there;
    this.#leave = leave;
    this.#unflushed = new Unflushed(driver, () => this.#sentSome());
    this.#forget = driver.onDown(() =>
      // No other line is to be had, ever.
      this.#fail(
        driver.closed ? new UnsupportedError('this engine is closed') : new Error('this side has lost its server'),
      ),
    );
    this.#probes = setInterval(() => void this.#probe(), ENGINE_PROBE_MS);
    // Who waits for something holds the process by other means.
    (this.#probes as { unref?(): void }).unref?.();
  }

  /** Bytes that the server may not have yet. */
  get bufferedAmount(): number {
    return this.#unflushed.amount;
  }

  /** Something has come for this end. */
  heard(bytes: Uint8Array): void {
    if (this.readyState !== OPEN || bytes.length < HEAD_BYTES) return;
    const kind = bytes[0] as number;
    if (kind !== DATA && kind !== END && kind !== PROBE) return;
    const number = uint32At(bytes, 4);
    if (number !== this.#heard) {
      // Said twice, or asked by a version that says no number: nothing is missing.
      if (((number - this.#heard) | 0) < 0) return;
      // The other end is not to wait until it finds that nobody answers.
      this.#publish(END, NOTHING);
      this.#fail(new Error(`the server has lost messages: number ${number} came in the place of ${this.#heard}`));
      return;
    }
    if (kind === PROBE) return;
    this.#heard = (number + 1) >>> 0;
    this.#heardLately = true;
    if (kind === END) this.#over({ code: NORMAL });
    else this.#tell('message', { data: bytes.subarray(HEAD_BYTES) });
  }

  send(bytes: Uint8Array, sent?: () => void): void {
    if (this.readyState !== OPEN) return;
    if (sent !== undefined) this.#sentSome = sent;
    if (!this.#publish(DATA, bytes)) this.#fail(new Error('this side could not say it to its server'));
    else this.#unflushed.add(bytes.length);
  }
  #publish(kind: number, bytes: Uint8Array): boolean {
    const number = this.#sent;
    this.#sent = (number + 1) >>> 0;
    return this.#driver.publish(this.#there, message(kind, number, bytes));
  }
  async #probe(): Promise<void> {
    if (this.readyState !== OPEN) return;
    const heard = this.#heardLately;
    this.#heardLately = false;
    // Who says something is there.
    if (heard) return;
    const hears = await this.#driver.tell(this.#there, message(PROBE, this.#sent, NOTHING)).catch(() => true);
    if (!hears) this.#fail(new Error('the other end is gone'));
  }

  close(): void {
    if (this.readyState !== OPEN) return;
    this.#publish(END, NOTHING);
    this.#over({ code: NORMAL });
  }
  terminate(): void {
    this.close();
  }
  addEventListener(type: string, listener: (event: WebSocketEventLike) => void): void {
    this.#listeners.set(type, listener);
  }
  #fail(error: Error): void {
    if (this.readyState !== OPEN) return;
    this.#tell('error', { error });
    this.#over({ code: ABNORMAL });
  }
  #over(how: WebSocketEventLike): void {
    this.readyState = CLOSED;
    clearInterval(this.#probes);
    this.#forget();
    this.#leave();
    this.#tell('close', how);
  }
  #tell(type: string, event: WebSocketEventLike): void {
    this.#listeners.get(type)?.(event);
  }
}
