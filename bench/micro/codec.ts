// Codecs side by side, without threads: `node dist/bench/micro/codec.js [milliseconds per sample] [filter]`.
// Each contender writes the value into shared memory and reads it back. Rounds are interleaved and short, so that a slow
// moment of the machine hits everyone; the table shows the lower quartile of each, which other work on the machine moves
// least, and its ratio to the packed codec.
import { deserialize, serialize } from 'node:v8';
import { json } from '../../src/codec/json.ts';
import { PackedDecoder, PackedEncoder } from '../../src/codec/packed.ts';
import { viewsOf } from '../../src/memory/region.ts';

const buffer = new SharedArrayBuffer(16 << 20);
const memory = viewsOf(buffer);
const LIMIT = buffer.byteLength - 64;

function event(i: number): object {
  const url = `https://api.example.com/repos/person${i}/project`;
  return {
    id: `2489${i}`,
    type: 'PushEvent',
    actor: {
      id: 665991 + i,
      login: 'person',
      url: `https://api.example.com/users/person${i}`,
      avatar: `${url}/avatar?`,
    },
    repo: { id: 28688495 + i, name: 'person/project', url },
    payload: {
      push: 536863970 + i,
      size: 1,
      ref: 'refs/heads/master',
      head: '6d4f6b1b1c1e9a4e0a5d2e5b5c7a9c9e8d7f6a5b',
      before: '4d2b3c1a0f9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c',
      commits: [
        {
          sha: '6d4f6b1b1c1e9a4e0a5d2e5b5c7a9c9e8d7f6a5b',
          author: { email: 'person@example.com', name: 'A. Person' },
          message: `Fix the build and update the documentation for the ${i}th time`,
          distinct: true,
          url: `${url}/commits/6d4f6b1b1c1e9a4e0a5d2e5b5c7a9c9e8d7f6a5b`,
        },
      ],
    },
    public: true,
    createdAt: `2015-01-01T15:00:0${i % 10}Z`,
    org: { id: 1234 + i, login: 'some-org', url: `https://api.example.com/orgs/some-org/${i}` },
  };
}

const values: Record<string, unknown> = {
  request118: {
    id: '8f14e45f',
    method: 'user.get',
    args: [42, true, 'en-US'],
    ts: 1732150000123,
    meta: { trace: 'a1b2c3d4', pri: 5 },
  },
  object500: {
    id: 123456,
    type: 'order.created',
    time: '2024-11-21T02:07:33.123Z',
    customer: {
      id: 98765,
      name: 'Jane Q. Doe',
      email: 'jane.doe@example.com',
      vip: true,
      tags: ['gold', 'news', 'eu'],
    },
    items: [
      { sku: 'AB-1001', qty: 2, price: 19.99 },
      { sku: 'CD-2002', qty: 1, price: 249.5 },
      { sku: 'EF-3003', qty: 5, price: 3.75 },
    ],
    shipping: { street: '123 Main Street', city: 'Springfield', zip: '12345', country: 'US', geo: [40.7128, -74.006] },
    total: 308.23,
    currency: 'USD',
    notes: null,
    ok: true,
    score: 0.875,
    flags: [1, 2, 3, 4],
  },
  document10k: Array.from({ length: 10 }, (_, i) => event(i)),
  integers1000: Array.from({ length: 1000 }, (_, i) => (i * 17) % 1013),
  doubles1000: Array.from({ length: 1000 }, (_, i) => Math.sin(i) * 1000),
  rich: {
    map: new Map<unknown, unknown>([
      ['a', 1],
      ['b', { x: 1 }],
      [3, 'three'],
    ]),
    set: new Set<unknown>([1, 2, 3, 'x']),
    date: new Date(1732150000123),
    big: 12345678901234567890n,
    bytes: new Uint8Array(64).fill(7),
    floats: new Float64Array([1, 2, 3, 4]),
    re: /ab+c/gi,
    absent: undefined,
  },
  bytes64k: new Uint8Array(65536).fill(3),
  text11: 'hello world',
  text14k: 'The quick brown fox jumps over it. '.repeat(410),
  again14k: 'The quick brown fox jumps over it. '.repeat(410),
  again3m: 'The quick brown fox jumps over it. '.repeat(104_858),
  textWide1k: 'λόγος και έργο 漢字 '.repeat(60),
};

type Run = (value: unknown) => unknown;

/** Texts are compared as if each were new, save for the row that says it comes again. */
function contenders(name: string): Record<string, Run> {
  const options = name.startsWith('again') ? {} : { knownTexts: 0 };
  const encoder = new PackedEncoder(options);
  const decoder = new PackedDecoder(options);
  const jsonEncoder = json.createEncoder();
  const jsonDecoder = json.createDecoder();
  let length = 0;
  const write = (value: unknown): void => {
    length = encoder.encodeInto(value, memory, 64, LIMIT, true);
  };
  const read = (): unknown => decoder.decode(memory, 64, length);
  for (let i = 0; i < 3; i++) {
    write(values[name]);
    read();
  }
  return {
    'packed write': write,
    'packed read': read,
    packed: (value) => decoder.decode(memory, 64, encoder.encodeInto(value, memory, 64, LIMIT, true)),
    json: (value) => jsonDecoder.decode(memory, 64, jsonEncoder.encodeInto(value, memory, 64, LIMIT, true)),
    structuredClone: (value) => structuredClone(value),
    'v8.serialize': (value) => {
      const bytes = serialize(value);
      memory.bytes.set(bytes, 64);
      return deserialize(memory.bytes.subarray(64, 64 + bytes.length));
    },
  };
}

let sink: unknown;

function time(run: Run, value: unknown, count: number): number {
  const before = performance.now();
  for (let i = 0; i < count; i++) sink = run(value);
  return ((performance.now() - before) * 1e6) / count;
}

function quartile(samples: number[]): number {
  return samples.sort((a, b) => a - b)[samples.length >> 2]!;
}

const sampleMs = Number(process.argv[2] ?? 3);
const filter = new RegExp(process.argv[3] ?? '.');
const ROUNDS = 21;
const WARM_MS = 150;

for (const [name, value] of Object.entries(values)) {
  if (!filter.test(name)) continue;
  const runs = Object.entries(contenders(name)).filter(([contender]) => {
    const carries = contender !== 'json' || !['rich', 'bytes64k'].includes(name);
    return carries && !(contender === 'v8.serialize' && 'Deno' in globalThis);
  });
  // On a busy machine the compiler threads take their time: warm up for long, measure in short pieces.
  const counts = runs.map(([, run]) => {
    let spent = 0;
    for (const until = performance.now() + WARM_MS; performance.now() < until; ) spent = time(run, value, 50);
    return Math.max(3, Math.ceil((sampleMs * 1e6) / spent));
  });
  const samples: number[][] = runs.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, [, run]] of runs.entries()) samples[i]!.push(time(run, value, counts[i]!));
  }
  const times = samples.map(quartile);
  const base = times[runs.findIndex(([contender]) => contender === 'packed')]!;
  const cells = runs.map(([contender], i) => {
    const ratio = contender.startsWith('packed') ? '' : ` (${(times[i]! / base).toFixed(1)}x)`;
    return `${contender} ${times[i]!.toFixed(0)}${ratio}`;
  });
  console.log(`${name.padEnd(14)} ${cells.join('  ')}`);
}
if (sink === contenders) console.log(sink);
