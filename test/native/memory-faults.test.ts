// The system refuses one call, each in its turn: from the greeting to the last word. Whoever connects has a connection, by memory or without, or an error
// of ours; what was posted arrives or its channel has ended; nobody waits, and no descriptor stays.
// watchdog: 120 s
// asked for: node-22, node-26
// needs: native
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { CLOSED, MillraceError } from '../../src/index.ts';
import { connect, type Listener, listen, type Port } from '../../src/process/index.ts';
import { descriptors } from '../kit/native.ts';
import { FAULTS, type Fault, failingAt, withCalls } from '../kit/native-faults.ts';
import { turn, until, within } from '../kit/watchdog.ts';

let server: Listener;
let ports: AsyncIterator<Port, undefined>;

before(async () => {
  server = await listen(join(tmpdir(), `millrace-faults-${process.pid}.sock`));
  ports = server[Symbol.asyncIterator]();
  // What a runtime has of its own from the first connection on.
  await end(await met());
});
after(() => server.close());

/** More are not waited for: those that look whether something has come are as many as there are turns. */
const CALLS = 36;

interface Ends {
  readonly near: Port;
  readonly far: Port;
}
async function met(): Promise<Ends> {
  const taken = ports.next();
  const near = await within('a connection', connect(server.address));
  return { near, far: (await within('who has connected', taken)).value as Port };
}
async function end({ near, far }: Ends): Promise<void> {
  near.close();
  far.close();
  await within('the ends', Promise.all([near.link!.closed, far.link!.closed, near.closed, far.closed]));
}
/** Descriptors, when those of sockets that end late are gone. */
async function settled(): Promise<number> {
  let count = descriptors().length;
  for (let same = 0; same < 10; same++) {
    await turn();
    const now = descriptors().length;
    if (now !== count) same = 0;
    count = now;
  }
  return count;
}
/** What comes, up to the end, or so much. */
async function readAll(port: Port, most: number = Number.POSITIVE_INFINITY): Promise<unknown[]> {
  const all: unknown[] = [];
  try {
    while (all.length < most) {
      const value = await port.receiveAsync();
      if (value === CLOSED) break;
      all.push(value);
    }
  } catch (error) {
    assert.ok(error instanceof MillraceError, String(error));
  }
  return all;
}

/**
 * Each call in its turn, until there are no more; what came of it, by the call that failed. Where memory that came cannot be mapped, the other side writes there
 * already: it is lost then, and in no other case.
 */
async function each(
  names: readonly Fault[],
  body: () => Promise<string>,
  first: () => Promise<unknown> = async () => {},
): Promise<Set<string>> {
  const found = new Set<string>();
  for (let nth = 1; nth <= CALLS; nth++) {
    await first();
    const had = await settled();
    let came = '';
    const { count, failed } = await failingAt(nth, names, async () => {
      came = await body();
    });
    await until(`no descriptor is left of call ${nth}, ${failed}`, () => descriptors().length <= had);
    assert.ok(came !== 'lost' || failed === 'map', `call ${nth}, ${failed}: it is lost`);
    found.add(`${failed}: ${came}`);
    if (count < nth) break;
  }
  return found;
}

test('while two meet: they do without memory', async () => {
  const found = await each(FAULTS, async () => {
    const ends = await met();
    const { near, far } = ends;
    near.postMessage('hello');
    const [heard] = await within('a message', readAll(far, 1));
    const way = near.stats().way?.name as string;
    const lost =
      heard === undefined && (await within('both ends', Promise.all([near.closed, far.closed]))).includes('lost');
    if (!lost) assert.equal(heard, 'hello');
    await end(ends);
    return lost ? 'lost' : way;
  });
  assert.ok(found.has('send: memory') && found.has('duplicate: unix'), [...found].join());
});

for (const [what, from] of [
  ['page', 1],
  ['bell', 2],
] as const) {
  test(`where the system takes no ${what} on its way, nor what follows, they do without memory`, async () => {
    let sends = 0;
    const refused = (call: () => unknown): unknown => {
      if (++sends < from || sends > from + 9) return call();
      throw Object.assign(new Error('too many on their way'), { code: 'ETOOMANYREFS' });
    };
    await withCalls(
      ['send'],
      (_, call, values) => refused(() => call(...values)),
      async () => {
        const ends = await met();
        ends.near.postMessage('hello');
        assert.deepEqual(await within('a message', readAll(ends.far, 1)), ['hello']);
        assert.equal(ends.near.stats().way?.name, 'unix');
        await end(ends);
      },
    );
  });
}

for (const [who, asks, why] of [
  ['took the connection', 'connects', /of another user/],
  ['has connected', 'listens', /of another user/],
] as const) {
  test(`who ${who} is of another user, as the system says to who ${asks}: no memory is shared, and no descriptor stays`, async () => {
    const had = await settled();
    let ours: boolean | undefined;
    await withCalls(
      ['connect', 'accept', 'peerCredentials'],
      (name, call, values) => {
        // Who has just connected, or taken one, asks about that.
        if (name !== 'peerCredentials') ours = name === (asks === 'connects' ? 'connect' : 'accept');
        const answer = call(...values);
        if (name !== 'peerCredentials' || ours !== true) return answer;
        return { ...(answer as object), uid: 65_534 };
      },
      async () => {
        const ends = await met();
        const side = asks === 'connects' ? ends.near : ends.far;
        ends.near.postMessage('hello');
        assert.deepEqual(await within('a message', readAll(ends.far, 1)), ['hello']);
        assert.equal(side.stats().way?.name, 'unix');
        assert.match(side.stats().way?.why ?? '', why);
        await end(ends);
      },
    );
    await until('no descriptor is left', () => descriptors().length <= had);
  });
}

/** Each call of a channel that ends with more than it has room for: all of it comes, or less and the count of what is missing. */
async function leftOver(names: readonly Fault[]): Promise<Set<string>> {
  let ends = await met();
  const found = await each(
    names,
    async () => {
      const { near: main, far: other } = ends;
      const [near, far] = [main, other].map((each) => each.link!.channel('of one call', { capacityBytes: 1024 })) as [
        Port,
        Port,
      ];
      const count = 30;
      for (let i = 0; i < count; i++) near.postMessage([i, 'x'.repeat(200)]);
      near.close();
      const all = await within('all of it', readAll(far));
      await within('both ends', Promise.all([near.closed, far.closed]));
      for (const [i, value] of all.entries()) assert.equal((value as [number])[0], i);
      if (near.reason === 'lost' || far.reason === 'lost') return 'lost';
      assert.ok(all.length === count || near.stats().undelivered + far.stats().undelivered === count - all.length);
      return all.length === count ? 'all' : 'less';
    },
    async () => {
      if (ends.near.reason === undefined && ends.far.reason === undefined) return;
      await end(ends);
      ends = await met();
    },
  );
  await end(ends);
  return found;
}

test('a channel that ends with more than it has room for: all of it comes, or less and the count of what is missing', async () => {
  const found = await leftOver(FAULTS.filter((name) => name !== 'receive'));
  assert.ok(found.has('send: all') && found.has('createMemory: all') && found.has('map: less'), [...found].join());
});

test('the same where a descriptor that came cannot be had: all of it comes', async () => {
  assert.deepEqual(await leftOver(['receive']), new Set(['receive: all']));
});
