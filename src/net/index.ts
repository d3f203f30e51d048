// The door to other machines: names only.
export type { Listener } from '../port/link-listener.ts';
export type { ChannelOptions } from '../port/options.ts';
export { Port } from '../port/port.ts';
export type { LinkCloseOptions, LinkedPort, LinkStatus, Offer, PortLink } from '../port/port-link.ts';
export type { LinkOptions } from '../port/stream-options.ts';
export type { ClientTls, ServerTls } from '../transport/network/tls.ts';
export { type Acceptor, acceptor } from './acceptor.ts';
export { type ConnectOptions, connect } from './connect.ts';
export type { EntranceOptions } from './entrance.ts';
export type { Authorize, Identity, Visitor } from './identity.ts';
export { type ListenOptions, listen } from './listen.ts';
