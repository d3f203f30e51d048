// Numbers that nobody can guess. Node makes all of WebCrypto in a thread that asks for `crypto`, though for nothing but this: 1.5 to
// 2.6 ms of a worker's start, of which the kernel's own device takes 0.1. It is asked for many at once.
import { RANDOM_WORDS } from '../limits.ts';

/** Of node:fs. */
interface Files {
  openSync(name: string, flags: string): number;
  fstatSync(file: number): { isCharacterDevice(): boolean };
  readSync(file: number, into: Uint32Array): number;
  closeSync(file: number): void;
}

export function webRandom(count: number): Uint32Array {
  return crypto.getRandomValues(new Uint32Array(count));
}

export class DeviceRandom {
  readonly #files: Files;
  #drawn: Uint32Array = new Uint32Array(0);
  #given = 0;

  constructor(files: Files) {
    this.#files = files;
  }

  words(count: number): Uint32Array {
    if (this.#given + count > this.#drawn.length) {
      this.#drawn = this.#draw() ?? webRandom(RANDOM_WORDS);
      this.#given = 0;
    }
    this.#given += count;
    return this.#drawn.subarray(this.#given - count, this.#given);
  }

  /** `undefined` on Windows, where there is no such device, and where a program may not read it. */
  #draw(): Uint32Array | undefined {
    const files = this.#files;
    const words = new Uint32Array(RANDOM_WORDS);
    let file: number | undefined;
    try {
      file = files.openSync('/dev/urandom', 'r');
      // What is in a plain file of that name, others may know.
      if (!files.fstatSync(file).isCharacterDevice()) return undefined;
      return files.readSync(file, words) === words.byteLength ? words : undefined;
    } catch {
      return undefined;
    } finally {
      if (file !== undefined) files.closeSync(file);
    }
  }
}
