// What hostile payloads must not do, watched from outside: change prototypes, or make the decoder take memory.
import assert from 'node:assert/strict';
import process from 'node:process';
import { CodecError } from '../../src/errors.ts';

const PROTOTYPES = [
  Object,
  Array,
  Map,
  Set,
  Date,
  RegExp,
  Error,
  TypeError,
  ArrayBuffer,
  Uint8Array,
  Number,
  String,
].map(({ prototype }) => prototype as object);

/** The properties and the ancestry of every prototype that a value can have, to be compared with later. */
export function prototypesNow(): string {
  return PROTOTYPES.map((prototype) => {
    const keys = Reflect.ownKeys(prototype).map(String).sort().join();
    return `${keys}:${PROTOTYPES.indexOf(Object.getPrototypeOf(prototype))}`;
  }).join('\n');
}

const objectKeys = Reflect.ownKeys(Object.prototype).length;

/** Bytes that this thread holds, roughly. Garbage counts, so only a jump between two moments means something. */
export function held(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Far more than any payload here can justify, far less than a length taken at its word. */
export const JUMP_MAX: number = 96 * 2 ** 20;

export interface Outcomes {
  values: number;
  errors: number;
  /** The most memory that one decoding took. */
  largest: number;
}

/** Decodes something damaged: what comes out is a value or a CodecError, and nothing else happens. */
export function decodeDamaged(decode: () => unknown, outcomes: Outcomes, what: () => string): void {
  const start = held();
  try {
    decode();
    outcomes.values++;
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    assert.equal(error.code, 'ERR_DECODE');
    outcomes.errors++;
  }
  const jump = held() - start;
  outcomes.largest = Math.max(outcomes.largest, jump);
  assert.ok(jump < JUMP_MAX, `the decoder took ${jump} bytes for ${what()}`);
  assert.equal(Reflect.ownKeys(Object.prototype).length, objectKeys, 'Object.prototype has changed');
}
