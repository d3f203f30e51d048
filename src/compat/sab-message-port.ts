// The door `millrace/compat/sab-message-port`: the names of sab-message-port 1.0.4 over our rooms. Names only.
// docs/guides/moving-from-sab-message-port.md tells what stays, what was a fault and is none here, and what is new.
export { MWChannel } from './sab-message-port/mw-channel.ts';
export { SABMessagePort } from './sab-message-port/sab-message-port.ts';
export { SABPipe } from './sab-message-port/sab-pipe.ts';
