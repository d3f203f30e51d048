// An interpreter of the eight commands of Brainfuck. It knows nothing of ports: whoever runs it says when it is to stop.

export interface Progress {
  readonly steps: number;
  readonly output: string;
}
export interface Outcome extends Progress {
  /** Whether it was called off before its program ended. */
  readonly stopped: boolean;
}

const CELLS = 30_000;
/** Bounds what a program that writes for ever keeps. */
const OUTPUT_MAX = 400;

/** The place of the bracket that belongs to each bracket. */
function pairs(program: string): Int32Array {
  const partner = new Int32Array(program.length);
  const open: number[] = [];
  for (let i = 0; i < program.length; i++) {
    if (program[i] === '[') open.push(i);
    if (program[i] !== ']') continue;
    const start = open.pop();
    if (start === undefined) throw new SyntaxError(`The ] at character ${i + 1} closes nothing`);
    partner[i] = start;
    partner[start] = i;
  }
  if (open.length > 0) throw new SyntaxError(`The [ at character ${open[0] + 1} is never closed`);
  return partner;
}

/** A program that runs in slices. */
export class Machine {
  readonly #program: string;
  readonly #partner: Int32Array;
  readonly #cells: Uint8Array = new Uint8Array(CELLS);
  #at = 0;
  #cell = 0;
  #steps = 0;
  #output = '';

  /** @throws SyntaxError if a bracket has no other one */
  constructor(program: string) {
    this.#program = program.replace(/[^-+<>[\].,]/g, '');
    this.#partner = pairs(this.#program);
  }

  get progress(): Progress {
    return { steps: this.#steps, output: this.#output };
  }

  /**
   * Goes on until the program ends (true), or `stop`, which is asked at the end of each loop, answers true.
   * Blocks, and allocates only what it writes.
   */
  run(stop: () => boolean): boolean {
    const program = this.#program;
    const cells = this.#cells;
    while (this.#at < program.length) {
      this.#steps++;
      switch (program[this.#at]) {
        case '+':
          cells[this.#cell]++;
          break;
        case '-':
          cells[this.#cell]--;
          break;
        case '>':
          this.#cell = (this.#cell + 1) % CELLS;
          break;
        case '<':
          this.#cell = (this.#cell + CELLS - 1) % CELLS;
          break;
        case '.':
          this.#output = (this.#output + String.fromCharCode(cells[this.#cell])).slice(-OUTPUT_MAX);
          break;
        case '[':
          if (cells[this.#cell] === 0) this.#at = this.#partner[this.#at];
          break;
        case ']':
          if (cells[this.#cell] !== 0) this.#at = this.#partner[this.#at];
          this.#at++;
          if (stop()) return false;
          continue;
      }
      this.#at++;
    }
    return true;
  }
}

/** Programs to choose from; each of the endless ones does something to look at. */
export const PROGRAMS: readonly { readonly name: string; readonly text: string }[] = [
  {
    name: 'the alphabet, for ever',
    text: '+[\n  >>++++++++[<++++++++>-]<+\n  >++++++++++++++++++++++++++[<.+>-]\n  <[-]++++++++++.[-]<\n]',
  },
  { name: 'for (;;);', text: '+[]' },
  {
    name: 'hello, world (it ends)',
    text: '++++++++[>++++[>++>+++>+++>+<<<<-]>+>+>->>+[<]<-]\n>>.>---.+++++++..+++.>>.<-.<.+++.------.--------.\n>>+.>++.',
  },
];
