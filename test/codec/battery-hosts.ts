// The battery's cases about objects of the platform: what the native path carries, what needs a browser, what is moved.
import { check, type Fact } from './fact.ts';

const CESU_HIGH = [0xed, 0xa0, 0x80];
const CESU_LOW = [0xed, 0xb0, 0x80];
const BLOBS: readonly (readonly [name: string, bytes: readonly number[], type: string])[] = [
  ['of text with a type', [0x66, 0x6f, 0x6f], 'text/x-bar'],
  ['of an unpaired high surrogate', CESU_HIGH, ''],
  ['of an unpaired low surrogate', CESU_LOW, ''],
  ['of paired surrogates', [...CESU_HIGH, ...CESU_LOW], ''],
  ['that is empty', [], ''],
  ['of a NUL character', [0], ''],
];
const blob = (index: number): Blob => new Blob([new Uint8Array(BLOBS[index]![1])], { type: BLOBS[index]![2] });

async function sameBlob(copy: Blob, original: Blob): Promise<void> {
  check(copy instanceof Blob && copy !== original, 'it is another Blob');
  check(copy.size === original.size && copy.type === original.type, 'size and type are the same');
  const [a, b] = [await copy.text(), await original.text()];
  check(a === b, 'the content is the same');
}

function blobFacts(): readonly Fact[] {
  type List = readonly Blob[];
  const one = BLOBS.map(([name], i): Fact => ({ name: `a Blob ${name}`, put: () => blob(i), also: sameBlob }));
  const listed = [...BLOBS.map((_, i) => [i]), [0, 4]].map(
    (which): Fact => ({
      name: `an array of ${which.map((i) => `a Blob ${BLOBS[i]![0]}`).join(' and ')}`,
      put: () => which.map(blob),
      also: async (copy: List, original: List) => {
        for (let i = 0; i < which.length; i++) await sameBlob(copy[i]!, original[i]!);
      },
    }),
  );
  const named = BLOBS.map(
    ([name], i): Fact => ({
      name: `an object with a Blob ${name}`,
      put: () => ({ x: blob(i) }),
      also: (copy: { x: Blob }, original: { x: Blob }) => sameBlob(copy.x, original.x),
    }),
  );
  return [...one, ...listed, ...named];
}

function fileLost(): string | undefined {
  if (typeof File === 'undefined') return 'this runtime has no File';
  const copy: unknown = structuredClone(new File(['a'], 'n'));
  return copy instanceof File ? undefined : "this runtime's own structuredClone turns a File into a Blob";
}

const fileFact: Fact = {
  name: 'a File with name, type and time',
  put: () => new File(['foo'], 'bar', { type: 'text/x-bar', lastModified: 42 }),
  missing: fileLost,
  also: async (copy: File, original: File) => {
    check(copy.name === 'bar' && copy.lastModified === 42, 'name and time are the same');
    await sameBlob(copy, original);
  },
};

const DOCUMENT = 'needs a document, which no server runtime has; the native path would carry it';
const browserFacts: readonly Fact[] = [
  ...['a FileList', 'an array of a FileList', 'an object with a FileList'],
  ...['transparent', 'coloured'].flatMap((colour) =>
    ['ImageData', 'ImageBitmap'].flatMap((what) =>
      ['', 'an array of ', 'an object with '].map((w) => `${w}${colour} ${what}`),
    ),
  ),
].map((name) => ({ name, put: () => undefined, excluded: DOCUMENT }));

const TRANSFER = "transfer lists are the port's, which moves such objects through the native port in order";
const transferFacts: readonly Fact[] = [
  'an ArrayBuffer is transferred',
  'a MessagePort is transferred',
  'a detached ArrayBuffer cannot be transferred',
  'a detached MessagePort cannot be transferred',
  'an object that cannot be transferred fails in a transfer list',
  'a MessagePort arrives while its class is not on the global object',
  'an object of a derived class arrives as its closest transferable class',
].map((name) => ({ name, put: () => undefined, excluded: TRANSFER }));

function fails(value: () => unknown): boolean {
  try {
    structuredClone(value());
    return false;
  } catch {
    return true;
  }
}

const platformFacts: readonly Fact[] = [
  {
    name: 'an object of the platform that cannot be serialized',
    put: () => new Response(),
    throws: 'DataCloneError',
    missing: () =>
      fails(() => new Response()) ? undefined : "this runtime's own structuredClone makes {} of a Response",
  },
  {
    name: 'a Blob while its class is not on the global object',
    put: () => new Blob(),
    excluded:
      'the suites leave the global object alone; the native path carries a Blob, without our looking at globals',
  },
  {
    name: 'an object of a class derived from File',
    put: () => new (class Paper extends File {})([], ''),
    missing: fileLost,
    also: (copy: File) => check(Object.getPrototypeOf(copy) === File.prototype, 'the copy is a plain File'),
  },
];

export const HOST_FACTS: readonly Fact[] = [
  ...blobFacts(),
  fileFact,
  ...browserFacts,
  ...platformFacts,
  ...transferFacts,
];
