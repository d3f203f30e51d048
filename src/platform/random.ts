// Numbers that nobody can guess. Node makes all of WebCrypto in a thread that asks for `crypto`, though for nothing but this: 1.5 to
// 2.6 ms of a worker's start, of which the kernel's own device takes 0.1. It is asked for many at once.
import { RANDOM_WORDS } from '../limits.ts';

/** Of node:fs. */
interface Files {
  openSync(name: string, flags: string): number;
  fstatSync(file: number): { isCharacterDevice(): boolean };
  readSync(file: number, into: Uint32Array<ArrayBuffer>): number;
  closeSync(file: number): void;
}

export function webRandom(into: Uint32Array<ArrayBuffer>): void {
  crypto.getRandomValues(into);
}

export class DeviceRandom {
  readonly #files: Files;
  readonly #drawn: Uint32Array<ArrayBuffer> = new Uint32Array(RANDOM_WORDS);
  #given: number = RANDOM_WORDS;

  constructor(files: Files) {
    this.#files = files;
  }

  /** @param into at most RANDOM_WORDS */
  fill(into: Uint32Array<ArrayBuffer>): void {
    const { length } = into;
    if (this.#given + length > RANDOM_WORDS) {
      if (!this.#draw()) webRandom(this.#drawn);
      this.#given = 0;
    }
    into.set(this.#drawn.subarray(this.#given, this.#given + length));
    this.#given += length;
  }

  /** False on Windows, where there is no such device, and where a program may not read it. */
  #draw(): boolean {
    const files = this.#files;
    let file: number | undefined;
    try {
      file = files.openSync('/dev/urandom', 'r');
      // What is in a plain file of that name, others may know.
      return files.fstatSync(file).isCharacterDevice() && files.readSync(file, this.#drawn) === this.#drawn.byteLength;
    } catch {
      return false;
    } finally {
      if (file !== undefined) files.closeSync(file);
    }
  }
}
