// What a channel in memory of processes had not sent when it ended: in memory of its own, which goes over the line of descriptors.
import { LayoutError } from '../../errors.ts';
import type { LeftOver, SpilledFrame } from '../../lane/left-over.ts';
import { MEMORY_LEFT_FRAMES_MAX } from '../../limits.ts';
import { type Mapping, MEMORY_BYTES_MAX, type Primitives } from '../../native/primitives.ts';
import { LEFT, type MemoryLink } from './memory-link.ts';

/** Two words of each frame: its tag, and its length; then its payload, to a multiple of 8. */
const HEAD_BYTES = 8;
function frameBytes(payload: Uint8Array): number {
  return HEAD_BYTES + ((payload.length + 7) & -8);
}

/** @throws LayoutError */
function framesIn(native: Primitives, descriptor: number, bytes: number, count: number): SpilledFrame[] {
  let buffer: ArrayBuffer;
  try {
    ({ buffer } = native.map(descriptor, bytes));
  } catch (cause) {
    throw new LayoutError('Cannot map what a channel has left over', { cause });
  }
  // Of whatever length the other side has made it.
  const words = new Int32Array(buffer, 0, bytes >> 2);
  const frames: SpilledFrame[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const [tag = 0, length = -1] = words.subarray(at >> 2, (at >> 2) + 2);
    if (length < 0 || length > bytes - at - HEAD_BYTES)
      throw new LayoutError(`Cannot read what a channel has left over: a frame of ${length} bytes`, { length });
    const payload = new Uint8Array(buffer, at + HEAD_BYTES, length);
    frames.push([tag, payload]);
    at += frameBytes(payload);
  }
  return frames;
}

export class MemoryLeftOver implements LeftOver {
  readonly #link: MemoryLink;
  readonly #number: number;
  readonly #mayCome: () => boolean;
  #frames: readonly SpilledFrame[] | undefined;

  /**
   * @param number of the channel
   * @param mayCome whether the other side may still say something of it
   */
  constructor(link: MemoryLink, number: number, mayCome: () => boolean) {
    this.#link = link;
    this.#number = number;
    this.#mayCome = mayCome;
  }
  /** In memory of its own. @throws Error of the system, where there is none to be had: they are lost then, and counted */
  leave(frames: readonly SpilledFrame[]): void {
    const { native } = this.#link;
    const bytes = frames.reduce((sum, [, payload]) => sum + frameBytes(payload), 0);
    if (bytes > MEMORY_BYTES_MAX || frames.length > MEMORY_LEFT_FRAMES_MAX)
      throw new LayoutError(`Cannot leave ${bytes} bytes over in ${frames.length} messages`, { length: bytes });
    const descriptor = this.#link.createMemory(bytes);
    let mapping: Mapping;
    try {
      mapping = native.map(descriptor, bytes);
    } catch (error) {
      native.close(descriptor);
      throw error;
    }
    const { buffer, place } = mapping;
    const words = new Int32Array(buffer);
    const memory = new Uint8Array(buffer);
    let at = 0;
    for (const [tag, payload] of frames) {
      words[at >> 2] = tag;
      words[(at >> 2) + 1] = payload.length;
      memory.set(payload, at + HEAD_BYTES);
      at += frameBytes(payload);
    }
    native.unmap(place);
    this.#link.say(LEFT, this.#number, [bytes, frames.length], [descriptor]);
  }
  get late(): boolean {
    return this.#frames === undefined && this.#mayCome();
  }
  /** LEFT has come. @throws LayoutError */
  came(descriptor: number, bytes: number, frames: number): void {
    this.#frames ??= framesIn(this.#link.native, descriptor, bytes, frames);
  }
  lookForSpill(): readonly SpilledFrame[] | undefined {
    if (this.#frames === undefined) this.#link.pull();
    return this.#frames;
  }
  takeSpill(): readonly SpilledFrame[] | undefined {
    const frames = this.lookForSpill();
    this.#frames = undefined;
    return frames;
  }
  get spillArrived(): boolean {
    return this.lookForSpill() !== undefined;
  }
}
