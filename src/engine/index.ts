// What the doors to servers between programs have in common: names only.
export { CLOSED, EMPTY } from '../outcome.ts';
export type { Listener } from '../port/link-listener.ts';
export { Port } from '../port/port.ts';
export type { LinkedPort } from '../port/port-link.ts';
