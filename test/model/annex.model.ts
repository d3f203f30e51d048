// The annex beside a ring: what its writer learns from the ring's positions alone, it may write over.
import type { NamedModel } from './stage.ts';
import { HEAD, laneOf, names, positionsHold, TAIL, wordsFor } from './stage.ts';

const CAPACITY = 128;
const FIRST = wordsFor(CAPACITY);
const KIND = 4;

/** Two words of a message are enough: its first and its last one. */
function ends(length: number): readonly number[] {
  return length <= 4 ? [0] : [0, (length - 4) & -4];
}

function annex(bytes: number, lengths: readonly number[], start = 0): NamedModel['make'] {
  return (shipped) => ({
    words: FIRST + bytes / 4,
    names,
    invariant: positionsHold(CAPACITY),
    init(words) {
      words[TAIL] = words[HEAD] = start;
      words[33] = start; // TAKEN
    },
    actors: [
      {
        name: 'writer',
        run(kit) {
          const words = kit.words();
          const sink = Object.assign(new shipped.Producer(laneOf(kit, CAPACITY), undefined, true), {
            views: { words },
          });
          const room = { bytes: { length: bytes } };
          const made = new shipped.Annex(sink as never, { lend: () => room as never, held: true });
          made.open();
          for (const [i, length] of lengths.entries()) {
            let offset: number;
            do {
              kit.checkpoint(i, sink, made);
              offset = made.claim(length);
            } while (offset === shipped.FULL);
            for (const at of ends(length)) words[FIRST + ((offset + at) >>> 2)] = 1000 * (i + 1) + at;
            made.commit(offset, length, KIND);
          }
        },
      },
      {
        name: 'reader',
        run(kit) {
          const words = kit.words();
          const source = new shipped.Consumer(laneOf(kit, CAPACITY), undefined, true);
          const got: (number | string)[] = [];
          while (got.length < lengths.length) {
            kit.checkpoint(got, source);
            const record = source.peek();
            if (record === shipped.NONE) {
              source.release();
              continue;
            }
            const [length = 0, , , offset = 0] = words.slice(record >>> 2, (record >>> 2) + 4);
            const wrong = ends(length).find(
              (at) => words[FIRST + ((offset + at) >>> 2)] !== 1000 * (got.length + 1) + at,
            );
            got.push(wrong === undefined ? length : `word at ${wrong} of message ${got.length}`);
            source.advance();
            if (source.caughtUp) source.release();
            else source.tell();
          }
          return got;
        },
      },
    ],
    final({ results }) {
      const got = results['reader'] as unknown[];
      return got.every((length, i) => length === lengths[i]) ? undefined : `sent ${lengths}, received ${got}`;
    },
  });
}

export const annexModels: readonly NamedModel[] = [
  {
    name: 'annex: messages beside the ring',
    about: 'messages of one to three lines in an annex of four, which go round its end and meet themselves',
    make: annex(256, [100, 64, 60, 192, 8, 128, 64]),
  },
  {
    name: 'annex: positions pass 2^32',
    about: 'the same with an annex of three lines, while the positions of the ring start over at 0',
    make: annex(192, [64, 128, 64, 64, 192, 4], -48),
  },
];
