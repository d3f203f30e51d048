// The front door: names only.
export * from './errors.ts';
export type { OverflowPolicy } from './lane/outbox.ts';
export { type Remote, type RemoteHandle, type TransferList, transferOf } from './memory/handle.ts';
export { CLOSED, type CloseReason, EMPTY } from './outcome.ts';
export { type BridgeEnd, type BridgeOptions, bridge } from './port/bridge.ts';
export { attach, channel, pair } from './port/channels.ts';
export type {
  AbortSignalLike,
  ListenerOptions,
  PortEvent,
  PortHandler,
  PortListener,
  RawListener,
} from './port/events.ts';
export { type Features, features } from './port/features.ts';
export type { ChannelOptions, PairOptions, PortOptions } from './port/options.ts';
export { parentPort } from './port/parent-port.ts';
export { Port } from './port/port.ts';
export type { ReceiveAsyncOptions, ReceiveOptions } from './port/receiving.ts';
export { type SelectAsyncOptions, type SelectOptions, select, selectAsync } from './port/select.ts';
export type { SendOptions } from './port/sending.ts';
export { type AdoptOptions, type SpawnOptions, spawn } from './port/spawn.ts';
export type { SpawnedWorker } from './port/spawned-worker.ts';
export type { Transfer } from './port/transfer.ts';
export type { Stats } from './transport/transport.ts';
