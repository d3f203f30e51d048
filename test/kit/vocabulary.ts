// The interesting numbers, texts, names and shapes from which values.ts draws: boundaries of encodings, names that bite.

export const ERROR_CLASSES: readonly ErrorConstructor[] = [
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
];

export const NUMBERS: readonly number[] = [
  ...[0, -0, 1, -1, 2, 10, 63, 64, 100, 127, 128, -128, -129, 255, 256, 32767, 32768, 65535, 65536],
  ...[
    2 ** 28,
    2 ** 29,
    2 ** 30,
    2 ** 30 - 1,
    -(2 ** 30),
    -(2 ** 30) - 1,
    2 ** 31 - 1,
    2 ** 31,
    -(2 ** 31),
    -(2 ** 31) - 1,
  ],
  ...[2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, -(2 ** 53), 2 ** 63, 1e21, 1e308, -1e308],
  ...[0.1, 0.5, -0.5, 1.5, Math.PI, 5e-324, 2.2250738585072014e-308, Number.MAX_VALUE],
  ...[Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN],
];

export const BIGINTS: readonly bigint[] = [
  0n,
  1n,
  -1n,
  127n,
  128n,
  255n,
  2n ** 31n,
  2n ** 32n,
  2n ** 53n,
  2n ** 63n - 1n,
  2n ** 63n,
  -(2n ** 63n),
];
export const MORE_BIGINTS: readonly bigint[] = [
  -(2n ** 63n) - 1n,
  2n ** 64n - 1n,
  2n ** 64n,
  -(2n ** 64n),
  2n ** 128n,
  -(2n ** 127n),
  10n ** 40n,
];

export const STRINGS: readonly string[] = [
  ...[
    '',
    'a',
    'id',
    'ok',
    'hello world',
    'x'.repeat(31),
    'x'.repeat(32),
    'y'.repeat(63),
    'y'.repeat(64),
    'z'.repeat(65),
  ],
  ...[
    'é',
    'naïve',
    'ÿ',
    'Ā',
    '\u0000',
    '\u0000\u0001',
    'a\u0000b',
    '日本語',
    'ünïcödé ✓',
    '𝒳',
    '👩‍👩‍👧',
    '\uFEFFx',
    '\uFFFD',
  ],
  ...['\uD800', '\uDC00', 'a\uD83D', '\uDE00b', '\uDE00\uD83D', '\uDBFF\uDFFF', '\uFFFF', '\u2028', '"\\/'],
];

export const KEYS: readonly string[] = [
  ...['a', 'b', 'c', 'id', 'name', 'type', 'value', 'items', 'user', 'x', 'y', 'next', 'createdAt', 'z'.repeat(70)],
  ...['0', '1', '2', '10', '4294967294', '4294967295', '4294967296', '-1', '01', '1.5', '-0', '1e3', 'NaN', ' ', ''],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', 'prototype', 'then', 'toJSON', 'valueOf'],
  ...['é', '日本', '\uD800', '\u0000', 'with space', 'quote"', '👍', '__defineGetter__', 'size', 'byteLength'],
];

export const SHAPES: readonly (readonly string[])[] = [
  ['id', 'name'],
  ['id', 'name', 'value'],
  ['type', 'value'],
  ['x', 'y'],
  ['a', 'b', 'c'],
  ['c', 'b', 'a'],
  ['b', '1', 'a', '0'],
  ['id', '__proto__'],
  ['user', 'items', 'next', 'createdAt'],
];

export const PATTERNS: readonly (readonly [string, string])[] = [
  ['', ''],
  ['/', ''],
  ['\n', 'm'],
  ['foo', 'gim'],
  ['a\\/b[/]', 'g'],
  ['(?<year>\\d{4})', 'u'],
  ['\u0000é日', 's'],
  ['\uD800', ''],
  ['x', 'y'],
  ['d', 'dgimsuy'],
];
