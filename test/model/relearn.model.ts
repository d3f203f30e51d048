// Asking to be taught anew: a codec that teaches with its first message, and a reader that cannot decode one of them. What
// was sent before the sender saw the request may be lost with it; what is sent after it is read.
import { type Codec, type Decoder, type Encoder, type Memory, NO_ROOM } from '../../src/codec/codec.ts';
import type { NamedModel } from './stage.ts';
import { blocking, type End, message, threads } from './thread-stage.ts';

/** The message that its reader cannot decode, and with which all is lost that it knew. */
const BAD = message(9, 4);
const GO = message(8, 4);
const [FIRST, SECOND] = [message(1, 4), message(2, 4)];

/** A payload is one word: the message, and one bit that says it brings what later ones need. */
class TeachingEncoder implements Encoder {
  #taught = false;

  encodeInto(value: unknown, memory: Memory, offset: number, limit: number): number {
    if (limit < 4) return NO_ROOM;
    memory.words[offset >>> 2] = (value as number) * 2 + (this.#taught ? 0 : 1);
    this.#taught = true;
    return 4;
  }

  forget(): void {
    this.#taught = false;
  }
}

class LearningDecoder implements Decoder {
  #knows = false;

  decode(memory: Memory, offset: number): unknown {
    const word = memory.words[offset >>> 2] as number;
    if (word >>> 1 === BAD) {
      this.#knows = false;
      throw new Error('damaged');
    }
    if ((word & 1) !== 0) this.#knows = true;
    if (!this.#knows) throw new Error('not known');
    return word >>> 1;
  }
}

const codec: Codec = {
  name: 'learning',
  kind: 4,
  createEncoder: () => new TeachingEncoder(),
  createDecoder: () => new LearningDecoder(),
};

/** Receives one message, or learns that it cannot be decoded. */
function receive(end: End): void {
  end.mark('receive');
  try {
    end.got.push(end.port.receive());
  } catch (error) {
    end.got.push((error as Error).message);
  }
}

/** @param times how often a message is lost, the reader tells, and another one is sent */
function relearn(times: number): NamedModel['make'] {
  return (shipped) =>
    threads(
      [
        blocking(
          shipped,
          0,
          (end) => {
            for (let i = 0; i < times; i++) {
              end.send(BAD, FIRST);
              end.receive(1);
              end.send(SECOND);
            }
          },
          { codec },
        ),
        blocking(
          shipped,
          1,
          (end) => {
            for (let i = 0; i < times; i++) {
              receive(end);
              end.send(GO);
              receive(end);
              receive(end);
            }
          },
          { codec },
        ),
      ],
      ({ results }) => {
        const told = results['right'] as unknown[];
        for (let i = 0; i < times; i++) {
          const [bad, first, second] = told.slice(3 * i);
          const wrong = bad !== 'damaged' || (first !== FIRST && first !== 'not known') || second !== SECOND;
          if (wrong) return `right: ${told}`;
        }
        return undefined;
      },
    );
}

export const relearnModels: readonly NamedModel[] = [
  {
    name: 'relearn: what follows a lost message',
    about: 'it fails or is taught anew, by when the sender saw the request; what is sent behind an answer is read',
    reaches: [/right:\["damaged","not known",2004,"open"\]/, /right:\["damaged",1004,2004,"open"\]/],
    make: relearn(1),
  },
  {
    name: 'relearn: twice',
    about: 'the answer to the first request is followed by another loss',
    make: relearn(2),
  },
];
