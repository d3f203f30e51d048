// What views, buffers and regular expressions are, by the built-in accessors: a program may put properties of the same
// names on its values, and structured clone does not ask for those.

function accessor<T>(prototype: object, name: PropertyKey): (this: object) => T {
  // Older runtimes lack some; there is nothing to hide then.
  return Object.getOwnPropertyDescriptor(prototype, name)?.get ?? none;
}
function none(): never {
  return undefined as never;
}

const VIEW: object = Object.getPrototypeOf(Uint8Array.prototype);
const viewName = accessor<string | undefined>(VIEW, Symbol.toStringTag);
const viewBuffer = accessor<ArrayBuffer>(VIEW, 'buffer');
const viewLength = accessor<number>(VIEW, 'byteLength');
const viewOffset = accessor<number>(VIEW, 'byteOffset');
const dataBuffer = accessor<ArrayBuffer>(DataView.prototype, 'buffer');
const dataLength = accessor<number>(DataView.prototype, 'byteLength');
const dataOffset = accessor<number>(DataView.prototype, 'byteOffset');

/** The class of a typed array; undefined for a DataView. */
export const nameOfView = (view: ArrayBufferView): string | undefined => viewName.call(view);
export const bufferOfView = (view: ArrayBufferView, name: string | undefined): ArrayBuffer =>
  name === undefined ? dataBuffer.call(view) : viewBuffer.call(view);
/** @throws TypeError for a DataView that its buffer no longer reaches */
export const lengthOfView = (view: ArrayBufferView, name: string | undefined): number =>
  name === undefined ? dataLength.call(view) : viewLength.call(view);
/** @throws TypeError as above */
export const offsetOfView = (view: ArrayBufferView, name: string | undefined): number =>
  name === undefined ? dataOffset.call(view) : viewOffset.call(view);

const bufferLength = accessor<number>(ArrayBuffer.prototype, 'byteLength');
const bufferMax = accessor<number>(ArrayBuffer.prototype, 'maxByteLength');
const bufferResizable = accessor<boolean | undefined>(ArrayBuffer.prototype, 'resizable');
const bufferDetached = accessor<boolean | undefined>(ArrayBuffer.prototype, 'detached');

export const lengthOfBuffer = (buffer: ArrayBuffer): number => bufferLength.call(buffer);
export const maxOfBuffer = (buffer: ArrayBuffer): number => bufferMax.call(buffer);
export const isResizable = (buffer: ArrayBuffer): boolean => bufferResizable.call(buffer) === true;

/** Node 20 has no `detached`; there, a view of nothing can be made of any buffer but a detached one. */
export function isDetached(buffer: ArrayBuffer): boolean {
  const detached = bufferDetached.call(buffer);
  if (detached !== undefined) return detached;
  if (bufferLength.call(buffer) > 0) return false;
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

const source = accessor<string>(RegExp.prototype, 'source');
/** In the order in which `flags` has them; that one asks the object itself for each. */
const FLAGS: readonly (readonly [flag: string, isSet: (this: object) => boolean | undefined])[] = [
  ['d', accessor(RegExp.prototype, 'hasIndices')],
  ['g', accessor(RegExp.prototype, 'global')],
  ['i', accessor(RegExp.prototype, 'ignoreCase')],
  ['m', accessor(RegExp.prototype, 'multiline')],
  ['s', accessor(RegExp.prototype, 'dotAll')],
  ['u', accessor(RegExp.prototype, 'unicode')],
  ['v', accessor(RegExp.prototype, 'unicodeSets')],
  ['y', accessor(RegExp.prototype, 'sticky')],
];

export const sourceOf = (regexp: RegExp): string => source.call(regexp);
export function flagsOf(regexp: RegExp): string {
  let flags = '';
  for (const [flag, isSet] of FLAGS) if (isSet.call(regexp) === true) flags += flag;
  return flags;
}
