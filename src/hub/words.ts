// What a hub and its members say to one another over a port: arrays, of which the first element says what it is. docs/protocol/hub.md.
//
//   member to hub                                     hub to member
//   [HELLO, version, id]                              [HELLO, version, HUB]
//   [SUBSCRIBE, ask, number, subject, together]       [HEARD, subject, bytes, numbers]
//   [UNSUBSCRIBE, ask, number]                        [DONE, ask, value]
//   [PUBLISH, subject, bytes]                         [FAILED, ask, code, text]
//   [TELL, ask, subject, bytes]                       [OVER, text]
//   [FLUSH, ask]
//   [QUEUE, ask, name, action, ...what it is about]
import { ENGINE_MESSAGE_BYTES_MAX, HUB_SUBJECT_MAX } from '../limits.ts';

export const HUB_VERSION = 1;
/** What a hub is, and no member. */
export const HUB = 'hub';

export const HELLO = 0;
export const SUBSCRIBE = 1;
export const UNSUBSCRIBE = 2;
export const PUBLISH = 3;
export const TELL = 4;
export const FLUSH = 5;
export const QUEUE = 6;
export const HEARD = 7;
export const DONE = 8;
export const FAILED = 9;
/** Why the hub ends this member; it need not come again. */
export const OVER = 10;

/** What a hub says of a queue where it does not do what it is asked for. */
export type QueueFailure = 'gone' | 'full';

export type Words = readonly unknown[];

export function isWords(value: unknown): value is Words {
  return Array.isArray(value) && typeof value[0] === 'number';
}
export function isSubject(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= HUB_SUBJECT_MAX;
}
/** What somebody may keep, and no more than it says. */
export function isBytes(value: unknown): value is Uint8Array<ArrayBuffer> {
  return value instanceof Uint8Array && value.buffer instanceof ArrayBuffer && value.length <= ENGINE_MESSAGE_BYTES_MAX;
}
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
