// `import * as Comlink from 'millrace/compat/comlink'` in the place of 'comlink': the same names over our calls (docs/guides/moving-from-comlink.md).
export {
  type Endpoint,
  type EventSource,
  type NodeEndpoint,
  nodeEndpoint,
  type PostMessageWithOrigin,
  windowEndpoint,
} from './comlink/endpoints.ts';
export { expose, proxy, type TransferHandler, transfer, transferHandlers, wrap } from './comlink/ends.ts';
export { createEndpoint, finalizer, proxyMarker, releaseProxy } from './comlink/symbols.ts';
export type {
  Local,
  LocalObject,
  ProxyMarked,
  ProxyMethods,
  ProxyOrClone,
  Remote,
  RemoteObject,
  UnproxyOrClone,
} from './comlink/types.ts';
