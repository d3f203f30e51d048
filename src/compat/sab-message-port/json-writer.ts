// Packs only what JSON gives back as it was, and refuses all else, which its caller then sends as JSON text: so what
// arrives is exactly what JSON makes of it. docs/decisions/0013.
import type { CodecOptions } from '../../codec/codec.ts';
import type { ShapeNode } from '../../codec/packed/shapes.ts';
import { REFUSED_SIGNAL } from '../../codec/packed/signals.ts';
import { writeElements } from '../../codec/packed/write-array.ts';
import { PackedWriter } from '../../codec/packed/writer.ts';
import { PackedEncoder } from '../../codec/packed.ts';

/** Whether JSON gives this number back: it knows neither -0 nor anything that is not finite. */
function isJsonNumber(value: number): boolean {
  return value - value === 0 && (value !== 0 || 1 / value > 0);
}

class JsonWriter extends PackedWriter {
  override value(value: unknown, at: number, place: ShapeNode): number {
    if (value === undefined || typeof value === 'bigint') throw REFUSED_SIGNAL;
    return super.value(value, at, place);
  }

  override double(value: number, at: number): number {
    if (!isJsonNumber(value)) throw REFUSED_SIGNAL;
    return super.double(value, at);
  }

  override object(value: object, at: number, place: ShapeNode): number {
    if ((value as { toJSON?: unknown }).toJSON !== undefined) throw REFUSED_SIGNAL;
    return super.object(value, at, place);
  }

  /** JSON writes it again, or never comes to an end. */
  override reference(): number {
    throw REFUSED_SIGNAL;
  }

  /** JSON does not look at named properties either. */
  override array(value: unknown[], at: number, place: ShapeNode): number {
    return writeElements(this, value, at, place);
  }

  override doubles(value: readonly unknown[], at: number, length: number): number {
    const next = super.doubles(value, at, length);
    if (next < 0) return next;
    // What was written counts: a getter may give something else when it is asked again.
    const { floats } = this.memory;
    for (let i = next / 2 - length; i < next / 2; i++) if (!isJsonNumber(floats[i] as number)) throw REFUSED_SIGNAL;
    return next;
  }

  override holes(): number {
    throw REFUSED_SIGNAL;
  }

  override extra(): number {
    throw REFUSED_SIGNAL;
  }

  override fail(): never {
    throw REFUSED_SIGNAL;
  }
}

/** Refuses every value that would come out of JSON other than it went in, or not at all. */
export function createJsonEncoder(options: CodecOptions): PackedEncoder {
  return new PackedEncoder(options, JsonWriter);
}
