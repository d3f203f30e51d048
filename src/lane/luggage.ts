// What an end of a channel has in the memory of its thread, and takes along when it goes over to another one: whatever does not
// stand in the region. Structured clone carries all of it; what has another end stands in lists, too, as it does in any message.
// Copies of this library know each other by the version of the layout: whoever changes what goes along, here or in a transport, raises that.
import type { Begun } from '../frame/join.ts';
import type { Newest } from '../ring/latest-consumer.ts';
import type { HeldValue } from './beside.ts';
import type { Delivery } from './inbox.ts';

/** A message that was accepted and waits, or of which `moved` bytes are in the lane. */
export interface Waiting {
  readonly kind: number;
  readonly bytes: Uint8Array;
  readonly moved: number;
  /** In place of bytes: what goes beside the lane. */
  readonly held: HeldValue | undefined;
}

/** What large messages lie in, and where: annex.ts. */
export interface AnnexLuggage {
  readonly memory: SharedArrayBuffer;
  readonly from: number;
  readonly to: number;
  /** For each message: how far its record lies behind the last one, in bytes, and where the room behind it begins. */
  readonly lodgers: readonly (readonly [behind: number, end: number])[];
}

/** Of a lane of which only the newest message counts. */
export interface LatestLuggage {
  /** The slot that is this side's. */
  readonly slot: number;
  /** The reader knows that it must look at the slots. */
  readonly announced: boolean;
  /** Memories made so far, and which of them each slot has. */
  readonly made: number;
  readonly rooms: readonly (readonly [slot: number, number: number, memory: SharedArrayBuffer])[];
}

export interface OutboundLuggage {
  /** Of the encoder. */
  readonly successor: unknown;
  readonly waiting: readonly Waiting[];
  readonly drops: number;
  readonly peak: number;
  readonly failures: number;
  readonly annex?: AnnexLuggage | undefined;
  readonly latest?: LatestLuggage | undefined;
}

/** A message that was set aside: written anew, as it came natively, or why it could not be decoded. */
export type SetAside =
  | { readonly kind: number; readonly bytes: Uint8Array; readonly weight: number }
  | { readonly native: Delivery; readonly weight: number }
  | { readonly error: string; readonly weight: number };

export interface InboundLuggage {
  /** Of the decoders, by kind. */
  readonly taught: ReadonlyMap<number, unknown>;
  readonly aside: readonly SetAside[];
  /** A message in parts that is not whole yet. */
  readonly parts: Begun | undefined;
  /** The sender has said that only its newest message counts. */
  readonly latest: Newest | undefined;
}
