// The door to processes: names only.
export type { Listener } from '../port/link-listener.ts';
export type { ChannelOptions } from '../port/options.ts';
export { Port } from '../port/port.ts';
export type { LinkCloseOptions, LinkedPort, Offer, PortLink } from '../port/port-link.ts';
export type { LinkOptions } from '../port/stream-options.ts';
export type { PipeEnd } from '../transport/process/pipe.ts';
export { type ClusterForkOptions, clusterFork, type ForkedWorker } from './cluster-fork.ts';
export { type ConnectOptions, connect } from './connect.ts';
export { features, type ProcessFeatures } from './features.ts';
export { type Forked, type ForkOptions, fork, type ParentPortOptions, parentPort } from './fork.ts';
export { type ListenOptions, listen } from './listen.ts';
export { processMemory } from './process-memory.ts';
export { wakeByBell } from './wake-by-bell.ts';
