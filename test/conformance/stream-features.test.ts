// What the engine carries for features that are not its own: SESSION and HEARD of a greeting, and frames of types 64 to 127, in and out. Played by
// hand: what each says byte by byte, when it may be said, and what becomes of one that may not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platform } from '#platform';
import { LayoutError, type MillraceError, type Port } from '../../src/index.ts';
import { STREAM_ANSWERS_MAX, STREAM_FEATURE_BYTES_MAX } from '../../src/limits.ts';
import type { StreamChannel } from '../../src/transport/stream/channel.ts';
import { type ConnectionOptions, StreamConnection } from '../../src/transport/stream/connection.ts';
import type { FeatureFrame } from '../../src/transport/stream/feature-frames.ts';
import { FrameWriter } from '../../src/transport/stream/frame-writer.ts';
import * as frames from '../../src/transport/stream/frames.ts';
import { type Greeting, greetingFor, greetingWords, type Resume } from '../../src/transport/stream/greeting.ts';
import { Random, seed } from '../kit/prng.ts';
import { chunk, HELLO, openFrame, RECORD, StreamBench, TERMS, WINDOW } from '../kit/stream-bench.ts';
import { portOver } from '../kit/stream-pair.ts';
import { Wire } from '../kit/wire.ts';

const OFFER = 0x20000;
const NEED = 4;
const SESSION = Uint8Array.from({ length: 16 }, (_, i) => i + 1);
const SESSION_WORDS = [0x04030201, 0x08070605, 0x0c0b0a09, 0x100f0e0d];
const withWords = (at: number, ...words: readonly number[]): readonly number[] =>
  HELLO.map((word, i) => (i >= at && i < at + words.length ? (words[i - at] as number) : word));

/** Frames of a feature that says all it hears. */
function heardBy(heard: unknown[], came: FeatureFrame['came'] = () => {}): readonly FeatureFrame[] {
  const hear: FeatureFrame['came'] = (words, channel) => {
    heard.push([channel?.number ?? 0, ...words]);
    came(words, channel);
  };
  return [
    { type: 64, feature: OFFER, flag: OFFER, bytesMin: 8, bytesMax: 16, came: hear },
    { type: 65, feature: NEED, bytesMax: STREAM_FEATURE_BYTES_MAX, came: hear },
    { type: 127, flag: NEED, bytesMax: 0, came: hear },
  ];
}
interface Bench {
  readonly bench: StreamBench;
  readonly heard: unknown[];
}
function withFeature(
  features: number,
  {
    theirs = features,
    came,
    ...options
  }: { theirs?: number; came?: FeatureFrame['came'] } & Partial<ConnectionOptions> = {},
): Bench {
  const heard: unknown[] = [];
  const known = { knownFeatures: NEED, knownFlags: NEED, features, featureFrames: heardBy(heard, came) };
  return { bench: new StreamBench(withWords(3, theirs), { ...known, ...options }), heard };
}
/** Two sides over a wire that know the feature. */
function agreeing(): { wire: Wire; sides: readonly [StreamConnection, StreamConnection] } {
  const wire = new Wire({ random: new Random(seed), chunkMax: 50 });
  wire.delayed = true;
  const side = (i: 0 | 1): StreamConnection => {
    const options = { initiator: i === 0, features: OFFER, featureFrames: heardBy([]) };
    return new StreamConnection(wire.ends[i], options, { opened() {}, ended() {} });
  };
  const sides = [side(0), side(1)] as const;
  wire.connect(0, sides[0]);
  wire.connect(1, sides[1]);
  while (wire.step());
  return { wire, sides };
}
function refusalOf(body: () => void): string | undefined {
  try {
    body();
    return undefined;
  } catch (error) {
    return (error as MillraceError).code;
  }
}

test('SESSION and HEARD of a greeting: as a side says them, and as the other one sees them', () => {
  const heard = 5 * 2 ** 32 + 7;
  const said: Greeting = greetingFor({ resume: { session: SESSION, heard } });
  assert.deepEqual(greetingWords(said).slice(7), [0, ...SESSION_WORDS, 7, 5]);
  assert.deepEqual(greetingWords(greetingFor({})).slice(7), [0, 0, 0, 0, 0, 0, 0]);
  const cases: readonly (readonly [readonly number[], Resume | undefined])[] = [
    [HELLO, undefined],
    [withWords(8, ...SESSION_WORDS, 7, 5), { session: SESSION, heard }],
    [withWords(8, ...SESSION_WORDS), { session: SESSION, heard: 0 }],
    [withWords(8, 0, 0, 0, 0, 7, 5), undefined],
    [withWords(8, ...SESSION_WORDS, -1, 0x1fffff), { session: SESSION, heard: Number.MAX_SAFE_INTEGER }],
    [withWords(8, ...SESSION_WORDS, 0, 0x200000), undefined],
    [withWords(8, ...SESSION_WORDS, 0, -1), undefined],
  ];
  for (const [words, resume] of cases) {
    let asked: Resume | undefined;
    const bench = new StreamBench(words, {
      initiator: false,
      answer: (peer) => {
        asked = peer.resume;
        return { resume: { session: SESSION, heard: 9 } };
      },
    });
    assert.deepEqual([bench.over, asked, bench.connection.peer?.resume], [undefined, resume, resume]);
    assert.ok((bench.heard[0] as string).endsWith(` 0 ${SESSION_WORDS.join(' ')} 9 0`), bench.heard[0]);
  }
  for (const resume of [
    { session: new Uint8Array(16), heard: 0 },
    { session: new Uint8Array(15).fill(1), heard: 0 },
    { session: SESSION, heard: -1 },
    { session: SESSION, heard: 2 ** 53 },
    { session: SESSION, heard: Number.NaN },
    { session: 'text', heard: 1 },
  ])
    assert.equal(
      refusalOf(() => new StreamBench(HELLO, { resume: resume as Resume })),
      'ERR_OPTION',
    );
});

test('a line that turns out to go on with another stream is let go of without a word, and answered by hand', async () => {
  let asked: Resume | undefined;
  const bench = new StreamBench(null, {
    initiator: false,
    answer: (peer) => {
      asked = peer.resume;
      return Promise.resolve().then(() => {
        bench.connection.closed('closed');
        return undefined;
      });
    },
  });
  bench.say(frames.HELLO, 0, ...withWords(8, ...SESSION_WORDS, 64, 0));
  for (let i = 0; i < 10; i++) await null;
  assert.deepEqual([bench.heard, bench.streamEnded, bench.greeted], [[], false, 0]);
  // As its layer says it, which has the line now.
  const written: Uint8Array[] = [];
  const writer = new FrameWriter({ write: (bytes) => written.push(bytes.slice()) > 0 });
  writer.hello(
    greetingWords(greetingFor({ resume: { session: asked?.session as Uint8Array, heard: 128 } })),
    new Uint8Array(),
  );
  writer.flush();
  const peer = new StreamBench(null);
  for (const bytes of written) peer.connection.received(bytes);
  assert.deepEqual(peer.connection.peer?.resume, { session: SESSION, heard: 128 });
});

test('a frame of a feature goes in and out, of the connection and of a channel, once both sides have agreed', () => {
  const { bench, heard } = withFeature(OFFER | NEED);
  bench.say(64, 0, 1, 2, 3, 4);
  bench.say(65, 0);
  assert.equal(bench.connection.say(65, [7, 8, 9, 10]), true);
  assert.equal(bench.connection.say(64, Int32Array.of(-1, 5)), true);
  const channel = bench.connection.open('x', { flags: OFFER });
  const port = bench.portOver(channel);
  assert.equal(
    refusalOf(() => bench.connection.say(64, [1, 2], channel)),
    'ERR_UNSUPPORTED',
    'not before it begins',
  );
  bench.say(frames.ACCEPT, channel.number, ...TERMS, OFFER, 0);
  port.cork(() => {
    port.postMessage('x');
    bench.connection.say(64, [5, 6], channel);
  });
  bench.say(64, channel.number, 3, 4);
  assert.deepEqual(heard, [[0, 1, 2, 3, 4], [0], [channel.number, 3, 4]]);
  assert.deepEqual(
    bench.heard.map((each) => (each.startsWith('4 ') ? '4' : each)),
    ['65 0: 7 8 9 10', '64 0: -1 5', `2 1: ${WINDOW} 4096 0 0 ${OFFER} "x"`, '4', '64 1: 5 6'],
    'behind what was sent before it, also inside cork',
  );
  channel.end('closed');
  assert.equal(bench.connection.say(64, [5, 6], channel), false, 'nothing follows CLOSE');
  bench.say(64, channel.number, 9, 9);
  bench.say(frames.CLOSE, channel.number, 1, 0);
  bench.say(64, channel.number, 1, 2);
  assert.deepEqual([heard.length, bench.over], [4, undefined], 'what comes for a channel that is over means nothing');
  bench.connection.close();
  assert.equal(bench.connection.say(65, []), false);
});

test('said from within a getter of a value that is being sent, it disturbs no record', () => {
  const { wire, sides } = agreeing();
  const [near, far] = sides.map((side) => side.open('x', { flags: OFFER })) as [StreamChannel, StreamChannel];
  const [a, b] = [portOver(sides[0], near), portOver(sides[1], far)] as [Port, Port];
  while (wire.step());
  const nasty = {
    get inside() {
      return sides[0].say(64, [1, 2], near);
    },
    text: 'x'.repeat(50),
  };
  a.cork(() => {
    a.postMessage('first');
    a.postMessage(nasty);
    a.postMessage('last');
  });
  while (wire.step());
  assert.deepEqual(
    [b.tryReceive(), b.tryReceive(), b.tryReceive()],
    ['first', { inside: true, text: 'x'.repeat(50) }, 'last'],
  );
});

test("a requirement of one's own may be used behind the own greeting; an offer not before both have greeted, nor while the own answer is open", async () => {
  const heard: unknown[] = [];
  const bench = new StreamBench(null, { features: NEED | OFFER, featureFrames: heardBy(heard), knownFeatures: NEED });
  assert.equal(bench.connection.say(65, [1, 2]), true);
  assert.equal(
    refusalOf(() => bench.connection.say(64, [1, 2])),
    'ERR_UNSUPPORTED',
  );
  assert.deepEqual(bench.heard, ['65 0: 1 2']);
  let decide: ((answer: object) => void) | undefined;
  const late = new StreamBench(null, {
    initiator: false,
    features: NEED,
    knownFeatures: NEED,
    featureFrames: heardBy(heard),
    answer: () => new Promise((resolve) => (decide = resolve)),
  });
  late.connection.received(chunk([frames.HELLO, 0, ...withWords(3, NEED)], [65, 0, 5, 6]));
  assert.equal(
    refusalOf(() => late.connection.say(65, [1, 2])),
    'ERR_UNSUPPORTED',
  );
  assert.deepEqual([heard, late.heard], [[], []]);
  decide?.({});
  for (let i = 0; i < 10; i++) await null;
  assert.deepEqual([heard, late.connection.say(65, [3, 4]), late.heard.at(-1)], [[[0, 5, 6]], true, '65 0: 3 4']);
});

const DAMAGE: readonly (readonly [string, (bench: StreamBench) => void, 'connection' | 'channel'])[] = [
  ['an offer that is not agreed on', (bench) => bench.say(64, 0, 1, 2), 'connection'],
  ['of the channel, not agreed on', (bench) => bench.say(64, 2, 1, 2), 'channel'],
  ['of the connection only, on a channel', (bench) => bench.say(65, 2, 1, 2), 'connection'],
  ['of channels only, on the connection', (bench) => bench.say(127, 0), 'connection'],
  ['a type that nobody knows', (bench) => bench.say(66, 0, 1, 2), 'connection'],
  ['shorter than it can be', (bench) => bench.say(64, 2), 'connection'],
  ['longer than it can be', (bench) => bench.say(64, 2, 1, 2, 3, 4, 5, 6), 'connection'],
  ['of a channel that nobody has opened', (bench) => bench.say(64, 99, 1, 2), 'connection'],
  [
    'behind the end of its channel',
    (bench) => bench.connection.received(chunk([frames.DATA, 4, ...RECORD], [frames.CLOSE, 4, 1, 0], [64, 4, 1, 2])),
    'channel',
  ],
  ['before its channel begins', (bench) => bench.connection.received(chunk(openFrame(8), [64, 8, 1, 2])), 'channel'],
];
for (const [what, say, whose] of DAMAGE) {
  test(`a frame of a feature that does not belong here (${what}) is damage of the ${whose}`, () => {
    const { bench, heard } = withFeature(NEED, { theirs: OFFER | NEED });
    bench.taken(2);
    bench.open(4, '', TERMS, OFFER);
    bench.connection.accept(bench.openings.pop() as never, { flags: OFFER });
    bench.heard.splice(0);
    say(bench);
    assert.deepEqual([heard, bench.over?.[0]], [[], whose === 'connection' ? 'lost' : undefined]);
    assert.match(bench.heard.at(-1) as string, whose === 'connection' ? /^9 0: 1$/ : /^9 [248]: 1$/);
  });
}

test('what its feature finds to be damage is, of what it was said of; what else it throws is reported', () => {
  const oops = new Error('a mistake of the program');
  const its = platform as { reportError: (error: unknown) => void };
  const before = its.reportError;
  const reported: unknown[] = [];
  its.reportError = (error) => void reported.push(error);
  try {
    let error: Error = oops;
    const { bench } = withFeature(OFFER | NEED, {
      came: () => {
        throw error;
      },
    });
    bench.open(2, '', TERMS, OFFER);
    const channel = bench.connection.accept(bench.openings.pop() as never, { flags: OFFER });
    const port = bench.portOver(channel);
    bench.connection.received(chunk([64, 0, 1, 2], [64, 2, 1, 2], [frames.INTERRUPT, 2, 7, 0]));
    assert.deepEqual([reported, port.interrupted, bench.over], [[oops, oops], 7, undefined]);
    error = new LayoutError('no such region');
    bench.say(64, 2, 1, 2);
    assert.deepEqual(
      [port.reason, bench.said, bench.over, reported.length],
      ['lost', ['no such region'], undefined, 2],
    );
    bench.say(64, 0, 1, 2);
    assert.deepEqual(bench.over, ['lost', 'no such region']);
  } finally {
    its.reportError = before;
  }
});

test('what no feature of ours says is refused before it is said', () => {
  const { bench } = withFeature(OFFER | NEED);
  const { channel } = bench.port();
  const calls: readonly (readonly [Parameters<StreamConnection['say']>, string])[] = [
    [[66, []], 'ERR_OPTION'],
    [[frames.PING, [1, 2]], 'ERR_OPTION'],
    [[200, []], 'ERR_OPTION'],
    [[64, []], 'ERR_OPTION'],
    [[64, [1]], 'ERR_OPTION'],
    [[64, [1, 2, 3]], 'ERR_OPTION'],
    [[64, new Int32Array(6)], 'ERR_OPTION'],
    [[127, []], 'ERR_UNSUPPORTED'],
    [[65, [], channel], 'ERR_UNSUPPORTED'],
    [[64, [1, 2], channel], 'ERR_UNSUPPORTED'],
  ];
  for (const [args, code] of calls)
    assert.equal(
      refusalOf(() => bench.connection.say(...args)),
      code,
      String(args[0]),
    );
  assert.deepEqual(bench.heard, []);
  const came = (): void => {};
  for (const frame of [
    { type: 63, feature: 1, bytesMax: 8, came },
    { type: 128, feature: 1, bytesMax: 8, came },
    { type: 64, bytesMax: 8, came },
    { type: 64, feature: 3, bytesMax: 8, came },
    { type: 64, feature: 0, bytesMax: 8, came },
    { type: 64, flag: 2 ** 32, bytesMax: 8, came },
    { type: 64, feature: 1, bytesMax: 12, came },
    { type: 64, feature: 1, bytesMax: STREAM_FEATURE_BYTES_MAX + 8, came },
    { type: 64, feature: 1, bytesMin: 16, bytesMax: 8, came },
  ])
    assert.equal(
      refusalOf(() => new StreamBench(HELLO, { featureFrames: [frame] })),
      'ERR_OPTION',
      JSON.stringify(frame),
    );
  const twice = heardBy([]).slice(0, 1);
  assert.equal(
    refusalOf(() => new StreamBench(HELLO, { featureFrames: [...twice, ...twice] })),
    'ERR_OPTION',
  );
});

test('what is said while the medium has enough is said, and counted: a peer that makes a feature talk and does not read is given up', () => {
  const { bench } = withFeature(NEED, { came: () => void bench.connection.say(65, new Int32Array(256)) });
  bench.full = true;
  assert.equal(bench.connection.say(65, [1, 2]), false);
  let count = 0;
  while (bench.over === undefined && count < 10_000) {
    bench.say(65, 0);
    count++;
  }
  assert.equal(bench.over?.[0], 'lost');
  assert.ok(count <= STREAM_ANSWERS_MAX / 1032 + 2, `${count}`);
  const calm = withFeature(NEED).bench;
  calm.full = true;
  for (let i = 0; i < 10_000; i++) {
    if (!calm.connection.say(65, new Int32Array(256))) calm.connection.drained();
    calm.say(65, 0);
  }
  assert.equal(calm.over, undefined);
});

test('the longest frame of a feature comes whole, however it is cut; each goes out with one write', () => {
  const heard: number[] = [];
  const writes: number[] = [];
  const wire = new Wire({ random: new Random(seed), chunkMax: 7 });
  const frame: FeatureFrame = {
    type: 100,
    feature: OFFER,
    bytesMax: STREAM_FEATURE_BYTES_MAX,
    came: (words) => void heard.push(...words),
  };
  const sides = ([0, 1] as const).map((side) => {
    const end = wire.ends[side];
    const stream = {
      ...end,
      write: (bytes: Uint8Array) => {
        writes.push(bytes.length);
        return end.write(bytes);
      },
    };
    const options = { initiator: side === 0, features: OFFER, featureFrames: [frame] };
    return new StreamConnection(stream, options, { opened() {}, ended() {} });
  });
  for (const side of [0, 1] as const) wire.connect(side, sides[side] as StreamConnection);
  writes.splice(0);
  const words = Int32Array.from({ length: STREAM_FEATURE_BYTES_MAX / 4 }, (_, i) => i * 7919);
  sides[0]?.say(100, words);
  assert.deepEqual([writes, heard], [[STREAM_FEATURE_BYTES_MAX + 8], [...words]]);
});

test('a channel whose records a feature carries elsewhere: mapped or not is said on it, and what waits goes on', () => {
  // As two processes would agree on shared memory: the opener says what it has, the other answers, and nothing else changes.
  const wire = new Wire({ random: new Random(seed), chunkMax: 50 });
  const said: string[] = [];
  const sides: StreamConnection[] = [];
  const options = (side: 0 | 1): ConnectionOptions => ({
    initiator: side === 0,
    featureFrames: [
      {
        type: 70,
        flag: OFFER,
        bytesMin: 8,
        bytesMax: 8,
        came: (words, channel) => {
          said.push(`${side} ${channel?.name} ${words.join(' ')}`);
          if (words[0] === 1) sides[side]?.say(70, [2, words[1] as number], channel);
        },
      },
    ],
  });
  for (const side of [0, 1] as const)
    sides.push(new StreamConnection(wire.ends[side], options(side), { opened() {}, ended() {} }));
  for (const side of [0, 1] as const) wire.connect(side, sides[side] as StreamConnection);
  const [near, far] = sides.map((side) => side.open('big', { flags: OFFER })) as [StreamChannel, StreamChannel];
  const [a, b] = [portOver(sides[0] as StreamConnection, near), portOver(sides[1] as StreamConnection, far)] as [
    Port,
    Port,
  ];
  a.postMessage('before');
  sides[0]?.say(70, [1, 42], near);
  a.postMessage('behind');
  assert.deepEqual(said, ['1 big 1 42', '0 big 2 42']);
  assert.deepEqual([b.tryReceive(), b.tryReceive()], ['before', 'behind']);
});
