// The page that speaks for the life of a thread that somebody watches: whether and how it has ended, and the error that
// it died of. It travels in start data and handles, so that whoever talks to the thread can look there while blocked.
//
//   word  byte  name          written by                meaning
//   0     0     ENDED         who saw the thread end    0 while it lives, else a close code
//   1     4     ERROR_LENGTH  the thread, once          UTF-16 units of the text that follows; 0: no error
//   2     8     ERROR_TEXT    the thread, before that   JSON: { name, message, stack, code } of an Error, { value } of
//                                                       what else was thrown
//
// The bootstrap of src/platform/bootstrap.ts writes the error too, in the same way.
import { DEATH_TEXT_MAX } from '../limits.ts';
import type { EndReason } from '../outcome.ts';
import { deathText, errorOf } from './death-text.ts';
import { CLOSE_CODES, closeReason } from './layout.ts';
import { checkSharedMemory, isSharedMemory } from './region.ts';

const ENDED = 0;
export const ERROR_LENGTH = 1;
export const ERROR_TEXT_BYTE = 8;
const PAGE_BYTES: number = ERROR_TEXT_BYTE + 2 * DEATH_TEXT_MAX;

export function createLifePage(): SharedArrayBuffer {
  checkSharedMemory('spawn');
  return new SharedArrayBuffer(PAGE_BYTES);
}

/** Whether this came as a page of life. */
export function isLifePage(value: unknown): value is SharedArrayBuffer {
  return isSharedMemory(value, PAGE_BYTES);
}

/** Says how the thread has ended; whoever says it first is believed. */
export function tellEnded(page: SharedArrayBuffer, how: EndReason): void {
  // SYNC life: whoever is blocked on the ended thread finds this in its next slice; pairs with endedOn.
  Atomics.compareExchange(new Int32Array(page), ENDED, 0, CLOSE_CODES[how]);
}

/** How the thread has ended, if somebody said so. */
export function endedOn(page: SharedArrayBuffer): EndReason | undefined {
  // SYNC life: what the ended thread wrote is visible after this load; pairs with tellEnded.
  const code = Atomics.load(new Int32Array(page, 0, 1), ENDED);
  return code === 0 ? undefined : closeReason(code);
}

/** Writes down what this thread dies of; nothing if that stands there already. */
export function writeError(page: SharedArrayBuffer, error: unknown): void {
  const words = new Int32Array(page, 0, 2);
  if (Atomics.load(words, ERROR_LENGTH) !== 0) return;
  const text = deathText(error, (told) => told.length <= DEATH_TEXT_MAX);
  const units = new Uint16Array(page, ERROR_TEXT_BYTE, text.length);
  for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
  // SYNC death: the text above is visible to whoever reads its length; pairs with readError.
  Atomics.store(words, ERROR_LENGTH, text.length);
}

/** What the thread died of; `undefined` if it has not said. The page may hold anything: other threads write to it. */
export function readError(page: SharedArrayBuffer): unknown {
  // SYNC death: pairs with writeError.
  const length = Atomics.load(new Int32Array(page, 0, 2), ERROR_LENGTH);
  if (length <= 0 || length > DEATH_TEXT_MAX) return undefined;
  let text = '';
  for (const unit of new Uint16Array(page, ERROR_TEXT_BYTE, length)) text += String.fromCharCode(unit);
  return errorOf(text);
}
