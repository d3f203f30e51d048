// Facts beyond the web platform tests' battery, read off the HTML standard's StructuredSerializeInternal and
// StructuredDeserialize: order of properties, odd names, getters that meddle, Map and Set, views, errors.
import { own } from '../kit/values.ts';
import { BINARY_FACTS, ERROR_FACTS } from './battery-standard-more.ts';
import { check, type Fact } from './fact.ts';
import { UNCLONEABLES } from './poison.ts';

type Bag = Record<string, unknown>;
const keysOf = (copy: object): string => Object.keys(copy).join(' ');

function withOwn(entries: readonly (readonly [string, unknown])[]): object {
  const record = {};
  for (const [key, value] of entries) own(record, key, value);
  return record;
}

function sparse(length: number, elements: Record<number, unknown>): unknown[] {
  return Object.assign(Array.from({ length: 0 }), elements, { length });
}

const propertyFacts: readonly Fact[] = [
  {
    name: 'properties keep their order, integer names first',
    put: () => ({ b: 1, 2: 1, a: 1, 1: 1 }),
    also: (copy: object) => check(keysOf(copy) === '1 2 b a', 'the order is 1 2 b a'),
  },
  {
    name: 'an own property called __proto__ stays one',
    put: () =>
      withOwn([
        ['__proto__', { x: 1 }],
        ['a', 1],
      ]),
    also: (copy: object) => {
      check(Object.getPrototypeOf(copy) === Object.prototype, 'the prototype is the usual');
      check(Object.hasOwn(copy, '__proto__') && !('x' in copy), 'the property is own');
    },
  },
  { name: 'an own __proto__ that is null stays a property', put: () => withOwn([['__proto__', null]]) },
  {
    name: 'an own __proto__ of an array stays a property',
    put: () => {
      const list = [1];
      own(list, '__proto__', []);
      return list;
    },
  },
  {
    name: 'names of the prototype are ordinary own properties',
    put: () =>
      withOwn(['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'].map((key) => [key, key])),
  },
  {
    name: 'the empty name is a property',
    put: () =>
      withOwn([
        ['', 1],
        [' ', 2],
      ]),
  },
  {
    name: 'names with surrogates and NUL are exact',
    put: () =>
      withOwn([
        ['\uD800', 1],
        ['\uDC00', 2],
        ['\u0000', 3],
        ['👍', 4],
      ]),
  },
  {
    name: 'names that only look like indices keep their places on an array',
    put: () => {
      const list = [1];
      for (const key of ['01', '-1', '1.5', '4294967295']) own(list, key, key);
      return list;
    },
    also: (copy: object) => check(keysOf(copy) === '0 01 -1 1.5 4294967295', 'the order is kept'),
  },
  {
    name: 'an object without a prototype becomes a plain one',
    put: () => Object.assign(Object.create(null), { a: 1 }),
    get: () => ({ a: 1 }),
  },
  {
    name: 'an object of a class becomes a plain one',
    put: () =>
      new (class Point {
        x = 1;
        #y = 2;
        get y(): number {
          return this.#y;
        }
      })(),
    get: () => ({ x: 1 }),
  },
  { name: 'an object that looks like a promise is a plain one', put: () => withOwn([['then', 2]]) },
  { name: 'symbol names are lost', put: () => ({ [Symbol('a')]: 1, b: 2 }), get: () => ({ b: 2 }) },
  {
    name: 'a frozen object becomes an ordinary one',
    put: () => Object.freeze({ a: Object.freeze([1]) }),
    get: () => ({ a: [1] }),
  },
  {
    name: 'a tag of its own does not change what an object is',
    put: () => ({ [Symbol.toStringTag]: 'Map', a: 1 }),
    get: () => ({ a: 1 }),
  },
  {
    name: 'a getter is read and becomes a value',
    put: () => ({
      get a(): object {
        return { b: 1 };
      },
    }),
    get: () => ({ a: { b: 1 } }),
  },
  {
    name: 'a property that a getter before it deletes is not copied',
    put: () => {
      const record: Bag = {
        get a(): number {
          delete record['b'];
          return 1;
        },
        b: 2,
        c: 3,
      };
      return record;
    },
    get: () => ({ a: 1, c: 3 }),
  },
  {
    name: 'a property that a getter adds is not copied',
    put: () => {
      const record: Bag = {
        get a(): number {
          record['z'] = 1;
          return 1;
        },
        b: 2,
      };
      return record;
    },
    get: () => ({ a: 1, b: 2 }),
  },
  {
    name: 'a getter is read once',
    put: () => {
      let reads = 0;
      return {
        get a(): number {
          return ++reads;
        },
      };
    },
    get: () => ({ a: 1 }),
  },
];

const arrayFacts: readonly Fact[] = [
  {
    name: 'holes stay holes and undefined stays undefined',
    put: () => sparse(6, { 0: 1, 2: undefined, 4: 5 }),
    also: (copy: unknown[]) => check(!(1 in copy) && 2 in copy && copy.length === 6, 'they differ'),
  },
  {
    name: 'the longest array keeps its length',
    put: () => {
      const list: unknown[] = [];
      list.length = 2 ** 32 - 1;
      return list;
    },
  },
  {
    name: 'the last possible index arrives',
    put: () => {
      const list: unknown[] = [];
      list[2 ** 32 - 2] = 'last';
      list[3] = 3;
      return list;
    },
  },
  {
    name: 'an array of a derived class becomes an Array',
    put: () => class List extends Array<number> {}.from([1, 2]),
    get: () => [1, 2],
  },
  {
    name: 'an element that a getter before it cuts off becomes a hole',
    put: () => {
      const list: unknown[] = [
        {
          get a(): number {
            list.length = 1;
            return 1;
          },
        },
        2,
        3,
      ];
      return list;
    },
    get: () => {
      const list: unknown[] = [{ a: 1 }];
      list.length = 3;
      return list;
    },
  },
  {
    name: 'numbers in arrays keep minus zero, NaN and every bit',
    put: () => [
      [1, -0, 2],
      [0.5, -0],
      [1, 2 ** 31],
      [1, Number.NaN],
      [-(2 ** 31), 2 ** 31 - 1],
    ],
  },
  { name: 'an array of doubles with a hole keeps the hole', put: () => sparse(3, { 0: 0.5, 2: 1.5 }) },
  { name: 'an array of integers that ends in a text is exact', put: () => [1, 2, 3, 'x', -0, 2.5] },
];

const collectionFacts: readonly Fact[] = [
  { name: 'an empty Map and an empty Set', put: () => [new Map(), new Set()] },
  {
    name: 'a Map keeps its order and any keys',
    put: () =>
      new Map<unknown, unknown>([
        ['b', 1],
        [1, 'a'],
        [Number.NaN, -0],
        [undefined, null],
        [{ k: 1 }, []],
      ]),
  },
  {
    name: 'a Map may be its own key and value',
    put: () => {
      const map = new Map<unknown, unknown>();
      map.set(map, map);
      return map;
    },
  },
  {
    name: 'a Set may hold itself',
    put: () => {
      const set = new Set<unknown>();
      return set.add(set).add({ set });
    },
  },
  {
    name: 'properties of a Map, a Set, a Date and a RegExp are lost',
    put: () => [new Map(), new Set(), new Date(5), /x/].map((it) => Object.assign(it, { extra: 1 })),
    get: () => [new Map(), new Set(), new Date(5), /x/],
  },
  {
    name: 'a Map and a Set of derived classes become plain ones',
    put: () => [new (class A extends Map {})(), new (class B extends Set {})()],
    get: () => [new Map(), new Set()],
  },
  {
    name: 'a Map is copied by its real entries, not by its methods',
    put: () =>
      Object.assign(new Map([[1, 2]]), {
        entries: () => [],
        forEach: undefined,
        [Symbol.iterator]: undefined,
      }),
    get: () => new Map([[1, 2]]),
  },
  {
    name: 'an entry that a getter adds to the Map meanwhile is not copied',
    put: () => {
      const map = new Map<unknown, unknown>();
      return map.set(
        {
          get a(): number {
            map.set('late', 1);
            return 1;
          },
        },
        1,
      );
    },
    get: () => new Map([[{ a: 1 }, 1]]),
  },
  {
    name: 'an item that a getter adds to the Set meanwhile is not copied',
    put: () => {
      const set = new Set<unknown>();
      return set.add({
        get a(): number {
          set.add('late');
          return 1;
        },
      });
    },
    get: () => new Set([{ a: 1 }]),
  },
];

const otherFacts: readonly Fact[] = [
  { name: 'an invalid Date stays invalid', put: () => new Date(Number.NaN) },
  {
    name: 'a Date is copied by its time, not by its methods',
    put: () => Object.assign(new Date(7), { getTime: () => 8, valueOf: () => 9 }),
    get: () => new Date(7),
  },
  {
    name: 'properties of boxed values are lost',
    put: () => [
      Object.assign(Object(1), { x: 1 }),
      Object.assign(Object('ab'), { x: 1 }),
      Object.assign(Object(true), { x: 1 }),
    ],
    get: () => [Object(1), Object('ab'), Object(true)],
  },
  { name: 'every flag of a RegExp arrives', put: () => /a\/[/]/dgimsuy },
  {
    name: 'a RegExp is copied by what it is, not by its properties',
    put: () => Object.defineProperty(/a/g, 'flags', { value: 'i' }),
    get: () => /a/g,
  },
  {
    name: 'one object reached by many ways is one object',
    put: () => {
      const it = { a: 1 };
      return [it, { it }, new Map([[it, it]]), new Set([it]), new Error('x', { cause: it })];
    },
  },
  {
    name: 'one Date, RegExp, boxed value and bigint box reached twice',
    put: () => [new Date(1), /x/, Object(1), Object('s'), Object(1n)].flatMap((it) => [it, it]),
  },
  {
    name: 'equal values that are different objects stay different',
    put: () => [{}, {}, [], [], new Date(1), new Date(1)],
  },
  {
    name: 'a cycle through every kind of container',
    put: () => {
      const root: Bag = {};
      root['map'] = new Map([[{ list: [new Set([root])] }, new Error('e', { cause: root })]]);
      return root;
    },
  },
  ...['SharedArrayBuffer', 'Uint8Array over shared memory'].map((name, i) => ({
    name: `${name} shares the memory`,
    put: () => (i === 0 ? new SharedArrayBuffer(8) : new Uint8Array(new SharedArrayBuffer(8))),
    also: (copy: unknown, original: unknown) => {
      const [a, b] = [original, copy].map((it) =>
        it instanceof Uint8Array ? it : new Uint8Array(it as SharedArrayBuffer),
      );
      a![0] = 77;
      check(b![0] === 77, 'what one writes the other reads');
    },
  })),
  {
    name: 'a WebAssembly.Module arrives',
    put: () => new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])),
    missing: () => {
      const copy: unknown = structuredClone(new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])));
      return copy instanceof WebAssembly.Module
        ? undefined
        : "this runtime's own structuredClone loses a WebAssembly.Module";
    },
    also: (copy: unknown) => check(copy instanceof WebAssembly.Module, 'a module'),
  },
  {
    name: 'a DOMException keeps its name and message',
    put: () => new DOMException('m', 'AbortError'),
    missing: () => {
      const copy: unknown = structuredClone(new DOMException('m', 'AbortError'));
      return copy instanceof DOMException ? undefined : "this runtime's own structuredClone makes {} of a DOMException";
    },
    also: (copy: DOMException) =>
      check(copy instanceof DOMException && copy.name === 'AbortError' && copy.message === 'm', 'the same'),
  },
  {
    name: 'a Proxy throws',
    put: () => new Proxy({}, {}),
    throws: 'DataCloneError',
    excluded: 'no JavaScript can tell a Proxy from its target; what its traps say is copied',
  },
];

export const STANDARD_FACTS: readonly Fact[] = [
  ...propertyFacts,
  ...arrayFacts,
  ...collectionFacts,
  ...ERROR_FACTS,
  ...BINARY_FACTS,
  ...otherFacts,
  ...UNCLONEABLES.map(({ name, make }) => ({ name: `${name} throws`, put: make, throws: 'DataCloneError' as const })),
];
