// Records every atomic and plain access that one call makes to shared memory, in program order, so that a test can hold
// the order against the list it should be.
import type { Access, Answer } from './explore-memory.ts';
import { answerTo, bytesView, describeAccess, modelAtomics, valueAfter, wordsView } from './explore-memory.ts';

export class AccessLog {
  /** The accesses since the last `take()`, each as text: `store TAIL = 8`. */
  lines: string[] = [];
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
  readonly memory: Int32Array;
  readonly #names: Readonly<Record<number, string>>;

  /** @param names what to call the words, by their index; others appear as `word 7` */
  constructor(words: number, names: Readonly<Record<number, string>> = {}) {
    this.memory = new Int32Array(words);
    this.#names = names;
    const answer = (access: Access): Answer => this.#answer(access);
    this.words = wordsView(0, words, answer);
    this.bytes = bytesView(0, words * 4, answer);
  }

  /** Runs `body` with the recording memory under `Atomics`; returns its accesses. Nobody else ever sees them. */
  record(body: () => void): string[] {
    const real = globalThis.Atomics;
    this.lines = [];
    globalThis.Atomics = modelAtomics(real, (access) => this.#answer(access));
    try {
      body();
    } finally {
      globalThis.Atomics = real;
    }
    return this.lines;
  }

  #answer(access: Access): Answer {
    const old = this.memory[access.word] as number;
    const { kind } = access;
    const answer =
      kind === 'wait' ? (old === access.a ? 'timed-out' : 'not-equal') : kind === 'notify' ? 0 : answerTo(access, old);
    this.memory[access.word] = valueAfter(access, old);
    this.lines.push(describeAccess(access, undefined, (word) => this.#names[word] ?? `word ${word}`));
    return answer;
  }
}
