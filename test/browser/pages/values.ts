// What a browser clones natively arrives as it does natively, from a page to a worker's event loop and back; what the ring itself
// carries also to a worker that blocks. What it refuses is refused.
import { check, equal, ok, within } from './checks.ts';
import { next, type Stage, type Talk, talkTo } from './thread.ts';

interface Kind {
  readonly make: () => unknown;
  /** It can be moved only, not copied. */
  readonly moves?: boolean;
  /** An engine may lack it. */
  readonly needs?: string;
}
/** What the library of types does not know yet. */
const newer = globalThis as unknown as {
  readonly Float16Array: new (values: number[]) => object;
  readonly ArrayBuffer: new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer;
};
const WASM = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
const memory = (): SharedArrayBuffer => new SharedArrayBuffer(8);
const image = (): ImageData => new ImageData(new Uint8ClampedArray(64).fill(7), 4, 4);

/** What the packed codec writes into the ring. */
const IN_RING: Readonly<Record<string, Kind>> = {
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
const BESIDE: Readonly<Record<string, Kind>> = {
  SharedArrayBuffer: { make: memory },
  'Uint8Array over shared memory': { make: () => new Uint8Array(memory()) },
  'WebAssembly.Module': { make: () => new WebAssembly.Module(WASM) },
  'WebAssembly.Memory, shared': { make: () => new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }) },
  DOMException: { make: () => new DOMException('m', 'AbortError') },
  ImageData: { make: image },
  Blob: { make: () => new Blob(['hello']) },
  File: { make: () => new File(['hello'], 'f.txt') },
  FileList: { make: () => Object.assign(document.createElement('input'), { type: 'file' }).files },
  CryptoKey: { make: () => crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, ['encrypt']) },
  ImageBitmap: { make: () => createImageBitmap(image()) },
  DOMRect: { make: () => new DOMRect(1, 2, 3, 4) },
  DOMPoint: { make: () => new DOMPoint(1, 2) },
  DOMMatrix: { make: () => new DOMMatrix([1, 2, 3, 4, 5, 6]) },
  DOMQuad: { make: () => new DOMQuad(new DOMPoint(1, 2)) },
  FileSystemDirectoryHandle: { make: () => navigator.storage.getDirectory(), needs: 'FileSystemDirectoryHandle' },
  RTCCertificate: {
    make: () => RTCPeerConnection.generateCertificate({ name: 'ECDSA', namedCurve: 'P-256' } as EcKeyAlgorithm),
    needs: 'RTCPeerConnection',
  },
  'Blob in an object': { make: () => ({ a: 1, b: [new Blob(['x'])] }) },
  'ImageData in a Map': { make: () => new Map([['i', image()]]) },
};
const MOVED: Readonly<Record<string, Kind>> = {
  ArrayBuffer: { make: () => new Uint8Array([1, 2, 3]).buffer, moves: true },
  ImageBitmap: { make: () => createImageBitmap(image()), moves: true },
  OffscreenCanvas: { make: () => new OffscreenCanvas(4, 4), moves: true },
  ReadableStream: { make: () => new ReadableStream({ start: (it) => it.close() }), moves: true },
  WritableStream: { make: () => new WritableStream(), moves: true },
  TransformStream: { make: () => new TransformStream(), moves: true },
  VideoFrame: {
    make: () =>
      new VideoFrame(new Uint8Array(64), { format: 'RGBA', codedWidth: 4, codedHeight: 4, timestamp: 0 } as never),
    moves: true,
    needs: 'VideoFrame',
  },
  AudioData: {
    make: () =>
      new AudioData({
        ...{ format: 'u8', sampleRate: 8000, numberOfFrames: 4, numberOfChannels: 1, timestamp: 0 },
        data: new Uint8Array(4),
      } as never),
    moves: true,
    needs: 'AudioData',
  },
};
/** What most browsers refuse: some take FormData. */
const REFUSED: Readonly<Record<string, Kind>> = {
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
  'MessagePort that is not transferred': { make: () => new MessageChannel().port1 },
};

/** What kind of value it is, and as much of what is in it as can be told. */
function describe(value: unknown): string {
  const tag = Object.prototype.toString.call(value);
  if (typeof value !== 'object' || value === null) return `${tag} ${String(value)}`;
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer)
    return `${tag} ${new Uint8Array(value).join()} ${(value as { maxByteLength?: number }).maxByteLength}`;
  if (ArrayBuffer.isView(value))
    return `${tag} ${value.byteOffset} ${describe(value.buffer)} ${Array.from(value as never).map(String)}`;
  if (value instanceof Map || value instanceof Set) return `${tag} [${[...value].map(describe)}]`;
  if (value instanceof Error || value instanceof DOMException)
    return `${tag} ${value.name} ${value.message} ${String((value as Error).cause)}`;
  if (value instanceof Date || value instanceof RegExp || value instanceof Boolean) return `${tag} ${String(value)}`;
  if (value instanceof Blob) return `${tag} ${value.size} ${(value as File).name}`;
  if (value instanceof ImageData) return `${tag} ${value.width} ${value.data.join()}`;
  if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
    return `${tag} {${Object.entries(value).map(([name, it]) => `${name}: ${describe(it)}`)}}`;
  return `${tag} ${JSON.stringify(value)}`;
}

/** What a native worker's event loop sends back. */
function nativeEcho(): (value: unknown, moved: unknown[]) => Promise<string> {
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
const native = nativeEcho();

function echo({ port }: Stage): void {
  const p = port();
  p.onmessage = ({ data }) => {
    const [value, moves] = data as [unknown, boolean];
    try {
      p.postMessage([value], moves ? [value as never] : []);
    } catch (error) {
      p.postMessage((error as Error).name);
    }
  };
  p.onmessageerror = () => p.postMessage('messageerror');
}
async function ours({ port }: Talk, value: unknown, moved: unknown[]): Promise<string> {
  const unreadable = new Promise<string>((resolve) => {
    port.onmessageerror = () => resolve('messageerror');
  });
  try {
    port.postMessage([value, moved.length > 0], moved as never);
  } catch (error) {
    return (error as Error).name;
  }
  const answer = await Promise.race([next(port), unreadable]);
  return typeof answer === 'string' ? answer : describe((answer as unknown[])[0]);
}

for (const [group, kinds] of [
  ['', IN_RING],
  ['', BESIDE],
  ['moved ', MOVED],
  ['refused ', REFUSED],
] as const) {
  for (const [name, { make, moves, needs }] of Object.entries(kinds)) {
    if (needs !== undefined && !(needs in globalThis)) continue;
    check(`${group}${name} fares as natively, to an event loop and back`, async () => {
      const [value, same] = [await make(), await make()];
      const expected = await native(same, moves ? [same] : []);
      const talk = talkTo(echo);
      equal(await ours(talk, value, moves ? [value] : []), expected);
      // It stands in nobody's way.
      equal(await ours(talk, 'next', []), describe('next'));
    });
  }
}

for (const [name, { make, needs }] of Object.entries(IN_RING)) {
  if (needs !== undefined && !(needs in globalThis)) continue;
  check(`${name} reaches a worker that blocks`, async () => {
    const { port, thread } = talkTo(({ port, say }) => {
      const p = port();
      say('up');
      p.postMessage(p.receive());
    });
    await thread.next();
    const value = await make();
    port.postMessage(value);
    equal(describe(await next(port)), describe(value));
  });
}

/** What the codec takes apart in browsers: a worker that blocks sends it back, and it is what natively comes back. */
const IN_PARTS = ['DOMException', 'ImageData', 'ImageData in a Map', 'DOMRect', 'DOMPoint', 'DOMMatrix', 'DOMQuad'];
for (const [name, make] of [
  ...IN_PARTS.map((name) => [name, BESIDE[name]!.make] as const),
  ['DOMRectReadOnly', () => new DOMRectReadOnly(1, -0, Number.NaN, 4)] as const,
  ['DOMPointReadOnly', () => new DOMPointReadOnly(1, 2, 3, 0.5)] as const,
  ['DOMMatrixReadOnly of three dimensions', () => new DOMMatrixReadOnly().translate(1, 2, 3)] as const,
]) {
  check(`${name} reaches a worker that blocks, as natively`, async () => {
    const { port, thread } = talkTo(({ port, say }) => {
      const p = port();
      say('up');
      p.postMessage([p.receive()]);
      return p.receive();
    });
    await thread.next();
    const value = await make();
    const expected = await native(value, []);
    port.postMessage(value);
    port.postMessage('next');
    const [back] = (await next(port)) as [object];
    equal(describe(back), expected);
    equal(back.constructor, (value as object).constructor);
    equal(await thread.done(), 'next');
  });
}
check('a DOMException that a worker which blocks is sent says where it was made', async () => {
  const { port, thread } = talkTo(({ port, say }) => {
    const p = port();
    say('up');
    const { code, stack } = p.receive() as DOMException & { stack: string };
    return [code, stack];
  });
  await thread.next();
  const exception = new DOMException('m', 'AbortError');
  port.postMessage(exception);
  equal(await thread.done(), [20, (exception as { stack?: string }).stack]);
});
check('an object that only looks like one of the web’s fares as natively', async () => {
  const looks = Object.create(DOMPoint.prototype);
  const expected = await native(looks, []).catch((error) => error.name);
  equal(await ours(talkTo(echo), looks, []), expected);
});

check('moved ArrayBuffers reach a worker that blocks, and are gone here', async () => {
  const { port, thread } = talkTo(({ port, say }) => {
    const p = port();
    say('up');
    const { view, buffer } = p.receive() as { view: Uint16Array; buffer: ArrayBuffer };
    return [view.byteOffset, [...view], view.buffer === buffer, buffer.byteLength, p.receive()];
  });
  await thread.next();
  const buffer = new Uint8Array([1, 0, 2, 0, 3, 0, 4, 0]).buffer;
  const only = new ArrayBuffer(16);
  port.postMessage({ view: new Uint16Array(buffer, 2, 2), buffer }, [buffer, only] as never);
  port.postMessage('next');
  equal([buffer.byteLength, only.byteLength], [0, 0], 'left here:');
  equal(await thread.done(), [2, [2, 3], true, 8, 'next']);
});
check('a message with moved ArrayBuffers that finds no room leaves them where they are', async () => {
  const { port } = talkTo(({ rest }) => rest(50), { capacityBytes: 1024 });
  const buffer = new ArrayBuffer(256);
  let count = 0;
  while (port.trySend('x'.repeat(100))) count++;
  ok(count > 0, 'nothing went in');
  equal(port.trySend(buffer, [buffer as never]), false);
  equal(buffer.byteLength, 256);
});
check('the newest of overflow latest may be a moved ArrayBuffer, to a worker that blocks', async () => {
  const { port, thread } = talkTo(
    ({ port, say }) => {
      const p = port();
      say('up');
      return (p.receive() as ArrayBuffer).byteLength;
    },
    { overflow: 'latest' },
  );
  await thread.next();
  const buffer = new ArrayBuffer(8);
  port.postMessage(buffer, [buffer as never]);
  equal([buffer.byteLength, await thread.done()], [0, 8]);
});

/** A worker that blocks without a limit is told at once that it cannot have what only the runtime carries. */
const ONLY_NATIVELY = [
  ...Object.entries(BESIDE).filter(([name]) => !IN_PARTS.includes(name)),
  ...Object.entries(MOVED)
    .filter(([name]) => name !== 'ArrayBuffer')
    .map(([name, kind]) => [`moved ${name}`, kind] as const),
];
for (const [name, { make, moves, needs }] of ONLY_NATIVELY) {
  if (needs !== undefined && !(needs in globalThis)) continue;
  check(`a worker that blocks and is sent ${name} is told what to do`, async () => {
    const [value, same] = [await make(), await make()];
    const expected = await native(same, moves ? [same] : []);
    const { port, thread } = talkTo(async ({ port, say }) => {
      const p = port();
      say('up');
      let code = '';
      try {
        p.receive();
      } catch (error) {
        code = (error as { code: string }).code;
      }
      const fate = await p.receiveAsync().then(
        () => 'came',
        (error) => error.code,
      );
      return [code, fate, p.receive()];
    });
    await thread.next();
    try {
      port.postMessage(value, moves ? [value as never] : []);
    } catch (error) {
      equal((error as Error).name, expected);
      return;
    }
    port.postMessage('next');
    equal(await thread.done(), ['ERR_UNSUPPORTED', expected === 'messageerror' ? 'ERR_DECODE' : 'came', 'next']);
  });
}

check(
  'a worker that blocks for a while and is sent a Blob keeps its limit, and gets it from its event loop',
  async () => {
    const { port, thread } = talkTo(async ({ port, say, millrace }) => {
      const p = port();
      say('up');
      const first = p.receive({ timeoutMs: 300 });
      const second = await p.receiveAsync();
      return [first === millrace.EMPTY, second instanceof Blob, p.receive()];
    });
    await thread.next();
    port.postMessage(new Blob(['x']));
    port.postMessage('next');
    equal(await thread.done(), [true, true, 'next']);
  },
);

check('a moved MessagePort works over there', async () => {
  const { port } = talkTo(({ port }) => {
    port().onmessage = ({ ports }) => {
      const moved = ports[0] as MessagePort;
      moved.onmessage = ({ data }) => moved.postMessage(data * 2);
    };
  });
  const { port1, port2 } = new MessageChannel();
  port.postMessage(port2, [port2 as never]);
  const answer = new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
  });
  port1.postMessage(21);
  equal(await within('the answer', answer), 42);
});

check('memory that is shared stays shared', async () => {
  const { port } = talkTo(({ port }) => {
    const p = port();
    p.onmessage = ({ data }) => {
      Atomics.store(data as Int32Array, 0, 42);
      p.postMessage('stored');
    };
  });
  const words = new Int32Array(memory());
  port.postMessage(words);
  equal(await next(port), 'stored');
  equal(words[0], 42);
});

check('what was moved is gone here', async () => {
  const { port } = talkTo(echo);
  const buffer = new ArrayBuffer(8);
  port.postMessage([buffer, true], [buffer as never]);
  equal(buffer.byteLength, 0);
  const [back] = (await next(port)) as [ArrayBuffer];
  ok(back.byteLength === 8, `${back.byteLength} bytes came back`);
});
