// Which codec a number or a name stands for.
import { CodecError, UsageError } from '../errors.ts';
import { bytes } from './bytes.ts';
import type { Codec } from './codec.ts';
import { json } from './json.ts';
import { packed } from './packed.ts';
import { text } from './text.ts';

export const CODECS: readonly Codec[] = [packed, bytes, text, json];

/** @throws CodecError ERR_DECODE if no codec has this kind number */
export function codecOfKind(kind: number): Codec {
  for (const codec of CODECS) if (codec.kind === kind) return codec;
  throw new CodecError('ERR_DECODE', `Cannot decode: there is no codec with the number ${kind}`, { kind });
}

/** @throws UsageError ERR_OPTION if no codec has this name */
export function codecOfName(name: string): Codec {
  for (const codec of CODECS) if (codec.name === name) return codec;
  const names = CODECS.map((codec) => codec.name).join(', ');
  throw new UsageError('ERR_OPTION', `Cannot use the codec ${JSON.stringify(name)}: there are ${names}`, { name });
}
