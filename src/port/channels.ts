// Where ports come from: a channel to hand over, and its other end, through memory or, where there is none, over a native port.
import { LIVENESS_SLICE_MS } from '../limits.ts';
import { isNativeHandle, type Remote } from '../memory/handle.ts';
import type { Transport, TransportEvents } from '../transport/transport.ts';
import { attachTransport as attachInMemory, makeChannel, memoryPair } from './channel.ts';
import { attachNative, makeNativeChannel, nativePair } from './native-channel.ts';
import {
  type ChannelOptions,
  type PairOptions,
  type PortOptions,
  resolveOptions,
  resolvePairOptions,
  resolvePortOptions,
} from './options.ts';
import { Port } from './port.ts';

/**
 * Makes a channel: a port for this thread, and a `remote` to hand to another one:
 * `worker.postMessage(remote, remote.transfer)`, then `attach(remote)` over there. What is sent before the other side
 * attaches waits in the ring.
 * ```ts
 * import { attach, channel } from 'millrace';
 * const { port, remote } = channel<string, number>({ capacityBytes: 65536 });
 * const far = attach<number, string>(remote);   // over there, as it arrived
 * port.postMessage(1);
 * console.log(far.receive());                   // 1; blocks until there is a message
 * far.close();
 * ```
 * @throws UsageError ERR_OPTION
 */
export function channel<In = unknown, Out = unknown>(
  options?: ChannelOptions,
): { readonly port: Port<In, Out>; readonly remote: Remote } {
  const resolved = resolveOptions(options);
  const { port, remote } = resolved.memory ? makeChannel(resolved, null) : makeNativeChannel(resolved);
  return { port: port as Port<In, Out>, remote };
}

/**
 * Makes a channel for two other threads: a `remote` for each. Both are handed over and attached like that of `channel`,
 * in any order; what the first one sends waits for the second. The thread that calls this is no part of the channel.
 * ```ts
 * import { attach, pair } from 'millrace';
 * const [one, other] = pair({ capacityBytes: 65536 });
 * const left = attach(one);                 // each in the thread that it was handed to
 * left.postMessage('direct');
 * const right = attach(other);
 * console.log(right.receive());             // direct
 * left.close();
 * ```
 * @param options of the channel; each end gives its own to `attach`
 * @throws UsageError ERR_OPTION
 */
export function pair(options?: PairOptions): [Remote, Remote] {
  const resolved = resolvePairOptions(options);
  return resolved.memory ? memoryPair(resolved) : nativePair(resolved);
}

/**
 * Opens the end of a channel that was handed to this thread.
 * @param remote as it arrived
 * @throws UsageError ERR_HANDLE if it is none, was attached before or handed on, or came without its transfer list;
 *   LayoutError if it comes from another version; ERR_OPTION
 */
export function attach<In = unknown, Out = unknown>(remote: unknown, options?: PortOptions): Port<In, Out> {
  return new Port((events) => attachTransport(remote, options, LIVENESS_SLICE_MS, events)) as Port<In, Out>;
}

/** The transport of an end that was handed to this thread. @throws as attach */
export function attachTransport(
  remote: unknown,
  options: PortOptions | undefined,
  livenessSliceMs: number,
  events: TransportEvents,
): Transport {
  if (isNativeHandle(remote)) return attachNative(remote, resolvePortOptions(options), events);
  return attachInMemory(remote, options, livenessSliceMs, events);
}
