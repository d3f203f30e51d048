// Calls that run out of stack half way: they throw, and the port is as it was.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, channel, EMPTY, type Port, selectAsync } from '../../src/index.ts';
import type { StreamConnection } from '../../src/transport/stream/connection.ts';
import { throughLittleStack, withLittleStack } from '../kit/little-stack.ts';
import { difference } from '../kit/same-clone.ts';
import { settle, streamPair } from '../kit/stream-pair.ts';
import { turn, until, within } from '../kit/watchdog.ts';

/** A few of many shapes, so that all that is learned is written to as well. */
function messageOf(id: number, big: boolean): { readonly id: number } {
  const value = { id, [`key${id % 91}`]: id, text: `text ${id}`, inner: { [`inner${id % 5}`]: [1, 2, id] } };
  return big && id % 3 === 0 ? Object.assign(value, { big: 'x'.repeat(5000 + id) }) : value;
}

/** Both ends of a channel whose native ports are there: Node 20 and 22 make broken ones where there is little stack. */
function pairOf(capacityBytes: number): readonly [Port, Port] {
  const { port, remote } = channel({ capacityBytes });
  const far = attach(remote);
  const moved = new ArrayBuffer(1);
  port.postMessage(moved, [moved]);
  assert.ok(far.tryReceive() instanceof ArrayBuffer);
  return [port, far];
}

function drain(port: Port, far: Port, failed: () => void): unknown[] {
  const values: unknown[] = [];
  for (let empty = false; !empty; ) {
    const moved = port.moveOutbox();
    try {
      const value = far.tryReceive();
      assert.notEqual(value, CLOSED);
      empty = moved && value === EMPTY;
      if (value !== EMPTY) values.push(value);
    } catch {
      failed();
    }
  }
  return values;
}

for (const big of [false, true]) {
  test(`posts that run out of stack throw, and those that did not arrive (${big ? 'also large' : 'small'} ones)`, () => {
    for (let round = 0; round < 5; round++) {
      const [port, far] = pairOf(4096);
      const values: { readonly id: number }[] = [];
      const accepted = new Set<number>();
      const post = (): void => {
        const value = messageOf(values.length, big);
        values.push(value);
        port.postMessage(value);
        accepted.add(value.id);
      };
      withLittleStack(1500, () => {
        try {
          post();
        } catch (error) {
          assert.ok(error instanceof RangeError, `${error}`);
        }
      });
      for (let i = 0; i < 20; i++) post();
      assert.ok(accepted.size > 20);
      const got = drain(port, far, assert.fail) as { readonly id: number }[];
      // It may have thrown once the message was out of its hands.
      const arrived = new Set(got.map(({ id }) => id));
      const expected = values.filter(({ id }) => arrived.has(id) || accepted.has(id));
      assert.ok(difference(expected, got) === undefined, difference(expected, got));
      port.close();
      far.close();
    }
  });
}

test('receives that run out of stack throw for each message that they cost, and the channel goes on', () => {
  for (let round = 0; round < 5; round++) {
    const [port, far] = pairOf(262_144);
    for (let id = 0; id < 1500; id++) port.postMessage(messageOf(id, false));
    const got: { readonly id: number }[] = [];
    let failures = 0;
    withLittleStack(1000, () => {
      try {
        const value = far.tryReceive();
        if (value !== EMPTY) got.push(value as { readonly id: number });
      } catch {
        failures++;
      }
    });
    got.push(...(drain(port, far, () => failures++) as { readonly id: number }[]));
    assert.ok(got.length + failures >= 1500);
    port.postMessage(messageOf(1500, false));
    got.push(far.tryReceive() as { readonly id: number });
    const wanted = got.map(({ id }) => messageOf(id, false));
    assert.ok(difference(wanted, got) === undefined, difference(wanted, got));
    assert.ok(got.every(({ id }, i) => i === 0 || id > got[i - 1]!.id));
    assert.equal(got.at(-1)?.id, 1500);
    port.close();
    far.close();
  }
});

interface World {
  readonly port: Port;
  readonly far: Port;
  end(): void;
  /** What was said arrives: the other side has a stack of its own. */
  deliver(): void;
  /** How many want the process to live, where the medium counts them. */
  held(): number;
}
function streamWorld(end: (port: Port, connection: StreamConnection) => void): World {
  const { connections, ports, wire } = streamPair();
  const { a, b } = ports();
  wire.delayed = true;
  return { port: a, far: b, end: () => end(a, connections[0]), deliver: () => settle(wire), held: () => wire.held };
}
const WORLDS: Readonly<Record<string, () => World>> = {
  'of a port': () => {
    const [port, far] = pairOf(4096);
    return { port, far, end: () => port.close(), deliver() {}, held: () => 0 };
  },
  'of a port over a stream': () => streamWorld((port) => port.close()),
  'of a connection': () => streamWorld((_, connection) => connection.close()),
};
for (const [what, world] of Object.entries(WORLDS)) {
  test(`a close ${what} that runs out of stack, and goes through further up, tells both sides`, async () => {
    const waits: Promise<unknown>[] = [];
    const worlds: World[] = [];
    for (let skipped = 0; skipped < 100; skipped++) {
      const one = world();
      const { port, far } = one;
      worlds.push(one);
      waits.push(port.closed, far.closed, port.receiveAsync());
      throughLittleStack(skipped % 14, skipped, () => one.end());
      await turn();
      one.deliver();
    }
    await within('whoever waits', Promise.all(waits));
    await turn();
    assert.deepEqual(
      worlds.map((each) => each.held()).filter((held) => held !== 0),
      [],
    );
  });
}

test('a close that runs out of stack tells whoever has waited for so long that the port sleeps', async () => {
  const waits: Promise<unknown>[] = [];
  for (let skipped = 0; skipped < 60; skipped++) {
    const [port] = pairOf(1024);
    while (port.trySend('x'.repeat(100)));
    waits.push(port.closed, new Promise((told) => port.once('close', told)));
    waits.push(Promise.allSettled([port.receiveAsync(), port.drained(), port.flush(), selectAsync([port])]));
    await until('the port sleeps', () => port.stats().parks > 0);
    throughLittleStack(0, skipped, () => port.close());
  }
  await within('whoever waits', Promise.all(waits), 20);
});

test('a listener that sleeps is told of what is posted after a post that ran out of stack as it woke it', async () => {
  for (let round = 0; round < 12; round++) {
    const [port, far] = pairOf(262_144);
    let last: unknown;
    far.on('message', (value) => {
      last = value;
    });
    await until('the listener sleeps', () => far.stats().parks > 0);
    withLittleStack(1500, () => {
      try {
        port.trySend('with little stack');
      } catch {
        // It may not have gone.
      }
    });
    port.postMessage('last');
    await until('it is told', () => last === 'last', 10);
    port.close();
    far.close();
  }
});

test('a cork that runs out of stack holds nothing back behind it', () => {
  const [port, far] = pairOf(4096);
  for (let spare = 0; spare < 64; spare++) {
    throughLittleStack(spare, 0, () => port.cork(() => {}));
    port.postMessage(spare);
    assert.equal(far.tryReceive(), spare);
  }
  port.close();
});
