// The door to calls: names only.

export { registerError } from './failures.ts';
export type { MadeMember, MemberStart } from './making.ts';
export type { CallOptions, ConnectionOptions } from './options.ts';
export type { PoolStats } from './pool/crew.ts';
export type { MemberStats } from './pool/member.ts';
export type { PoolOptions, RestartOptions } from './pool/options.ts';
export { Pool, pool } from './pool/pool.ts';
export { release, within } from './proxy.ts';
export { type Reference, reference, transfer } from './reference.ts';
export { type CallContext, currentCall } from './served.ts';
export { type Started, start } from './start.ts';
export type {
  CallOf,
  Received,
  Remote,
  RemoteFunction,
  Sent,
  SyncFunction,
  SyncReceived,
  SyncRemote,
} from './types.ts';
export { type StreamsOptions, streams } from './web-streams.ts';
export { type ExposeOptions, expose, type WrapOptions, wrap, wrapSync } from './wrap.ts';
