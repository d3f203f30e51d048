// Channels of threads that have no memory in common: the stream protocol over a native message port.
import { platform } from '#platform';
import { createNativeHandle, type NativeHandle, openNativeHandle, type Remote } from '../memory/handle.ts';
import { NO_SHARED_MEMORY } from '../memory/region.ts';
import type { NativePort } from '../platform/contract.ts';
import { type KeptPieces, keeper } from '../transport/native/kept-pieces.ts';
import { NativeStream, nativeChannel } from '../transport/native/native-stream.ts';
import { NativeValues } from '../transport/native/native-values.ts';
import { SyncReads } from '../transport/native/sync-reads.ts';
import { StreamConnection } from '../transport/stream/connection.ts';
import { StreamTransport } from '../transport/stream/stream-transport.ts';
import type { TransportEvents, Way } from '../transport/transport.ts';
import { type PairOptions, type Resolved, resolveOptions } from './options.ts';
import { Port } from './port.ts';
import { streamEnd } from './stream-options.ts';

/** The one channel that such a connection has, which both sides open. */
const MAIN = '';

function wayHere(blocks: boolean): Way {
  const missing = typeof SharedArrayBuffer === 'undefined';
  return {
    name: 'native-port',
    why: missing ? NO_SHARED_MEMORY : 'option memory is false',
    blocking: blocks ? undefined : missing ? NO_SHARED_MEMORY : 'it was made without memory',
  };
}

interface End {
  readonly stream: NativeStream;
  readonly transport: StreamTransport;
}

interface EndParts {
  /** What the other end had said when the handle of this one was made: so no OPEN of theirs crosses one of ours, and what is closed at once is told as such. */
  readonly first?: Uint8Array | undefined;
  /** How this end waits with its thread. */
  readonly reads?: SyncReads | undefined;
  /** What this end keeps for the other one, which may wait so. */
  readonly kept?: KeptPieces | undefined;
}

function openEnd(
  native: NativePort,
  end: 0 | 1,
  options: Resolved,
  events: TransportEvents,
  { first, reads, kept }: EndParts,
): End {
  const { wish, transport } = streamEnd(options);
  const stream = new NativeStream(native, reads, kept);
  const values = new NativeValues(stream);
  const way = wayHere(reads !== undefined);
  const connection = new StreamConnection(
    stream,
    {
      initiator: end === 0,
      windowBytes: wish.window,
      maxMessageBytes: wish.messageMax,
      waitingMax: 1,
      channelsMax: 1,
      way,
    },
    { opened: () => {}, idle: () => connection.close(), ended: () => {} },
  );
  if (first !== undefined) connection.received(first);
  const channel = connection.open(MAIN, wish);
  stream.connect(connection, values, () => channel.owner?.changed());
  const { watch } = stream;
  const whenWatched = watch && ((then: () => void): void => watch.whenWatched(then));
  return {
    stream,
    transport: new StreamTransport(connection, channel, { ...transport, beside: values, whenWatched }, events),
  };
}

/** A channel's end that stays here, what goes to the other thread, and whom to tell when that is gone. */
export interface MadeNative {
  readonly port: Port;
  readonly remote: Remote;
  readonly stream: NativeStream;
}

export function makeNativeChannel(options: Resolved): MadeNative {
  const [near, far] = nativeChannel();
  const kept = keeper().keep?.();
  let stream!: NativeStream;
  const port = new Port((events) => {
    const made = openEnd(near, 0, options, events, { kept });
    stream = made.stream;
    return made.transport;
  });
  return {
    port,
    remote: createNativeHandle(1, far, { ...sharedOf(options), reads: kept?.address }, stream.takeGathered()),
    stream,
  };
}

/** A handle for each end of a channel that this thread has no part in. */
export function nativePair(options: Resolved): [Remote, Remote] {
  const [one, other] = nativeChannel();
  return [createNativeHandle(0, one, sharedOf(options)), createNativeHandle(1, other, sharedOf(options))];
}

/** @throws UsageError ERR_HANDLE, ERR_OPTION; LayoutError if it comes from another version */
export function attachNative(handle: NativeHandle, options: Resolved, events: TransportEvents): StreamTransport {
  const { native, end, shared, first } = openNativeHandle(handle);
  const { reads: address, ...agreed } = (shared ?? {}) as PairOptions & { readonly reads?: unknown };
  const { fetchSync } = platform;
  const reads = typeof address === 'string' && fetchSync !== undefined ? new SyncReads(address, fetchSync) : undefined;
  const own = { ...options, ...sharedOf(resolveOptions(agreed)) };
  return openEnd(native, end, own, events, { first, reads }).transport;
}

/** What is decided for both ends when the channel is made. */
function sharedOf({
  capacityBytes,
  maxMessageBytes,
  rememberedTexts,
  rememberedTextBytes,
}: Resolved): Pick<Resolved, 'capacityBytes' | 'maxMessageBytes' | 'rememberedTexts' | 'rememberedTextBytes'> {
  return { capacityBytes, maxMessageBytes, rememberedTexts, rememberedTextBytes };
}
