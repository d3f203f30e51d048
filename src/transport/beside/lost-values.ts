// What becomes of handles and native ports in a message that nobody will ever read: whoever has the other ends is told.
import { platform } from '#platform';
import { dropNative, isNativeHandle, type MovingHandle, openHandle } from '../../memory/handle.ts';
import { ATTACHED, DATA, SIDE_0, SIDE_1 } from '../../memory/layout.ts';
import { claimSide } from '../../memory/sides.ts';
import type { NativePort } from '../../platform/contract.ts';
import { nativesIn } from './moving-end.ts';
import { endUnused, HandleLines, NO_LINES } from './unopened-end.ts';

/**
 * Ends what has moved here with a value that is lost: the channels of handles as `dropped`, native ports as such.
 * @param value made by structured clone: to look at it runs nobody's code
 * @param moved native ports and the handles of ends that were to move, among other things
 */
export function letGoOf(value: unknown, moved: readonly unknown[]): void {
  const ports = nativesIn(moved);
  if (ports.length > 0) visit([value, moved], endHandle);
  for (const port of ports) (port as NativePort).close();
}

function endHandle(value: object): void {
  if ((value as { type?: unknown }).type !== 'millrace') return;
  if (isNativeHandle(value)) {
    if (platform.isNativePort(value.native)) dropNative(value.native as NativePort);
    return;
  }
  let opened: ReturnType<typeof openHandle>;
  try {
    opened = openHandle(value, 2);
  } catch {
    // What only looks like a handle, or one whose channel has ended. If ports of it are here they are closed all the same.
    return;
  }
  if (opened.natives === undefined) return;
  endUnused(opened.region.views.words, opened.end, new HandleLines(opened.natives), 'dropped');
}

/** An end that is on its way, as far as its sender may have to tell of it. */
export type OnTheWay = Pick<MovingHandle, 'memory' | 'end' | 'ticket'>;

export function isUnopened({ memory, end, ticket }: OnTheWay): boolean {
  return Atomics.load(new Int32Array(memory), (end === 0 ? SIDE_0 : SIDE_1) + ATTACHED) === ticket;
}
/** Whoever it was sent to is over: unless it was opened before, it never will be (V7). Its native ports are over there. */
export function endUnopened({ memory, end, ticket }: OnTheWay): void {
  const words = new Int32Array(memory, 0, DATA);
  if (claimSide(words, end, 2, ticket)) endUnused(words, end, NO_LINES, 'dropped');
}

/** Every object in a value, each once. */
function visit(value: unknown, each: (object: object) => void): void {
  const found = new Set<object>();
  const add = (item: unknown): void => {
    if (typeof item === 'object' && item !== null) found.add(item);
  };
  add(value);
  // What is added meanwhile comes in its turn.
  for (const object of found) {
    each(object);
    // The elements of these are no objects, and may be many.
    if (ArrayBuffer.isView(object)) continue;
    Object.values(object).forEach(add);
    if (object instanceof Map) for (const entry of object) entry.forEach(add);
    if (object instanceof Set) object.forEach(add);
  }
}
