// The numbers of the packed format, version 1. docs/protocol/packed.md is the specification; vectors.test.ts
// holds the two together.
//
//   payload      32-bit words, little-endian, from an offset that is a multiple of 8:
//   word 0       header: version in bits 0..7, the HEADER_ flags above, all other bits zero
//   word 1 ...   one value
//   ...          the trailer, when HEADER_TRAILER is set: the shapes that this payload defines
//   last word    when HEADER_TRAILER is set: the index of the trailer's first word
//
//   value        one word `argument << 4 | tag`, then what the tag says
//
// The hot files copy what they need of this and of limits.ts into constants of their own: V8 knows those when it compiles
// a loop, but loads and checks an imported number at each use, which made reading an eighth slower.

export const VERSION = 1;
export const VERSION_MASK = 0xff;
/** The payload holds TAG_REFERENCE, so the decoder must number the objects it makes. */
export const HEADER_REFERENCES: number = 1 << 8;
/** The payload ends in a trailer. */
export const HEADER_TRAILER: number = 1 << 9;
/** The shapes of the trailer outlive this payload. */
export const HEADER_TEACH: number = 1 << 10;
/** The decoder forgets every shape it knew before it reads the trailer. */
export const HEADER_RESET: number = 1 << 11;
export const HEADER_MASK: number = VERSION_MASK | HEADER_REFERENCES | HEADER_TRAILER | HEADER_TEACH | HEADER_RESET;

export const TAG_BITS = 4;
export const TAG_MASK = 15;
/** The largest unsigned argument. */
export const ARGUMENT_MAX = 0x0fff_ffff;

/** argument: the integer itself, signed 28 bits. */
export const TAG_INTEGER = 0;
/** argument: one of the constants below. */
export const TAG_CONSTANT = 1;
/** argument: characters; then one byte each (latin1), padded to a word. */
export const TAG_TEXT_LATIN1 = 2;
/** argument: characters; then two bytes each (UTF-16LE, lone surrogates included), padded to a word. */
export const TAG_TEXT_UTF16 = 3;
/** argument: shape; then the values of its keys in order. */
export const TAG_OBJECT = 4;
/** argument: length, or ARGUMENT_MAX when the length is in the next word; then the elements, holes as TAG_HOLES. */
export const TAG_ARRAY = 5;
/** Then eight bytes, IEEE 754 double, aligned to a word only. */
export const TAG_DOUBLE = 6;
/** Then one word, a signed 32-bit integer. */
export const TAG_INT32 = 7;
/** argument: length; then as many signed 32-bit words: an array of such integers. */
export const TAG_INT32_ARRAY = 8;
/** argument: length; then padding to a multiple of 8 and as many doubles: an array of numbers. */
export const TAG_DOUBLE_ARRAY = 9;
/** argument: the number of an object of this payload, counted from 0 in the order in which their words stand. */
export const TAG_REFERENCE = 10;
/** argument: one of the EXTRA_ numbers in bits 0..7, its parameter in bits 8..27; then what that says. */
export const TAG_EXTRA = 11;
/** Inside TAG_ARRAY only. argument: how many elements are absent here. */
export const TAG_HOLES = 12;
/** argument: shape of the first keys; then their values, a word with the count of further pairs, the pairs. */
export const TAG_OBJECT_PAIRS = 13;
/** argument: bytes; then UTF-8, padded to a word. */
export const TAG_TEXT_UTF8 = 14;
/** argument: the number of a remembered text. */
export const TAG_TEXT_KNOWN = 15;

export const WORD_NULL: number = (0 << TAG_BITS) | TAG_CONSTANT;
export const WORD_UNDEFINED: number = (1 << TAG_BITS) | TAG_CONSTANT;
export const WORD_TRUE: number = (2 << TAG_BITS) | TAG_CONSTANT;
export const WORD_FALSE: number = (3 << TAG_BITS) | TAG_CONSTANT;
export const WORD_MINUS_ZERO: number = (4 << TAG_BITS) | TAG_CONSTANT;

export const EXTRA_BITS = 8;
export const EXTRA_MASK = 0xff;
/** Then the double that Date.prototype.getTime gives. */
export const EXTRA_DATE = 0;
/** Then the count of entries, then key and value of each. */
export const EXTRA_MAP = 1;
/** Then the count of members, then each. */
export const EXTRA_SET = 2;
/** parameter: 1 when negative; then the count of words, then the magnitude, lowest word first. */
export const EXTRA_BIGINT = 3;
/** Then source and flags, two texts. */
export const EXTRA_REGEXP = 4;
/** Then byteLength, padding to a multiple of 8, the bytes, padding to a word. */
export const EXTRA_BUFFER = 5;
/** As EXTRA_BUFFER, but maxByteLength follows byteLength. */
export const EXTRA_BUFFER_RESIZABLE = 6;
/**
 * parameter: number of the view class; then as EXTRA_BUFFER. A view over the whole of a buffer that is seen here for
 * the first time: numbers the view, then the buffer.
 */
export const EXTRA_VIEW_WHOLE = 7;
/** parameter: as above; then byteOffset, length in elements or -1 when it follows the buffer, then the buffer. */
export const EXTRA_VIEW = 8;
/** parameter: number of the class, plus the ERROR_HAS_ flags; then message, stack and cause as the flags say. */
export const EXTRA_ERROR = 9;
/** Then a boolean, number, bigint or text: the object around it. */
export const EXTRA_BOXED = 10;
/** Then an array, a word with the count of named properties, the pairs. */
export const EXTRA_ARRAY_PAIRS = 11;
/**
 * parameter: how many numbers to forget; then the number of a text, the text itself, which the decoder remembers under
 * it, and the numbers to forget.
 */
export const EXTRA_TEXT_REMEMBER = 12;
/** parameter: number of the class; then its parts, a value that is an array. Only from and to browsers. */
export const EXTRA_HOST = 13;

export const ERROR_CLASS_MASK = 15;
export const ERROR_HAS_MESSAGE = 16;
export const ERROR_HAS_STACK = 32;
export const ERROR_HAS_CAUSE = 64;

/** Shapes that live for one payload only have numbers from here on. */
export const SHAPE_LOCAL: number = 1 << 27;

/** The order is the format: the index is the class number. */
export const ERROR_NAMES: readonly string[] = [
  'Error',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
];
/** The order is the format: the index is the number of the view class. A runtime may lack some. */
export const VIEW_NAMES: readonly string[] = [
  'DataView',
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
  'Float16Array',
];
/** Bytes of an element of each. */
export const VIEW_SIZES: readonly number[] = [1, 1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8, 2];
