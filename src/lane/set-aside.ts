// Messages that were taken out of a lane and nobody has read yet, on their way to another thread: written anew, because the values
// of a codec are more than those of structured clone. What the medium's own way has carried, that can carry again.
import type { DecoderTable, Encoder } from '../codec/codec.ts';
import { CodecError, LayoutError } from '../errors.ts';
import { MESSAGE_BYTES_MAX } from '../limits.ts';
import { viewsOf } from '../memory/region.ts';
import { AsideEncoder } from './aside-encoder.ts';
import type { Beside } from './beside.ts';
import type { Delivery, Failure, Item } from './inbox.ts';
import type { SetAside } from './luggage.ts';

const NO_PORTS: readonly unknown[] = [];

/**
 * @param encoder a new one: it teaches nothing
 * @param kind of its payloads
 */
export function packUp(
  items: readonly Item[],
  encoder: Encoder,
  kind: number,
  beside: Pick<Beside, 'movesOn'>,
): SetAside[] {
  // Without what was taught it may be longer than it was.
  const aside = new AsideEncoder(encoder, MESSAGE_BYTES_MAX);
  return items.map(({ content, bytes: weight }) => {
    if ('error' in content) return { error: String((content.error as Error)?.message), weight };
    try {
      if (content.ports.length > 0) {
        const { value, transfer: ports } = beside.movesOn(content.value, content.ports);
        return { native: { value, ports }, weight };
      }
      const written = aside.encode(content.value, false);
      if (written !== undefined) return { kind, bytes: written.bytes.slice(), weight };
      return { native: { value: structuredClone(content.value), ports: NO_PORTS }, weight };
    } catch (cause) {
      return { error: `Cannot move the message on to another thread: ${String((cause as Error)?.message)}`, weight };
    }
  });
}

/** @throws LayoutError for what no `packUp` has made */
export function unpack(aside: SetAside, decoders: DecoderTable): Delivery | Failure {
  if ('native' in aside) {
    if (Array.isArray(aside.native.ports)) return aside.native;
    throw new LayoutError('Cannot go on with what was set aside: it makes no sense');
  }
  if ('error' in aside) return { error: new CodecError('ERR_DECODE', aside.error) };
  const { kind, bytes } = aside;
  const decoder = decoders.get(kind);
  if (decoder === undefined) throw new LayoutError(`Cannot decode: no codec has kind ${kind}`, { kind });
  const views = viewsOf(new ArrayBuffer((bytes.length + 7) & -8), true);
  views.bytes.set(bytes);
  try {
    return { value: decoder.decode(views, 0, bytes.length), ports: NO_PORTS };
  } catch (error) {
    return { error };
  }
}
