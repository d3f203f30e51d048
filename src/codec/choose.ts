// Which codec a name stands for, and which decoder a number.
import { UsageError } from '../errors.ts';
import type { Codec, CodecOptions, Decoder, DecoderTable } from './codec.ts';
import { json } from './json.ts';
import { packed } from './packed.ts';

export const CODECS: readonly Codec[] = [packed, json];

/** @throws UsageError ERR_OPTION if no codec has this name */
export function codecOfName(name: string): Codec {
  for (const codec of CODECS) if (codec.name === name) return codec;
  const names = CODECS.map((codec) => codec.name).join(', ');
  throw new UsageError('ERR_OPTION', `Cannot use the codec ${JSON.stringify(name)}: there are ${names}`, { name });
}

/** The decoders of one direction, each made for the first payload of its kind: most directions see one kind, many none. */
export class Decoders implements DecoderTable {
  readonly #codecs: readonly Codec[];
  readonly #options: CodecOptions;
  #made: Map<number, Decoder> | undefined;
  /** The kind asked for last and its decoder. No payload has kind 0. */
  #kind = 0;
  #decoder: Decoder | undefined;

  /** @param taught what those were taught that they go on for. @throws CodecError if it makes no sense */
  constructor(codecs: readonly Codec[], options: CodecOptions, taught?: ReadonlyMap<number, unknown>) {
    this.#codecs = codecs;
    this.#options = options;
    for (const [kind, each] of taught ?? []) this.#make(kind, each);
  }

  taught(): ReadonlyMap<number, unknown> {
    return new Map([...(this.#made ?? [])].map(([kind, decoder]) => [kind, decoder.taught?.()]));
  }

  get(kind: number): Decoder | undefined {
    return kind === this.#kind ? this.#decoder : this.#find(kind);
  }

  #find(kind: number): Decoder | undefined {
    const found = this.#made?.get(kind) ?? this.#make(kind);
    if (found === undefined) return undefined;
    this.#kind = kind;
    this.#decoder = found;
    return found;
  }

  #make(kind: number, taught?: unknown): Decoder | undefined {
    const decoder = this.#codecs.find((codec) => codec.kind === kind)?.createDecoder(this.#options, taught);
    if (decoder !== undefined) {
      this.#made ??= new Map();
      this.#made.set(kind, decoder);
    }
    return decoder;
  }
}
