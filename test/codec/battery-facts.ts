// The facts that the web platform tests ask of structured clone (html/webappapis/structured-clone, battery of tests),
// as a table of our own: what goes in, what must come out or how it must fail. The table counts as that battery does,
// one case for each of its tests, the ones that need a browser included, so that the two can be laid side by side.
import { own } from '../kit/values.ts';
import { HOST_FACTS } from './battery-hosts.ts';
import { check, type Fact } from './fact.ts';

type Entry = readonly [name: string, value: unknown];

const PRIMITIVES: readonly Entry[] = [
  ['undefined', undefined],
  ['null', null],
  ['true', true],
  ['false', false],
  ['empty string', ''],
  ['lone high surrogate', '\uD800'],
  ['lone low surrogate', '\uDC00'],
  ['NUL character', '\u0000'],
  ['astral character', '\uDBFF\uDFFD'],
  ['0.2', 0.2],
  ['0', 0],
  ['-0', -0],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['2 ** 53', 2 ** 53],
  ['-(2 ** 53)', -(2 ** 53)],
  ['2 ** 53 + 2', 2 ** 53 + 2],
  ['-(2 ** 53) - 2', -(2 ** 53) - 2],
];
const BIGINTS: readonly Entry[] = [
  ['0n', 0n],
  ['-0n', -0n],
  ['a negative bigint of 63 bits', -9007199254740994000n],
  ['a negative bigint of 256 bits', -9007199254740994000900719925474099400090071992547409940009007199254740994000n],
];
const texts = PRIMITIVES.slice(4, 9);
const numbers = PRIMITIVES.slice(9);
const booleans = PRIMITIVES.slice(2, 4);
const BOXED_BIGINT: Entry = ['a negative bigint', -9007199254740994n];

const DATES: readonly Entry[] = [0, -0, -8.64e15, 8.64e15].map((time) => [
  Object.is(time, -0) ? '-0' : String(time),
  time,
]);

const REGEXPS: readonly (readonly [name: string, source: string, flags: string])[] = [
  ['with flags and a lastIndex', 'foo', 'gim'],
  ['with the flag y', 'foo', 'y'],
  ['with the flag u', 'foo', 'u'],
  ['that is empty', '', ''],
  ['of a slash', '/', ''],
  ['of a line feed', '\n', ''],
];
function regExp(source: string, flags: string): RegExp {
  const made = new RegExp(source, flags);
  if (flags.includes('g')) made.lastIndex = 2;
  return made;
}

const ERRORS = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];

/** One case for each entry, one with all of them in an array, one with all of them as properties. */
function family(what: string, entries: readonly Entry[], make: (value: unknown) => unknown): readonly Fact[] {
  return [
    ...entries.map(([name, value]) => ({ name: `${what} ${name}`, put: () => make(value) })),
    { name: `an array of every ${what}`, put: () => entries.map(([, value]) => make(value)) },
    {
      name: `an object of every ${what}`,
      put: () => {
        const record = {};
        for (const [name, value] of entries) own(record, name, make(value));
        return record;
      },
    },
  ];
}

function regExpFacts(): readonly Fact[] {
  return [
    ['', (made: unknown) => made] as const,
    [', in an array', (made: unknown) => [made]] as const,
    [', in an object', (made: unknown) => ({ x: made })] as const,
  ].flatMap(([where, wrap]) =>
    REGEXPS.map(([name, source, flags]) => ({
      name: `a RegExp ${name}${where}`,
      put: () => wrap(regExp(source, flags)),
      get: () => wrap(new RegExp(source, flags)),
    })),
  );
}

function errorFacts(): readonly Fact[] {
  return [
    {
      name: 'an error without a message',
      put: () => new Error(),
      also: (copy: Error) => check(!Object.hasOwn(copy, 'message'), 'it has no own message'),
    },
    ...ERRORS.map((Class) => ({
      name: `a ${Class.name} with a message and a property of its own`,
      put: () => Object.assign(new Class('Error message here'), { foo: 'testing' }),
      also: (copy: Error) => {
        check(copy.constructor === Class && copy.name === Class.name, 'it is of the same class');
        check(copy.message === 'Error message here', 'it has the message');
        check(!('foo' in copy), 'the property is lost');
      },
    })),
  ];
}

const thrown = new Error('thrown by a getter');
const withProperty = (attributes: object): object =>
  Object.defineProperty({}, 'foo', {
    value: 'bar',
    enumerable: true,
    writable: true,
    configurable: true,
    ...attributes,
  });

const objectFacts: readonly Fact[] = [
  { name: 'an array of ten holes', put: () => new Array(10), also: (copy: unknown[]) => check(!(0 in copy), 'holes') },
  { name: 'an array with a named property', put: () => Object.assign([], { foo: 'bar' }) },
  { name: 'an object with an index and a length', put: () => ({ 0: 'foo', length: 1 }) },
  ...(
    [
      ['an array', () => []],
      ['an object', () => ({})],
    ] as const
  ).map(([what, make]) => ({
    name: `${what} that holds itself`,
    put: () => {
      const made = make() as Record<string, unknown>;
      made['0'] = made;
      return made;
    },
    also: (copy: Record<string, unknown>) => check(copy['0'] === copy, 'the copy holds the copy'),
  })),
  ...(
    [
      ['an array', (x: object) => [x, x]],
      ['an object', (x: object) => ({ 0: x, 1: x })],
    ] as const
  ).map(([what, make]) => ({
    name: `${what} that holds one object twice`,
    put: () => make({}),
    also: (copy: Record<string, unknown>) => check(copy['0'] === copy['1'], 'the copy holds one object twice'),
  })),
  {
    name: 'an object with an inherited property',
    put: () => Object.create({ foo: 'bar' }),
    get: () => ({}),
  },
  {
    name: 'an object with a property that is not enumerable',
    put: () => withProperty({ enumerable: false }),
    get: () => ({}),
  },
  {
    name: 'an object with a read-only property',
    put: () => withProperty({ writable: false }),
    also: (copy: { foo: string }) => {
      copy.foo += ' baz';
      check(copy.foo === 'bar baz', 'the copy can be written');
    },
  },
  {
    name: 'an object with a property that cannot be deleted',
    put: () => withProperty({ configurable: false }),
    also: (copy: { foo?: string }) => {
      delete copy.foo;
      check(!('foo' in copy), 'the property of the copy can be deleted');
    },
  },
  {
    name: 'an object with a getter that throws',
    put: () => ({
      get testProperty(): never {
        throw thrown;
      },
    }),
    throws: () => thrown,
  },
  {
    name: 'Object.prototype, whose prototype cannot be changed',
    put: () => Object.prototype,
    get: () => ({}),
    also: (copy: object) => {
      const prototype = { some: 'proto' };
      check(Object.getPrototypeOf(Object.setPrototypeOf(copy, prototype)) === prototype, "the copy's can");
    },
  },
];

const resizable = (): ArrayBuffer => new ArrayBuffer(16, { maxByteLength: 1024 } as object);
type Resizable = ArrayBuffer & { resize(to: number): void };

interface Follower {
  new (buffer: ArrayBuffer, offset?: number): ArrayBufferView;
}
const FOLLOWERS: readonly (readonly [name: string, View: Follower])[] = [
  ['Uint8Array', Uint8Array],
  ['DataView', DataView],
];

const bufferFacts: readonly Fact[] = [
  { name: 'a resizable ArrayBuffer', put: resizable },
  {
    name: 'a growable SharedArrayBuffer',
    put: () => new SharedArrayBuffer(16, { maxByteLength: 1024 } as object),
    also: (copy: { growable: boolean; maxByteLength: number }) =>
      check(copy.growable && copy.maxByteLength === 1024, 'the copy can grow as far'),
  },
  ...FOLLOWERS.map(([name, View]) => ({
    name: `a ${name} that follows the length of its buffer`,
    put: () => new View(resizable()),
    also: (copy: ArrayBufferView) => {
      (copy.buffer as Resizable).resize(24);
      check(copy.byteLength === 24, 'so does the copy');
    },
  })),
  ...FOLLOWERS.map(([name, View]) => ({
    name: `a ${name} that its buffer no longer reaches`,
    put: () => {
      const buffer = resizable() as Resizable;
      const view = new View(buffer, 8);
      buffer.resize(0);
      return view;
    },
    throws: 'DataCloneError' as const,
  })),
];

export const FACTS: readonly Fact[] = [
  ...[...PRIMITIVES, ...BIGINTS].map(([name, value]) => ({ name: `primitive ${name}`, put: () => value })),
  { name: 'an array of every primitive', put: () => [...PRIMITIVES, ...BIGINTS].map(([, value]) => value) },
  {
    name: 'an object of every primitive',
    put: () => Object.fromEntries(PRIMITIVES),
  },
  ...family('boxed boolean', booleans, Object),
  ...family('boxed string', texts, Object),
  ...family('boxed number', numbers, Object),
  { name: `boxed bigint ${BOXED_BIGINT[0]}`, put: () => Object(BOXED_BIGINT[1]) },
  ...family('date', DATES, (time) => new Date(time as number)),
  ...regExpFacts(),
  ...errorFacts(),
  ...objectFacts,
  ...bufferFacts,
  ...HOST_FACTS,
];
