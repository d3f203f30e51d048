// The kinds of values of a browser, for the pages that send them: how one is made, and what can be told of it where it has come.
import { within } from './checks.ts';

export interface Kind {
  readonly make: () => unknown;
  /** It can be moved only, not copied. */
  readonly moves?: boolean;
  /** An engine may lack it. */
  readonly needs?: string;
}
/** What the library of types does not know yet. */
const newer = globalThis as unknown as {
  readonly Float16Array: new (values: number[]) => object;
  readonly QuotaExceededError: new (message: string, options: object) => DOMException;
  readonly Temporal: { readonly Now: { instant(): object } };
  readonly ArrayBuffer: new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer;
};
const WASM = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
export const memory = (): SharedArrayBuffer => new SharedArrayBuffer(8);
const image = (): ImageData => new ImageData(new Uint8ClampedArray(64).fill(7), 4, 4);

/** Firefox takes none. */
const imageSettings = ((): boolean => {
  try {
    return new ImageData(1, 1, { colorSpace: 'srgb' }).width === 1;
  } catch {
    return false;
  }
})();
const frame = (): object =>
  new VideoFrame(new Uint8Array(64), { format: 'RGBA', codedWidth: 4, codedHeight: 4, timestamp: 0 } as never);
const sound = (): object =>
  new AudioData({
    ...{ format: 'u8', sampleRate: 8000, numberOfFrames: 4, numberOfChannels: 1, timestamp: 0 },
    data: new Uint8Array(4),
  } as never);

/** Two of them, as a field for files has them. */
function files(): FileList {
  const dropped = new DataTransfer();
  for (const name of ['a', 'b']) dropped.items.add(new File([name], name));
  return dropped.files;
}

/** What the packed codec writes into the ring. */
export const IN_RING: Readonly<Record<string, Kind>> = {
  object: { make: () => ({ a: 1, b: [true, null, undefined, -0, Number.NaN], c: { d: 'žluť' } }) },
  Map: {
    make: () =>
      new Map<unknown, unknown>([
        [1, { a: 2 }],
        ['k', new Set([1])],
      ]),
  },
  Set: { make: () => new Set([1, 'a']) },
  Date: { make: () => new Date(5) },
  RegExp: { make: () => /a/gi },
  BigInt: { make: () => 12345678901234567890n },
  Boolean: { make: () => Object(true) },
  RangeError: { make: () => new RangeError('e', { cause: 1 }) },
  ArrayBuffer: { make: () => new Uint8Array([1, 2, 3]).buffer },
  Uint8Array: { make: () => new Uint8Array([1, 2, 3]) },
  Float64Array: { make: () => new Float64Array([1.5, -0]) },
  BigInt64Array: { make: () => new BigInt64Array([1n, -1n]) },
  Float16Array: { make: () => new newer.Float16Array([1.5]), needs: 'Float16Array' },
  DataView: { make: () => new DataView(new ArrayBuffer(8), 2) },
  'resizable ArrayBuffer': { make: () => new newer.ArrayBuffer(8, { maxByteLength: 16 }) },
};
/** What only the native clone carries, beside the ring. */
export const BESIDE: Readonly<Record<string, Kind>> = {
  SharedArrayBuffer: { make: memory },
  'Uint8Array over shared memory': { make: () => new Uint8Array(memory()) },
  'WebAssembly.Module': { make: () => new WebAssembly.Module(WASM) },
  'WebAssembly.Memory, shared': { make: () => new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }) },
  'growable SharedArrayBuffer': {
    make: () => new (SharedArrayBuffer as unknown as typeof newer.ArrayBuffer)(8, { maxByteLength: 16 }),
  },
  DOMException: { make: () => new DOMException('m', 'AbortError') },
  QuotaExceededError: {
    make: () => new newer.QuotaExceededError('m', { quota: 1, requested: 2 }),
    needs: 'QuotaExceededError',
  },
  ImageData: { make: image },
  ...(imageSettings && {
    'ImageData of another color space': { make: () => new ImageData(2, 2, { colorSpace: 'display-p3' }) },
    'ImageData of floats': { make: () => new ImageData(2, 2, { pixelFormat: 'rgba-float16' } as never) },
  }),
  VideoFrame: { make: frame, needs: 'VideoFrame' },
  AudioData: { make: sound, needs: 'AudioData' },
  DOMRect: { make: () => new DOMRect(1, 2, 3, 4) },
  DOMPoint: { make: () => new DOMPoint(1, 2) },
  DOMMatrix: { make: () => new DOMMatrix([1, 2, 3, 4, 5, 6]) },
  DOMQuad: { make: () => new DOMQuad(new DOMPoint(1, 2)) },
  FileSystemDirectoryHandle: { make: () => navigator.storage.getDirectory(), needs: 'FileSystemDirectoryHandle' },
  FileSystemFileHandle: {
    make: async () => (await navigator.storage.getDirectory()).getFileHandle('millrace', { create: true }),
    needs: 'FileSystemFileHandle',
  },
  RTCCertificate: {
    make: () => RTCPeerConnection.generateCertificate({ name: 'ECDSA', namedCurve: 'P-256' } as EcKeyAlgorithm),
    needs: 'RTCPeerConnection',
  },
  File: { make: () => new File(['x'], 'of', { type: 'text/plain', lastModified: 5 }) },
  FileList: { make: files },
  CryptoKey: {
    make: () => crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['sign']),
  },
  'Blob in an object': { make: () => ({ a: 1, b: [new Blob(['x'])] }) },
  'ImageData in a Map': { make: () => new Map([['i', image()]]) },
};
export const MOVED: Readonly<Record<string, Kind>> = {
  ArrayBuffer: { make: () => new Uint8Array([1, 2, 3]).buffer, moves: true },
  ImageBitmap: { make: () => createImageBitmap(image()), moves: true },
  OffscreenCanvas: { make: () => new OffscreenCanvas(4, 4), moves: true },
  ReadableStream: { make: () => new ReadableStream({ start: (it) => it.close() }), moves: true },
  WritableStream: { make: () => new WritableStream(), moves: true },
  TransformStream: { make: () => new TransformStream(), moves: true },
  VideoFrame: { make: frame, moves: true, needs: 'VideoFrame' },
  AudioData: { make: sound, moves: true, needs: 'AudioData' },
  RTCDataChannel: {
    make: () => new RTCPeerConnection().createDataChannel('d'),
    moves: true,
    needs: 'RTCDataChannel',
  },
};
/** What most browsers refuse: some take FormData. */
export const REFUSED: Readonly<Record<string, Kind>> = {
  function: { make: () => () => {} },
  'function in an object': { make: () => ({ a: { b: () => 1 } }) },
  symbol: { make: () => Symbol('s') },
  element: { make: () => document.body },
  canvas: { make: () => document.createElement('canvas') },
  NodeList: { make: () => document.querySelectorAll('p') },
  window: { make: () => window },
  WeakMap: { make: () => new WeakMap() },
  'Promise in an object': { make: () => ({ a: Promise.resolve() }) },
  Event: { make: () => new Event('x') },
  AbortSignal: { make: () => new AbortController().signal },
  Request: { make: () => new Request('/x') },
  Headers: { make: () => new Headers() },
  URL: { make: () => new URL('http://a/') },
  FormData: { make: () => new FormData() },
  TextDecoder: { make: () => new TextDecoder() },
  'Intl.NumberFormat': { make: () => new Intl.NumberFormat() },
  'Intl.DateTimeFormat': { make: () => new Intl.DateTimeFormat() },
  'WebAssembly.Instance': { make: () => new WebAssembly.Instance(new WebAssembly.Module(WASM)) },
  'WebAssembly.Table': { make: () => new WebAssembly.Table({ initial: 1, element: 'anyfunc' }) },
  'WebAssembly.Memory that is not shared': { make: () => new WebAssembly.Memory({ initial: 1 }) },
  'WebAssembly.Global': { make: () => new WebAssembly.Global({ value: 'i32' }, 1) },
  WeakRef: { make: () => new WeakRef({}) },
  FinalizationRegistry: { make: () => new FinalizationRegistry(() => {}) },
  'array iterator': { make: () => [1].values() },
  generator: { make: () => (function* () {})() },
  'Symbol object': { make: () => Object(Symbol('s')) },
  'Temporal.Instant': { make: () => newer.Temporal.Now.instant(), needs: 'Temporal' },
  Response: { make: () => new Response('x') },
  AudioBuffer: { make: () => new AudioBuffer({ length: 4, sampleRate: 8000 }) },
  Worker: { make: () => new Worker(URL.createObjectURL(new Blob(['']))) },
  BroadcastChannel: { make: () => new BroadcastChannel('b') },
  IDBKeyRange: { make: () => IDBKeyRange.only(1) },
  Path2D: { make: () => new Path2D() },
  DOMRectList: { make: () => document.documentElement.getClientRects() },
  Location: { make: () => location },
  AbortController: { make: () => new AbortController() },
  'ReadableStream that is not transferred': { make: () => new ReadableStream() },
  'OffscreenCanvas that is not transferred': { make: () => new OffscreenCanvas(4, 4) },
  'MessagePort that is not transferred': { make: () => new MessageChannel().port1 },
};

/** What kind of value it is, and as much of what is in it as can be told. */
export function describe(value: unknown): string {
  const tag = Object.prototype.toString.call(value);
  if (typeof value !== 'object' || value === null) return `${tag} ${String(value)}`;
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer)
    return `${tag} ${new Uint8Array(value).join()} ${(value as { maxByteLength?: number }).maxByteLength}`;
  if (ArrayBuffer.isView(value))
    return `${tag} ${value.byteOffset} ${describe(value.buffer)} ${Array.from(value as never).map(String)}`;
  if (value instanceof Map || value instanceof Set) return `${tag} [${[...value].map(describe)}]`;
  if (value instanceof Error || value instanceof DOMException)
    return `${tag} ${value.name} ${value.message} ${String((value as Error).cause)} ${(value as { quota?: number }).quota}`;
  if (value instanceof Date || value instanceof RegExp || value instanceof Boolean) return `${tag} ${String(value)}`;
  if (value instanceof Blob) return `${tag} ${value.size} ${(value as File).name}`;
  if (typeof FileList === 'function' && value instanceof FileList) return `${tag} [${[...value].map(describe)}]`;
  if (value instanceof CryptoKey) return `${tag} ${value.type} ${JSON.stringify([value.algorithm, value.usages])}`;
  if (value instanceof ImageData)
    return `${tag} ${value.width} ${value.colorSpace} ${value.data.constructor.name} ${value.data.join()}`;
  if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
    return `${tag} {${Object.entries(value).map(([name, it]) => `${name}: ${describe(it)}`)}}`;
  return `${tag} ${JSON.stringify(value)}`;
}

/** Of those beside the ring what the codec takes apart in browsers. */
export const IN_PARTS: readonly string[] = [
  'DOMException',
  'QuotaExceededError',
  'ImageData of another color space',
  'ImageData of floats',
  'ImageData',
  'ImageData in a Map',
  'DOMRect',
  'DOMPoint',
  'DOMMatrix',
  'DOMQuad',
];
/** What only the native clone carries, to nobody who blocks. */
export const ONLY_NATIVELY: readonly (readonly [name: string, kind: Kind])[] = [
  ...Object.entries(BESIDE).filter(([name]) => !IN_PARTS.includes(name)),
  ...Object.entries(MOVED)
    .filter(([name]) => name !== 'ArrayBuffer')
    .map(([name, kind]) => [`moved ${name}`, kind] as const),
];
/** Whether this engine has it. */
export const isHere = (kind: Kind | undefined): kind is Kind =>
  kind !== undefined && (kind.needs === undefined || kind.needs in globalThis);

/** What a native worker's event loop sends back. */
export function nativeEcho(): (value: unknown, moved: unknown[]) => Promise<string> {
  const source =
    'onmessage = ({ data: [value, moves] }) => { try { postMessage([value], moves ? [value] : []) } catch (e) { postMessage(e.name) } };' +
    'onmessageerror = () => postMessage("messageerror");';
  const worker = new Worker(URL.createObjectURL(new Blob([source])));
  return async (value, moved) => {
    const answer = new Promise<string>((resolve) => {
      worker.onmessage = ({ data }) => resolve(typeof data === 'string' ? data : describe(data[0]));
      worker.onmessageerror = () => resolve('messageerror');
    });
    try {
      worker.postMessage([value, moved.length > 0], moved as Transferable[]);
    } catch (error) {
      // WebKit refuses a port that is not moved so, where the standard and this library have a DataCloneError.
      const { name } = error as Error;
      return name === 'TypeError' ? 'DataCloneError' : name;
    }
    return within('the native answer', answer);
  };
}
