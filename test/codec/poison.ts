// Values that nothing can clone, hidden in values that can be, and the path under which an error must name them.
import type { Random } from '../kit/prng.ts';
import { own, randomValue } from '../kit/values.ts';

export interface Uncloneable {
  readonly name: string;
  make(): unknown;
}

function detached(): ArrayBuffer {
  const buffer = new ArrayBuffer(16);
  structuredClone(buffer, { transfer: [buffer] });
  return buffer;
}

/** A view that is made while the buffer is there and looked at when it is gone. */
function viewOfDetached(View: { new (buffer: ArrayBuffer): ArrayBufferView }): ArrayBufferView {
  const buffer = new ArrayBuffer(16);
  const view = new View(buffer);
  structuredClone(buffer, { transfer: [buffer] });
  return view;
}

function outOfBounds(View: { new (buffer: ArrayBuffer, offset: number): ArrayBufferView }): ArrayBufferView {
  const buffer = new ArrayBuffer(16, { maxByteLength: 1024 } as object) as ArrayBuffer & { resize(to: number): void };
  const view = new View(buffer, 8);
  buffer.resize(0);
  return view;
}

/** Whatever the language itself has that the standard's clone refuses. */
export const UNCLONEABLES: readonly Uncloneable[] = [
  { name: 'a function', make: () => function named() {} },
  { name: 'an arrow function', make: () => () => 1 },
  { name: 'an async generator function', make: () => async function* () {} },
  { name: 'a class', make: () => class {} },
  { name: 'a symbol', make: () => Symbol('s') },
  { name: 'a well-known symbol', make: () => Symbol.iterator },
  { name: 'a boxed symbol', make: () => Object(Symbol('s')) },
  { name: 'a WeakMap', make: () => new WeakMap() },
  { name: 'a WeakSet', make: () => new WeakSet() },
  { name: 'a WeakRef', make: () => new WeakRef({}) },
  { name: 'a FinalizationRegistry', make: () => new FinalizationRegistry(() => {}) },
  { name: 'a Promise', make: () => Promise.resolve(1) },
  {
    name: 'an object of a class derived from Promise',
    make: () => new (class Later extends Promise<void> {})(() => {}),
  },
  { name: 'a generator', make: () => (function* () {})() },
  { name: 'an async generator', make: () => (async function* () {})() },
  { name: 'an iterator of an array', make: () => [1].values() },
  { name: 'an iterator of a Map', make: () => new Map().entries() },
  { name: 'an iterator of a Set', make: () => new Set().values() },
  { name: 'an iterator of matches', make: () => 'aa'.matchAll(/a/g) },
  {
    name: 'an arguments object',
    make: () =>
      (function (..._: unknown[]) {
        // biome-ignore lint/complexity/noArguments: the object itself is what this case is about
        return arguments;
      })(1, 2),
  },
  { name: 'a detached ArrayBuffer', make: detached },
  { name: 'a Uint8Array of a detached buffer', make: () => viewOfDetached(Uint8Array) },
  { name: 'a Float64Array of a detached buffer', make: () => viewOfDetached(Float64Array) },
  { name: 'a DataView of a detached buffer', make: () => viewOfDetached(DataView) },
  { name: 'a Uint8Array out of bounds', make: () => outOfBounds(Uint8Array) },
  { name: 'a DataView out of bounds', make: () => outOfBounds(DataView) },
  { name: 'a module namespace', make: () => namespace },
];
const namespace: unknown = await import('./namespace.ts');

export interface Hidden {
  readonly value: unknown;
  readonly path: string;
}

interface Wrapping {
  wrap(inner: unknown, random: Random): unknown;
  readonly step: string;
}

const WRAPPINGS: readonly Wrapping[] = [
  { step: '.a', wrap: (inner) => ({ before: 1, a: inner, after: {} }) },
  { step: '.user', wrap: (inner) => ({ id: 7, user: inner }) },
  { step: '["with space"]', wrap: (inner) => ({ 'with space': inner }) },
  { step: '["quote\\""]', wrap: (inner) => ({ list: [1, {}], 'quote"': inner }) },
  { step: '["0"]', wrap: (inner) => ({ b: [{}], 0: inner }) },
  { step: '.é', wrap: (inner) => ({ é: inner }) },
  {
    step: '.__proto__',
    wrap: (inner) => {
      const record = {};
      own(record, '__proto__', inner);
      return record;
    },
  },
  { step: '[0]', wrap: (inner) => [inner] },
  { step: '[2]', wrap: (inner) => [{ x: [] }, 'y', inner, {}] },
  {
    step: '[5]',
    wrap: (inner) => {
      const sparse: unknown[] = [];
      sparse[5] = inner;
      return sparse;
    },
  },
  { step: '.named', wrap: (inner) => Object.assign([1, [2]], { named: inner }) },
  {
    step: '.get("k")',
    wrap: (inner) =>
      new Map<unknown, unknown>([
        ['a', {}],
        ['k', inner],
      ]),
  },
  { step: '.get(3)', wrap: (inner) => new Map<unknown, unknown>([[3, inner]]) },
  {
    step: '.keys[1]',
    wrap: (inner) =>
      new Map<unknown, unknown>([
        [{}, [1]],
        [inner, 1],
      ]),
  },
  { step: '.get(keys[0])', wrap: (inner) => new Map<unknown, unknown>([[{ key: [] }, inner]]) },
  { step: '[1]', wrap: (inner) => new Set<unknown>([{}, inner, 'z']) },
  { step: '.cause', wrap: (inner) => new RangeError('m', { cause: inner }) },
];

/** Puts `inner` some levels down in random company, with the path that leads there. */
export function hide(random: Random, inner: unknown): Hidden {
  let value = inner;
  let path = '';
  for (let level = random.skewed(6); level > 0; level--) {
    const wrapping = random.pick(WRAPPINGS);
    // An error with a cause reads as [0] in nothing and a symbol is no key of a WeakMap: every other nesting is fine.
    value = wrapping.wrap(value, random);
    path = wrapping.step + path;
  }
  if (random.chance(0.3)) {
    value = { first: randomValue(random, { budget: 20 }), last: value };
    path = `.last${path}`;
  }
  return { value, path: `$${path}` };
}
