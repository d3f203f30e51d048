// A session that goes on over another line: what the one before had said of itself does not hold for the next.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { platform } from '#platform';
import { RESUME_LAST_HOLD_MS, RESUME_TELL_BYTES } from '../../limits.ts';
import { FrameWriter } from '../stream/frame-writer.ts';
import { greetingFor, greetingWords } from '../stream/greeting.ts';
import { FreshLine } from './fresh-line.ts';
import { positionFrame, RESUMES } from './heard.ts';
import type { Line, LineUser } from './line.ts';
import { ResumingStream } from './resuming-stream.ts';

const SESSION = new Uint8Array(16).fill(7);

function fakeLine(): {
  line: Line;
  user(): LineUser;
  said: Uint8Array[];
  flows: boolean[];
  holds: boolean[];
  full: boolean;
} {
  let user: LineUser | undefined;
  const fake = {
    full: false,
    said: [] as Uint8Array[],
    flows: [] as boolean[],
    holds: [] as boolean[],
    user: () => user as LineUser,
    line: {
      write: (bytes: Uint8Array) => fake.said.push(bytes.slice()) > 0 && !fake.full,
      flow: (flows: boolean) => void fake.flows.push(flows),
      connect: (its: LineUser) => {
        user = its;
      },
      hold: (held: boolean) => void fake.holds.push(held),
      destroy() {},
      end() {},
    } as unknown as Line,
  };
  return fake;
}

/** A session over one line, its greeting said. */
function session() {
  const first = fakeLine();
  const log: string[] = [];
  const stream = new ResumingStream(first.line, {
    session: SESSION,
    resumeMs: 60_000,
    parked: () => log.push('parked'),
    resumed: () => log.push('resumed'),
    over: () => log.push('over'),
    left() {},
  });
  stream.connect(
    {
      features: RESUMES,
      received() {},
      drained: () => log.push('drained'),
      closed: (reason) => log.push(reason),
      damaged: () => log.push('damaged'),
    },
    new FreshLine(first.line),
  );
  const writer = new FrameWriter({ write: (bytes) => stream.write(bytes) });
  const greeting = greetingFor({ features: RESUMES });
  writer.hello(greetingWords(greeting), new Uint8Array(0));
  writer.flush();
  stream.met({ ...greeting, resume: { session: SESSION, heard: 0 } } as never);
  /** Whether it takes more. */
  const ping = (): void => {
    writer.ping(1, 0);
    writer.flush();
  };
  return { first, stream, log, ping };
}

test('a line that takes more goes on for one that took none, and whoever waited for room has it', () => {
  const { first, stream, log, ping } = session();
  first.full = true;
  ping();
  first.user().closed('lost');
  assert.deepEqual(log, ['parked']);
  const second = fakeLine();
  stream.hello();
  stream.resume(new FreshLine(second.line), 0, 0);
  assert.equal(second.said.length, 1, 'what was not heard is said again');
  assert.deepEqual(log, ['parked', 'resumed', 'drained']);
});

test('a line that takes nothing, either, is waited for as the one before was', () => {
  const { first, stream, log, ping } = session();
  first.full = true;
  ping();
  first.user().closed('lost');
  const second = fakeLine();
  second.full = true;
  stream.hello();
  stream.resume(new FreshLine(second.line), 0, 0);
  assert.deepEqual(log, ['parked', 'resumed']);
  second.user().drained();
  assert.deepEqual(log, ['parked', 'resumed', 'drained']);
});

test('who takes nothing in tells the next line so, too', () => {
  const { first, stream } = session();
  stream.flow(false);
  assert.deepEqual(first.flows, [false]);
  first.user().closed('lost');
  const [second, third] = [fakeLine(), fakeLine()];
  stream.hello();
  stream.resume(new FreshLine(second.line), 0, 0);
  assert.deepEqual(second.flows, [false]);
  stream.flow(true);
  second.user().closed('lost');
  stream.hello();
  stream.resume(new FreshLine(third.line), 0, 0);
  assert.deepEqual([second.flows, third.flows], [[false, true], []]);
});

function helloOfPeer(): Uint8Array {
  const said: Uint8Array[] = [];
  const peer = new FrameWriter({ write: (bytes) => said.push(bytes.slice()) > 0 });
  peer.hello(greetingWords(greetingFor({ features: RESUMES })), new Uint8Array(0));
  peer.flush();
  return said[0] as Uint8Array;
}

test('last words are heard with a position behind them, whatever is said behind that', async () => {
  const { first, stream, log, ping } = session();
  first.user().received(helloOfPeer());
  ping();
  const lastAt = stream.keptBytes;
  stream.end();
  // Its own position stands behind its last words.
  assert.ok(stream.keptBytes > lastAt);
  first.user().received(positionFrame(lastAt - 8));
  assert.deepEqual(log, []);
  first.user().received(positionFrame(lastAt));
  assert.deepEqual(log, ['over']);
  await stream.lastSaid;
});

test('who has said much holds the process until the other side has told of it, also where its line can write at the very end', () => {
  const { first, stream, ping } = session();
  Object.assign(first.line, { flushSync: () => true });
  stream.hold(true);
  stream.hold(false);
  assert.equal(first.holds.at(-1), false);
  stream.hold(true);
  while (stream.keptBytes < RESUME_TELL_BYTES) ping();
  stream.hold(false);
  assert.equal(first.holds.at(-1), true);
  // What is left goes with the last moments of the process.
  first.user().received(helloOfPeer());
  first.user().received(positionFrame(stream.keptBytes - 8));
  assert.equal(first.holds.at(-1), false);
});

test('over a line that cannot write at the very end, who has said much holds the process for the rest of it, too', () => {
  const { first, stream, ping } = session();
  stream.hold(true);
  stream.hold(false);
  assert.equal(first.holds.at(-1), false);
  while (stream.keptBytes < RESUME_TELL_BYTES) ping();
  assert.equal(first.holds.at(-1), true);
  first.user().received(helloOfPeer());
  first.user().received(positionFrame(stream.keptBytes - 8));
  assert.equal(first.holds.at(-1), true);
});

test('last words are waited for from each new line on: the one before may have brought some of them', async () => {
  const { later } = platform;
  const { now } = performance;
  let nowMs = 0;
  let due: { atMs: number; task: () => void }[] = [];
  performance.now = () => nowMs;
  platform.later = (task, ms) => void due.push({ atMs: nowMs + ms, task });
  const passTo = async (ms: number): Promise<void> => {
    nowMs = ms;
    const ready = due.filter(({ atMs }) => atMs <= ms);
    due = due.filter(({ atMs }) => atMs > ms);
    for (const { task } of ready) task();
    await Promise.resolve();
  };
  try {
    const { first, stream, ping } = session();
    first.user().received(helloOfPeer());
    for (let i = 0; i < 100; i++) ping();
    stream.end();
    let said = false;
    void stream.lastSaid.then(() => {
      said = true;
    });
    nowMs = RESUME_LAST_HOLD_MS - 500;
    first.user().closed('lost');
    stream.hello();
    stream.resume(new FreshLine(fakeLine().line), 160, 0);
    await passTo(RESUME_LAST_HOLD_MS);
    assert.equal(said, false);
    await passTo(2 * RESUME_LAST_HOLD_MS - 500);
    assert.equal(said, true);
  } finally {
    platform.later = later;
    performance.now = now;
  }
});
