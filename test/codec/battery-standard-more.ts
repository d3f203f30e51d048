// The part of battery-standard.ts about errors, buffers and views.
import { VIEW_CLASSES } from '../kit/values.ts';
import { check, type Fact } from './fact.ts';

export const ERROR_FACTS: readonly Fact[] = [
  {
    name: 'the cause of an error is copied, whatever it is',
    put: () => new Error('a', { cause: { code: 1, from: new TypeError('b') } }),
  },
  {
    name: 'an error may be its own cause',
    put: () => {
      const error = new Error('a');
      Object.defineProperty(error, 'cause', { value: error, writable: true, configurable: true });
      return error;
    },
  },
  {
    name: 'a cause that is undefined is still there',
    put: () => new Error('a', { cause: undefined }),
    also: (copy: Error) => check(Object.hasOwn(copy, 'cause'), 'own'),
  },
  {
    name: 'the name decides the class',
    put: () => Object.assign(new Error('a'), { name: 'RangeError' }),
    also: (copy: Error) => check(copy instanceof RangeError, 'RangeError'),
  },
  {
    name: 'an unknown name becomes Error',
    put: () => Object.assign(new TypeError('a'), { name: 'MyError' }),
    also: (copy: Error) => check(copy.constructor === Error && copy.name === 'Error', 'Error'),
  },
  {
    name: 'an error of a derived class becomes its known ancestor',
    put: () => new (class Mine extends TypeError {})('a'),
    also: (copy: Error) => check(copy.constructor === TypeError, 'TypeError'),
  },
  {
    name: 'an AggregateError becomes an Error without its errors',
    put: () => new AggregateError([1], 'a'),
    also: (copy: Error) => check(copy.constructor === Error && !('errors' in copy), 'Error'),
  },
  {
    name: 'an error without a prototype is still an error',
    put: () => Object.setPrototypeOf(new Error('a'), null),
    also: (copy: Error) => check(copy instanceof Error && copy.message === 'a', 'Error'),
  },
  {
    name: 'the message of an error becomes a text',
    put: () => Object.assign(new Error(''), { message: 5 }),
    also: (copy: Error) => check(copy.message === '5', 'a text'),
  },
  {
    name: 'a message that is an accessor is not read',
    put: () => Object.defineProperty(new Error(), 'message', { get: () => 'x' }),
    also: (copy: Error) => check(!Object.hasOwn(copy, 'message'), 'none'),
  },
  {
    name: 'the stack of an error is a text and arrives',
    put: () => new Error('a'),
    also: (copy: Error, original: Error) => check(copy.stack === original.stack, 'the same stack'),
  },
  {
    name: 'an object that only derives from Error.prototype is a plain one',
    put: () => Object.create(Error.prototype),
    get: () => ({}),
  },
];

const plain = (name: string, put: () => unknown): Fact => ({ name, put });
const buffer = (length: number): ArrayBuffer => Uint8Array.from({ length }, (_, i) => 255 - i).buffer;

export const BINARY_FACTS: readonly Fact[] = [
  ...[...VIEW_CLASSES, DataView].flatMap((Class) => {
    const View = Class as {
      new (buffer: ArrayBuffer, offset?: number, length?: number): ArrayBufferView;
      name: string;
    };
    return [
      plain(`a ${View.name} over a whole buffer`, () => new View(buffer(48))),
      plain(`a ${View.name} over a part of a buffer brings the buffer`, () => new View(buffer(64), 8, 2)),
      plain(`an empty ${View.name}`, () => new View(buffer(0))),
    ];
  }),
  {
    name: 'views of one buffer share the copy',
    put: () => {
      const it = buffer(16);
      return [new Uint8Array(it), new Float64Array(it, 8), it, new DataView(it, 1, 2)];
    },
    also: (copy: readonly [Uint8Array, Float64Array, ArrayBuffer]) => {
      copy[0][15] = 0x40;
      check(copy[0].buffer === copy[2] && copy[1].buffer === copy[2], 'one buffer');
    },
  },
  {
    name: 'a view before its buffer and after it',
    put: () => {
      const it = buffer(8);
      return { view: new Uint16Array(it), it, again: new Uint16Array(it) };
    },
  },
  { name: 'an empty ArrayBuffer', put: () => new ArrayBuffer(0) },
  {
    name: 'NaN payloads of a Float64Array are exact',
    put: () => new Float64Array(new BigUint64Array([0x7ff8_0000_0000_0001n, 0xfff8_dead_beef_0001n]).buffer),
  },
  {
    name: 'properties of a view are lost',
    put: () => Object.assign(new Uint8Array(2), { extra: 1 }),
    get: () => new Uint8Array(2),
  },
  {
    name: 'a view of a derived class becomes a plain one',
    put: () => new (class Words extends Uint16Array {})([1, 2]),
    get: () => new Uint16Array([1, 2]),
  },
  {
    name: 'a fixed view of a resizable buffer stays fixed',
    put: () => new Uint8Array(new ArrayBuffer(8, { maxByteLength: 32 } as object), 2, 4),
    also: (copy: Uint8Array) => {
      (copy.buffer as ArrayBuffer & { resize(n: number): void }).resize(16);
      check(copy.length === 4, 'four elements');
    },
  },
];
