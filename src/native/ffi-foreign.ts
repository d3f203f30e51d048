// How Bun and Deno call functions of the system's C library, without an addon: what differs between the two.
import { createRequire } from 'node:module';
import { arch } from 'node:process';
import { platform } from '#platform';
import { HERE } from '../platform/here.ts';

/** Takes and gives whole numbers: ints, longs, addresses. */
export type Call = (...values: readonly number[]) => number;

export interface Foreign {
  /** @param functions by name: what each takes and gives, `i` an int, `l` a long or an address */
  open<N extends string>(library: string, functions: Readonly<Record<N, Signature>>): Readonly<Record<N, Call>>;
  /** Where a view lies: memory that does not move, as long as there is a view of it. */
  addressOf(view: Uint8Array): number;
  /** A buffer over memory of others, which stays theirs. */
  bufferAt(address: number, bytes: number): ArrayBuffer;
  /** A buffer over memory that is mapped, and whether it is unmapped when nobody has it any more, in whichever thread: else that is the caller's. */
  mapped(address: number, bytes: number): { readonly buffer: ArrayBuffer; readonly unmaps: boolean };
}

type Signature = readonly [takes: string, gives: string];

/** Numbers of system calls and places in structures that are not the same everywhere. */
export interface Machine {
  readonly futex: number;
  readonly fstat: number;
  readonly preadv2: number;
  /** Byte of `st_mode` in what fstat tells. */
  readonly mode: number;
}
const MACHINES: Readonly<Record<string, Machine>> = {
  x64: { futex: 202, fstat: 5, preadv2: 327, mode: 24 },
  arm64: { futex: 98, fstat: 80, preadv2: 286, mode: 16 },
};
/** Of this process, if it is known. */
export const machine: Machine | undefined = MACHINES[arch];

/** What this runtime has; undefined on others than Bun and Deno. */
export function foreign(): Foreign | undefined {
  if (platform.name === 'bun') return onBun();
  return platform.name === 'deno' ? onDeno() : undefined;
}

const typeOf = (letter: string): string => (letter === 'i' ? 'i32' : 'i64');
const typesOf = (letters: string): readonly string[] => [...letters].map(typeOf);
/** Longs come as bigints. */
const numbered =
  (call: (...values: readonly number[]) => bigint): Call =>
  (...values) =>
    Number(call(...values));

function each<N extends string, T>(
  functions: Readonly<Record<N, Signature>>,
  make: (signature: Signature, name: N) => T,
): Record<N, T> {
  const names = Object.keys(functions) as N[];
  return Object.fromEntries(names.map((name) => [name, make(functions[name], name)])) as Record<N, T>;
}
/** What came of `open`: those that give an int are as they are. */
function called<N extends string>(functions: Readonly<Record<N, Signature>>, symbols: Record<N, unknown>) {
  return each(functions, ([, gives], name) =>
    gives === 'i' ? (symbols[name] as Call) : numbered(symbols[name] as never),
  );
}

// ---- Bun -----------------------------------------------------------------------------------------------------------

interface BunFfi {
  dlopen(library: string, functions: object): { readonly symbols: Record<string, unknown> };
  ptr(view: Uint8Array): number;
  toArrayBuffer(address: number, offset: number, bytes: number, context?: number, free?: number): ArrayBuffer;
}

function onBun(): Foreign {
  const ffi = createRequire(HERE)('bun:ffi') as BunFfi;
  const open: Foreign['open'] = (library, functions) => {
    const declared = each(functions, ([takes, gives]) => ({ args: typesOf(takes), returns: typeOf(gives) }));
    return called(functions, ffi.dlopen(library, declared).symbols);
  };
  // A buffer's memory is freed by a function of address and context: munmap is one, where the context is the length.
  const unmap = { munmap: { args: typesOf('ll'), returns: typeOf('i') } };
  const { ptr: free } = ffi.dlopen(LIBC, unmap).symbols['munmap'] as { readonly ptr: number };
  return {
    open,
    addressOf: (view) => ffi.ptr(view),
    bufferAt: (address, bytes) => ffi.toArrayBuffer(address, 0, bytes),
    mapped: (address, bytes) => ({ buffer: ffi.toArrayBuffer(address, 0, bytes, bytes, free), unmaps: true }),
  };
}

/** By this name musl knows itself, too. */
export const LIBC = 'libc.so.6';

// ---- Deno ----------------------------------------------------------------------------------------------------------

interface Pointer {
  readonly pointer: never;
}
interface DenoFfi {
  dlopen(library: string, functions: object): { readonly symbols: Record<string, unknown> };
  readonly UnsafePointer: {
    of(view: Uint8Array): Pointer;
    value(pointer: Pointer): bigint;
    create(address: bigint): Pointer;
  };
  readonly UnsafePointerView: { getArrayBuffer(pointer: Pointer, bytes: number): ArrayBuffer };
}
declare const Deno: DenoFfi;

function onDeno(): Foreign {
  const { UnsafePointer, UnsafePointerView } = Deno;
  const bufferAt = (address: number, bytes: number): ArrayBuffer =>
    UnsafePointerView.getArrayBuffer(UnsafePointer.create(BigInt(address)), bytes);
  return {
    open: (library, functions) => {
      const declared = each(functions, ([takes, gives]) => ({ parameters: typesOf(takes), result: typeOf(gives) }));
      return called(functions, Deno.dlopen(library, declared).symbols as never);
    },
    addressOf: (view) => Number(UnsafePointer.value(UnsafePointer.of(view))),
    bufferAt,
    mapped: (address, bytes) => ({ buffer: bufferAt(address, bytes), unmaps: false }),
  };
}
