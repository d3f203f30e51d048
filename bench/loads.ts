// Payloads, and how their consumption is proved. A load is a pool of messages, the same in both threads; the sender
// goes round the pool, the receiver adds up what it read, and both sums must agree.

export type Form = 'bytes' | 'string' | 'object';

/** Enough to make the same load in another thread. */
export interface LoadSpec {
  readonly form: Form;
  /** Bytes or characters; for objects the name of the value. */
  readonly size: number;
  readonly value?: ValueName;
  /** 'ends': first and last byte of each message. 'lines': a byte of each 64-byte line. */
  readonly read?: 'ends' | 'lines';
  /** 1: the very same message again and again; the default rotates through enough that nobody's batch sees two. */
  readonly distinct?: number;
  /** No message is ever sent twice: the sender makes a new pool before each round. */
  readonly fresh?: boolean;
}

export type ValueName = 'req118' | 'obj500' | 'obj757' | 'doc10k' | 'nums1000' | 'floats1000' | 'rich' | 'text';

export interface Load {
  readonly spec: LoadSpec;
  readonly items: readonly unknown[];
  /** items.length - 1; the length is a power of two. */
  readonly mask: number;
  readonly sizeBytes: number;
  /** Distance between the bytes that the receiver reads. */
  readonly stride: number;
  /** What one received message adds to the sum. */
  weigh(value: unknown): number;
}

/** What one end saw. */
export interface Tally {
  readonly count: number;
  readonly sum: number;
}

const OBJECTS = 1024;
const TEXTS = 64;
const BLOCKS = 16;

export function makeLoad(spec: LoadSpec): Load {
  const distinct = spec.distinct ?? (spec.form === 'object' ? OBJECTS : spec.form === 'string' ? TEXTS : BLOCKS);
  // A pool of large messages must not become a benchmark of the cache or of the page fault handler.
  const bounded = spec.form === 'object' ? boundedObjects(spec) : Math.max(1, Math.floor((8 << 20) / spec.size));
  const length = 2 ** Math.floor(Math.log2(Math.max(1, Math.min(distinct, bounded))));
  const items: unknown[] = [];
  for (let i = 0; i < length; i++) items.push(makeItem(spec, i));
  const stride = spec.read === 'lines' ? 64 : Math.max(1, spec.size - 1);
  return {
    spec,
    items,
    mask: length - 1,
    sizeBytes: spec.form === 'object' ? jsonBytes(items[0]) : spec.size,
    stride,
    weigh: spec.form === 'bytes' ? bytesWeigher(stride) : spec.form === 'string' ? weighString : weighObject,
  };
}

/** Messages of a fresh load in one round: a power of two, about 16 MiB in all. */
export function freshCount(spec: LoadSpec): number {
  return 2 ** Math.floor(Math.log2(Math.max(4, Math.min(4096, (16 << 20) / spec.size))));
}

/** The same load with a pool of `count` messages that nobody has seen. `batch` numbers the pools. */
export function freshLoad(load: Load, count: number, batch: number): Load {
  const items: unknown[] = [];
  for (let i = 0; i < count; i++) items.push(makeItem(load.spec, batch * count + i));
  return { ...load, items, mask: count - 1 };
}

/** The tally that a receiver of the first `count` messages must report. */
export function expected(load: Load, count: number): Tally {
  let whole = 0;
  for (const item of load.items) whole = (whole + load.weigh(item)) | 0;
  let sum = Math.imul(whole, Math.floor(count / load.items.length));
  for (let i = 0; i < count % load.items.length; i++) sum = (sum + load.weigh(load.items[i])) | 0;
  return { count, sum };
}

/** Reads a message in place: every `stride`-th byte between `offset` and `offset + length`. */
export function weighBytes(bytes: Uint8Array, offset: number, length: number, stride: number): number {
  let sum = length;
  for (let i = offset, end = offset + length; i < end; i += stride) sum += bytes[i]!;
  return sum;
}

function weighString(value: unknown): number {
  const text = value as string;
  return text.length + text.charCodeAt(0) + text.charCodeAt(text.length - 1);
}

function weighObject(value: unknown): number {
  return (value as { id: number }).id;
}

function bytesWeigher(stride: number): (value: unknown) => number {
  return (value) => {
    const bytes = value as Uint8Array;
    return weighBytes(bytes, 0, bytes.length, stride);
  };
}

/** A sum over everything in a value, so that a lost or changed field shows. For checks, not for the timed loop. */
export function digest(value: unknown): number {
  if (typeof value === 'number') return Math.imul(Math.trunc(value * 8) | 0, 31) + 7;
  if (typeof value === 'string') {
    let sum = value.length;
    for (let i = 0; i < value.length; i++) sum = (Math.imul(sum, 33) + value.charCodeAt(i)) | 0;
    return sum;
  }
  if (value === null || value === undefined) return value === null ? 3 : 5;
  if (typeof value === 'boolean') return value ? 11 : 13;
  if (typeof value === 'bigint') return digest(value.toString());
  if (value instanceof Date) return digest(value.getTime() % 1e9);
  if (value instanceof Map) return digest([...value]);
  if (value instanceof Set) return digest([...value]);
  if (ArrayBuffer.isView(value)) return digest(Array.from(value as Uint8Array));
  let sum = 17;
  for (const [key, part] of Object.entries(value)) sum = (Math.imul(sum, 37) + digest(key) + digest(part)) | 0;
  return sum;
}

function boundedObjects(spec: LoadSpec): number {
  const size = jsonBytes(makeItem(spec, 0));
  return Math.max(64, Math.floor((4 << 20) / size));
}

function jsonBytes(value: unknown): number {
  return JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? Number(part) : part)).length;
}

function makeItem(spec: LoadSpec, i: number): unknown {
  if (spec.form === 'bytes') return makeBytes(spec.size, i);
  if (spec.form === 'string') return makeText(spec.size, i);
  if (spec.value === 'text') return { id: i, from: 'sender', text: makeText(spec.size, i) };
  return VALUES[spec.value ?? 'req118'](i);
}

function makeBytes(size: number, i: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let j = 0; j < size; j++) bytes[j] = (j * 7 + i * 13 + 1) & 255;
  return bytes;
}

/**
 * A flat one-byte string that differs from all of other seeds. Built through a decoder: concatenation would give a
 * rope, whose flattening would be timed as sending.
 */
export function makeText(size: number, seed: number): string {
  let bytes = templates.get(size);
  if (!bytes) {
    bytes = new Uint8Array(size);
    for (let j = 0; j < size; j++) bytes[j] = 97 + ((j + (j >>> 7)) % 26);
    templates.set(size, bytes);
  }
  const tag = `${seed}:`;
  const under = bytes.slice(0, tag.length);
  for (let j = 0; j < tag.length && j < size; j++) bytes[j] = tag.charCodeAt(j);
  const text = decoder.decode(bytes);
  // The same seed gives the same text, whatever was made before.
  bytes.set(under);
  return text;
}

const templates = new Map<number, Uint8Array>();
const decoder = new TextDecoder();

// Objects whose JSON has about the length in their name. `id` differs from one message of the pool to the next.
const VALUES: Record<Exclude<ValueName, 'text'>, (i: number) => unknown> = {
  req118: (i) => ({
    id: i,
    type: 'request',
    method: 'getUser',
    params: { userId: 100000 + i, fields: ['name', 'email'], verbose: false },
    ts: 1763750000000 + i,
  }),
  obj500: (i) => record(i, 180),
  obj757: (i) => record(i, 437),
  doc10k: (i) => ({
    id: i,
    title: `Document ${i}`,
    version: 3,
    parts: Array.from({ length: 40 }, (_, j) => part(i, j)),
  }),
  nums1000: (i) => ({ id: i, values: Array.from({ length: 1000 }, (_, j) => (j * 37 + i) & 0xffff) }),
  floats1000: (i) => ({ id: i, values: Array.from({ length: 1000 }, (_, j) => Math.sin(j + i) * 1000) }),
  rich: (i) => ({
    id: i,
    when: new Date(1763750000000 + i),
    tags: new Set(['a', 'b', `c${i}`]),
    index: new Map<string, unknown>([
      ['one', 1],
      ['two', { x: i }],
    ]),
    big: 12345678901234567890n + BigInt(i),
    bytes: new Uint8Array([1, 2, 3, i & 255]),
  }),
};

function record(i: number, bodyLength: number): unknown {
  return {
    id: i,
    kind: 'event',
    source: 'sensor-12',
    user: { id: 5000 + i, name: 'Ada Lovelace', email: 'ada@example.org', roles: ['admin', 'editor', 'viewer'] },
    position: { x: i * 0.5, y: i * 0.25, z: 1.5 },
    active: true,
    score: 17.25,
    tags: ['alpha', 'beta', 'gamma', 'delta'],
    body: makeText(bodyLength, i),
  };
}

function part(i: number, j: number): unknown {
  return {
    id: i * 100 + j,
    name: `part ${j} of the document`,
    price: j * 1.25,
    stock: { warehouse: 'north', count: j * 3, reserved: j },
    labels: ['new', 'sale', `l${j}`],
    note: 'A line of plain text about this part, long enough to matter.',
    size: { w: j, h: j + 1, d: j + 2 },
  };
}
