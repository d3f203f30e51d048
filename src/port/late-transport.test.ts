// A port whose channel is on its way, or never comes, without another thread: start data comes when the test says so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../test/kit/fake-clock.ts';
import { within } from '../../test/kit/watchdog.ts';
import { EARLY_MESSAGES_MAX } from '../limits.ts';
import { CLOSED } from '../outcome.ts';
import type { StartInbox } from '../platform/start-inbox.ts';
import { LateTransport } from '../transport/late.ts';
import { BEFORE_ANY_CHANNEL } from '../transport/thread/native-beside.ts';
import type { Transport, TransportEvents } from '../transport/transport.ts';
import { attach, channel } from './channels.ts';
import { comingStart } from './coming-start.ts';
import { Port } from './port.ts';
import { selectAsync } from './select.ts';

class Inbox implements StartInbox {
  readonly canTake: boolean;
  data: unknown;
  waiting: (() => void) | undefined;
  looked = (): void => {};
  constructor(canTake: boolean) {
    this.canTake = canTake;
  }
  take(): unknown {
    this.looked();
    return this.data;
  }
  await(arrived: () => void): () => void {
    this.waiting = arrived;
    return () => {
      this.waiting = undefined;
    };
  }
  arrive(data: unknown): void {
    this.data = data;
    this.waiting?.();
  }
}

/** A port that waits, what it waits for, and the other end of its channel. */
function late(canTake: boolean, timeoutMs = 60_000): { port: Port; far: Port; inbox: Inbox; remote: unknown } {
  const inbox = new Inbox(canTake);
  const { port: far, remote } = channel();
  const port = new Port(
    (events) =>
      new LateTransport(
        comingStart(inbox, (data) => transportOf(attach(data), events.woken), timeoutMs),
        BEFORE_ANY_CHANNEL,
        events,
      ),
  );
  return { port, far, inbox, remote };
}

/** Enough of a transport over a port: the real one's constructor belongs to channel.ts. */
function transportOf(inner: Port, woken: () => void): Transport {
  inner.on('message', () => {});
  inner.on('close', woken);
  const rest = {
    get ended() {
      return inner.reason;
    },
    out: {
      writable: true,
      backlog: 0,
      post(value: unknown) {
        inner.postMessage(value);
        return false;
      },
      trySend: (value: unknown) => inner.trySend(value),
      mark: () => ({ accepted: 0, position: 0 }),
      taken: () => true,
      pump: () => true,
    },
    in: { ports: [], ready: false, tryReceive: () => inner.tryReceive() },
    loop: { spin: { worthwhile: false }, stirs: () => false, park: () => true, unpark: () => {} },
    interrupts: { word: 0, raise: (word: number) => inner.interrupt(word), clear: () => 0 },
    hold: () => {},
    inspect: () => ({ attached: true, endedHere: false, error: undefined, stats: () => inner.stats() }),
    close: () => inner.close(),
  };
  return rest as unknown as Transport;
}

test('what is posted before the start data goes out in order, as it was and moved at once', async () => {
  const { port, far, inbox, remote } = late(false);
  const value = { n: 1 };
  port.postMessage(value);
  value.n = 2;
  port.postMessage(value);
  const buffer = new ArrayBuffer(8);
  port.postMessage(0, [buffer]);
  assert.equal(buffer.byteLength, 0);
  assert.throws(() => port.postMessage(() => {}), { name: 'DataCloneError', code: 'ERR_DATA_CLONE' });
  port.interrupt(5);
  inbox.arrive(remote);
  await port.ready;
  port.postMessage('after');
  assert.deepEqual(
    [far.tryReceive(), far.tryReceive(), far.tryReceive(), far.tryReceive()],
    [{ n: 1 }, { n: 2 }, 0, 'after'],
  );
  assert.equal(far.interrupted, 5);
  assert.equal(inbox.waiting, undefined);
  port.close();
});

test('more than the bound is refused, and nothing is moved', () => {
  const { port, far, inbox, remote } = late(false);
  for (let i = 0; i < EARLY_MESSAGES_MAX; i++) port.postMessage(i);
  const buffer = new ArrayBuffer(8);
  assert.throws(() => port.postMessage(0, [buffer]), { code: 'ERR_OUTBOX_FULL' });
  assert.equal(buffer.byteLength, 8);
  assert.equal(port.trySend(0), false);
  assert.equal(port.full, true);
  inbox.arrive(remote);
  for (let i = 0; i < EARLY_MESSAGES_MAX; i++) assert.equal(far.tryReceive(), i);
  port.close();
});

test('a port that is closed before the start data sends what it had, and the parent learns of the end', async () => {
  const { port, far, inbox, remote } = late(false);
  port.postMessage('last');
  port.close();
  assert.equal(port.reason, 'closed');
  await assert.rejects(port.ready, { code: 'ERR_CLOSED' });
  inbox.arrive(remote);
  assert.equal(far.tryReceive(), 'last');
  assert.equal(far.tryReceive(), CLOSED);
  assert.equal(far.reason, 'closed');
});

test('a blocked call takes the start data where that can be, and says what to await where not', () => {
  const able = late(true);
  able.inbox.data = able.remote;
  able.far.postMessage('for the blocked');
  assert.equal(able.port.receive(), 'for the blocked');
  able.port.close();

  const unable = late(false);
  for (const call of [() => unable.port.receive(), () => unable.port.send(0)]) {
    assert.throws(call, { code: 'ERR_UNSUPPORTED', message: /await port\.ready/ });
  }
  unable.port.close();
  unable.inbox.arrive(unable.remote);
});

for (const canTake of [true, false]) {
  test(`without start data everything ends with ERR_HANDLE (${canTake ? 'taken' : 'heard'})`, async () => {
    const clock = new FakeClock();
    const timeoutMs = 60_000;
    const wrong = { code: 'ERR_HANDLE', message: /not started with spawn/ };
    const { port, far, inbox, received } = clock.rule(() => {
      const { port, far, inbox } = late(canTake, timeoutMs);
      const received = port.receiveAsync();
      if (canTake) {
        // While a thread is blocked, time passes and no timer runs.
        inbox.looked = () => {
          clock.now += timeoutMs / 4;
        };
        assert.throws(() => port.receive(), wrong);
      } else clock.advance(timeoutMs);
      return { port, far, inbox, received };
    });
    if (!canTake) await assert.rejects(received, wrong);
    await assert.rejects(port.ready, wrong);
    assert.equal(await port.closed, 'lost');
    assert.equal(port.tryReceive(), CLOSED);
    if (canTake) assert.equal(await received, CLOSED);
    assert.equal(inbox.waiting, undefined);
    far.close();
  });
}

test('whoever awaits it among others is told that no channel comes', async () => {
  const { port, far, inbox } = late(false);
  const waits = within('the end', selectAsync([port]));
  inbox.arrive({ type: 'something else' });
  assert.equal(await waits, port);
  assert.throws(() => port.tryReceive(), { code: 'ERR_HANDLE' });
  // Of a port that has ended so before anybody asked, too.
  assert.equal(await selectAsync([port]), port);
  far.close();
});

test('start data of another kind is told, not swallowed', async () => {
  const { port, far, inbox } = late(true);
  inbox.arrive({ type: 'something else' });
  assert.throws(() => port.tryReceive(), { code: 'ERR_HANDLE' });
  assert.equal(await port.closed, 'lost');
  far.close();
});

interface Bare {
  readonly late: LateTransport;
  readonly real: { readonly posted: unknown[]; taken: number; moved: boolean; unheard: boolean };
  connect(): void;
}
/** A late transport by itself, and a real one in which everything that matters is a count. */
function withBare(body: (bare: Bare) => void): void {
  const inbox = new Inbox(false);
  const real: Bare['real'] = { posted: [], taken: 0, moved: true, unheard: false };
  const events: TransportEvents = { woken() {}, failed: (error) => assert.fail(String(error)) };
  const out = {
    backlog: 0,
    get unheard(): boolean {
      return real.unheard;
    },
    post: (value: unknown) => real.posted.push(value) < 0,
    mark: () => ({ accepted: real.posted.length, position: real.posted.length }),
    taken: ({ position }: { position: number }) => position <= real.taken,
    pump: () => real.moved,
    cork: (body: () => unknown) => [body()],
  };
  const coming = comingStart(inbox, () => ({ out }) as unknown as Transport, 60_000);
  const late = new LateTransport(coming, BEFORE_ANY_CHANNEL, events);
  const connect = (): void => inbox.arrive('start data');
  try {
    body({ late, real, connect });
  } finally {
    // It waits no longer.
    connect();
  }
}

test('marks set before the channel is connected lie between the same messages after it', () =>
  withBare(({ late, real, connect }) => {
    const marks = [late.out.mark()];
    for (const value of ['first', 'second', 'third']) {
      late.out.post(value);
      marks.push(late.out.mark());
    }
    const taken = (): boolean[] => marks.map((mark) => late.out.taken(mark));
    assert.deepEqual(taken(), [false, false, false, false], 'there is nobody to take anything');
    connect();
    assert.deepEqual(real.posted, ['first', 'second', 'third']);
    for (; real.taken <= 3; real.taken++) {
      assert.deepEqual(
        taken(),
        marks.map((_, i) => i <= real.taken),
        `${real.taken} taken`,
      );
    }
  }));

test('pump() says whether nothing waits: here before the channel is connected, then of the real transport', () =>
  withBare(({ late, real, connect }) => {
    assert.equal(late.out.pump(), true);
    late.out.post('first');
    assert.equal(late.out.pump(), false);
    connect();
    assert.equal(late.out.pump(), true);
    real.moved = false;
    assert.equal(late.out.pump(), false);
  }));

test('whether the peer still hears what is sent, the real transport knows', () =>
  withBare(({ late, real, connect }) => {
    connect();
    late.out.post('first');
    assert.equal(late.out.unheard, false);
    real.unheard = true;
    assert.equal(late.out.unheard, true);
  }));

test('cork() is for the real transport alone; before there is one, what it is given just runs', () =>
  withBare(({ late, connect }) => {
    assert.equal(
      late.out.cork(() => 'before'),
      'before',
    );
    connect();
    assert.deepEqual(
      late.out.cork(() => 'after'),
      ['after'],
    );
  }));

test('a handle in what was posted before is lost, and its other end learns it, if it cannot go out after all', async () => {
  const timeoutMs = 60_000;
  const fails: [string, (inbox: Inbox, remote: unknown, clock: FakeClock) => void][] = [
    ['no start data', (_inbox, _remote, clock) => clock.advance(timeoutMs)],
    ['other start data', (inbox) => inbox.arrive('no handle')],
    // The transport of this test moves nothing, and so refuses a handle.
    ['a refusal', (inbox, remote) => inbox.arrive(remote)],
  ];
  for (const [how, fail] of fails) {
    const clock = new FakeClock();
    const lost = channel();
    const { port, far } = clock.rule(() => {
      const { port, far, inbox, remote } = late(false, timeoutMs);
      port.on('messageerror', () => {});
      port.postMessage({ lost: lost.remote }, lost.remote.transfer);
      fail(inbox, remote, clock);
      return { port, far };
    });
    assert.equal(await within(how, lost.port.closed), 'dropped', how);
    port.close();
    far.close();
  }
});
