// Bells between threads: that they are rung, that both must have one, what ends with a thread, and what is no bell.
// runtimes: node
// needs: native
// neighbours: none
import assert from 'node:assert/strict';
import { openSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { channel, type Port } from '../../src/index.ts';
import { features, wakeByBell } from '../../src/process/index.ts';
import { makeLoopBell } from '../../src/transport/process/loop-bell.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { joined } from '../kit/linked.ts';
import { descriptors, native } from '../kit/native.ts';
import { type Role, startThread, type TestThread } from '../kit/thread.ts';
import { until, within } from '../kit/watchdog.ts';

const BY_BELL = inOneFile(new URL('../kit/by-bell.js', import.meta.url)).href;

/** How often each was rung that nobody has read since: bells, and for a moment what wakes the loops of libuv. */
function rings(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const fd of descriptors()) {
    try {
      const info = /eventfd-count:\s*([\da-f]+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'));
      if (info !== null) counts.set(fd, Number.parseInt(info[1]!, 16));
    } catch {
      // The one that has read the list.
    }
  }
  return counts;
}

const TRIPS = 20;

interface Cast {
  /** What makes the thread one with a bell, before its channel is opened; none: it has no bell. */
  readonly first?: string;
  /** The same, when it is told to. */
  readonly later?: string;
  readonly how?: 'terminate' | 'exit' | 'crash' | 'return';
  readonly answers?: boolean;
}
const echo: Role = async (stage) => {
  const { first, later, answers = true } = stage.data as Cast;
  if (first !== undefined) await stage.load(first);
  const port = stage.port();
  if (answers) port.on('message', (value) => port.postMessage(value));
  stage.say('ready');
  if (later !== undefined) {
    await stage.hear();
    await stage.load(later);
    stage.say('has a bell');
  }
  const how = await stage.hear();
  if (how === 'exit') stage.exit();
  if (how === 'crash') stage.crash();
  if (how === 'blocks') {
    stage.say('blocks');
    stage.pause(1_000_000);
  }
  port.close();
};

async function begin(cast: Cast): Promise<{ port: Port; thread: TestThread; linked: () => boolean }> {
  const { port, remote } = channel({ spinMicroseconds: 0 });
  const thread = startThread(echo, { data: cast, remote, options: { spinMicroseconds: 0 } });
  assert.equal(await thread.next(), 'ready');
  return { port, thread, linked: () => joined(remote) };
}
async function trips(port: Port, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    port.postMessage(i);
    assert.equal(await within('the answer', port.receiveAsync()), i);
  }
}
/** Whether round trips ring bells, where nobody is awake when it is their turn. */
async function ringsBells(port: Port): Promise<boolean> {
  const before = rings();
  await trips(port, TRIPS);
  return [...rings()].some(([fd, count]) => count - (before.get(fd) ?? 0) >= TRIPS / 2);
}
async function bothRing(port: Port): Promise<void> {
  const rung = async (): Promise<void> => {
    while (!(await ringsBells(port)));
  };
  await within('the threads to have told each other of their bells', rung());
}
async function over({ port, thread }: { port: Port; thread: TestThread }): Promise<void> {
  thread.tell('return');
  await within('the thread to end', thread.ended);
  await until('the end is told', () => port.reason !== undefined);
}

test('until it is asked for nobody has a bell, and messages wake', async () => {
  assert.deepEqual(features().loopWay, {
    name: 'doorbell',
    why: 'wakeByBell() was not called in this thread',
  });
  const one = await begin({ first: BY_BELL });
  await until('they are linked', one.linked);
  await trips(one.port, 20);
  assert.equal(await ringsBells(one.port), false);
  // Over a link that there was before.
  assert.deepEqual(wakeByBell(), { name: 'bell' });
  assert.deepEqual(features().loopWay, { name: 'bell' });
  await bothRing(one.port);
  await over(one);
});

test('who has asked again has no second one', () => {
  const before = descriptors().length;
  assert.deepEqual(wakeByBell(), { name: 'bell' });
  assert.equal(descriptors().length, before);
});

test('two threads that have asked ring each other, and who has not is woken as ever', async () => {
  const [with_, without, late] = await Promise.all([begin({ first: BY_BELL }), begin({}), begin({ later: BY_BELL })]);
  await until('they are linked', () => with_.linked() && without.linked() && late.linked());
  await bothRing(with_.port);
  for (const other of [without, late]) {
    await trips(other.port, 20);
    assert.equal(await ringsBells(other.port), false);
  }
  late.thread.tell('now');
  assert.equal(await late.thread.next(), 'has a bell');
  await bothRing(late.port);
  for (const each of [with_, without, late]) await over(each);
});

for (const how of ['terminate', 'exit', 'crash', 'return', 'blocks'] as const) {
  test(`a thread that ends leaves no descriptor: ${how}, at whatever time`, async () => {
    // What the first thread of all leaves behind is not ours.
    await over(await begin({ first: BY_BELL }));
    const settled = descriptors().length;
    for (const when of ['at once', 'linked', 'rung', 'in traffic'] as const) {
      for (let i = 0; i < 5; i++) {
        const one = await begin({ first: BY_BELL });
        if (when !== 'at once') await until('they are linked', one.linked);
        if (when === 'rung') await bothRing(one.port);
        if (when === 'in traffic') for (let n = 0; n < 50; n++) one.port.postMessage(n);
        if (how !== 'terminate') one.thread.tell(how);
        if (how === 'blocks') assert.equal(await one.thread.next(), 'blocks');
        if (how === 'terminate' || how === 'blocks') await one.thread.kill();
        await within('the thread to end', one.thread.ended);
        await until('the end is told', () => one.port.reason !== undefined);
      }
      await until(`as many descriptors as before: ${when}`, () => descriptors().length <= settled);
    }
  });
}

test('what is no bell is not held', () => {
  const bell = makeLoopBell(native, () => {});
  const before = descriptors().length;
  const file = openSync('/dev/null', 'r+');
  for (const number of [file, 0, 1 << 30, -1, 1.5, '3', undefined, null, {}])
    assert.equal(bell.hold(number), undefined);
  native.close(file);
  assert.equal(descriptors().length, before);
  const held = bell.hold(bell.number);
  held?.ring();
  held?.close();
  assert.equal(descriptors().length, before);
});

test('where no descriptor is left messages go on', async () => {
  const one = await begin({});
  await until('they are linked', one.linked);
  const bell = makeLoopBell(native, () => {});
  const failing = { ...native, duplicate: () => assert.fail('EMFILE') };
  const poor = makeLoopBell(failing, () => {});
  assert.equal(poor.hold(bell.number), undefined);
  await over(one);
});
