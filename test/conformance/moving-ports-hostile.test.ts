// Ports that move when it suits nobody: both ends at once, again before the first move was heard of, and with what is on its way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel, MessagePort } from 'node:worker_threads';
import { KIND_SIDE, MARKER_BYTES } from '../../src/frame/header.ts';
import { attach, type ChannelOptions, CLOSED, channel, type Port } from '../../src/index.ts';
import { RingSink } from '../../src/lane/ring-records.ts';
import { MOVES_PENDING_MAX, SIDE_VALUES_MAX } from '../../src/limits.ts';
import { openRegion } from '../../src/memory/region.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';

const soon = { timeoutMs: STEP_MS };

/** A port that has left: whoever calls it opens it. */
function leave(port: Port): () => Port {
  const { port: carrier, remote } = channel();
  const far = attach(remote);
  carrier.postMessage({ port }, [port]);
  return () => {
    const { port: moved } = far.receive(soon) as { port: Port };
    carrier.close();
    far.close();
    return moved;
  };
}
function pairHere(options?: ChannelOptions): [Port, Port] {
  const { port, remote } = channel(options);
  return [port, attach(remote)];
}

/** What a handle is made of, for a peer by hand. */
interface HandParts {
  readonly memory: SharedArrayBuffer;
  readonly tether: MessagePort;
  readonly side: MessagePort;
}
/** Such a peer says in the ring that its first value goes over its first line. */
function forgeMarker(memory: SharedArrayBuffer): void {
  const { lanes, views } = openRegion(memory);
  const sink = new RingSink(lanes[1], views);
  const at = sink.tryClaim(MARKER_BYTES) >>> 2;
  views.words[at] = 0;
  views.words[at + 1] = 0;
  sink.commit(MARKER_BYTES, KIND_SIDE);
  sink.publish();
}

test('both ends have left, and the one that opens first posts what goes beside the ring', async () => {
  const [one, other] = pairHere();
  const openOne = leave(one);
  const openOther = leave(other);
  const movedOther = openOther();
  movedOther.postMessage(new SharedArrayBuffer(8));
  const movedOne = openOne();
  assert.ok((await movedOne.receiveAsync(soon)) instanceof SharedArrayBuffer);
  movedOne.close();
  movedOther.close();
});

test('what waits goes out once, also where a line is left in the middle of it', async () => {
  const [one, other] = pairHere({ capacityBytes: 4096 });
  one.postMessage({ long: 'x'.repeat(8000) });
  one.postMessage(new SharedArrayBuffer(8));
  for (let i = 0; i < 4; i++) one.postMessage({ i, text: 'y'.repeat(100) });
  const movedOne = leave(one)();
  const movedOther = leave(other)();
  // By hand: what it finds on the old line is the end of that.
  movedOne.moveOutbox();
  movedOther.tryReceive();
  movedOne.moveOutbox();
  assert.equal(((await movedOther.receiveAsync(soon)) as { long: string }).long.length, 8000);
  assert.ok((await movedOther.receiveAsync(soon)) instanceof SharedArrayBuffer);
  for (let i = 0; i < 4; i++) assert.equal(((await movedOther.receiveAsync(soon)) as { i: number }).i, i);
  movedOne.close();
  movedOther.close();
});

/** A native port whose other end is closed, and turns of the event loop in which its thread hears of that. */
function closing(): { readonly port: MessagePort; close(): Promise<void> } {
  const { port1, port2 } = new MessageChannel();
  const close = async (): Promise<void> => {
    port1.close();
    for (let i = 0; i < 5; i++) await turn();
  };
  return { port: port2, close };
}

test('a native port that closes in a message on its way does not keep the port from moving', async () => {
  const [one, other] = pairHere({ capacityBytes: 1024 });
  const [waits, unread, aside] = [closing(), closing(), closing()];
  one.postMessage(new Uint8Array(3000));
  one.postMessage({ port: waits.port }, [waits.port]);
  other.postMessage({ port: aside.port }, [aside.port]);
  assert.equal(one.send(1, { timeoutMs: 10 }), false);
  other.postMessage({ port: unread.port }, [unread.port]);
  for (const each of [waits, unread, aside]) await each.close();
  const moved = leave(one)();
  one.close();
  assert.deepEqual(await other.receiveAsync(soon), new Uint8Array(3000));
  for (let i = 0; i < 2; i++) {
    const { port } = (await moved.receiveAsync(soon)) as { port: MessagePort };
    assert.equal(typeof port.postMessage, 'function');
  }
  moved.postMessage('as ever');
  assert.equal(typeof (await other.receiveAsync(soon)), 'object');
  assert.equal(await other.receiveAsync(soon), 'as ever');
  moved.close();
});

test('nor does it keep a message that waits from being sent', async () => {
  const [one, other] = pairHere({ capacityBytes: 1024 });
  const [waits, left] = [closing(), closing()];
  one.postMessage(new Uint8Array(3000));
  one.postMessage({ n: 1, port: waits.port }, [waits.port]);
  await waits.close();
  assert.deepEqual(await other.receiveAsync(soon), new Uint8Array(3000));
  const { n, port } = (await other.receiveAsync(soon)) as { n: number; port: MessagePort };
  assert.deepEqual([n, typeof port.postMessage], [1, 'function']);
  one.postMessage(new Uint8Array(3000));
  one.postMessage({ n: 2, port: left.port }, [left.port]);
  await left.close();
  one.close();
  assert.deepEqual(await other.receiveAsync(soon), new Uint8Array(3000));
  assert.equal(((await other.receiveAsync(soon)) as { n: number }).n, 2);
  assert.equal(one.stats().undelivered, 0);
  other.close();
});

test('nor one that closes in the newest message, which waits', async () => {
  const { port, remote } = channel();
  const one = attach(remote, { overflow: 'latest' });
  const waits = closing();
  // So many that the next one waits until they are taken, or replaced.
  for (let i = 0; i < SIDE_VALUES_MAX; i++) one.postMessage(i, [new ArrayBuffer(8)]);
  one.postMessage({ port: waits.port }, [waits.port]);
  await waits.close();
  const moved = leave(one)();
  moved.postMessage('as ever');
  assert.equal(await port.receiveAsync(soon), 'as ever');
  moved.close();
});

test('a port whose peer ends while it waits for room arrives with what was unread', async () => {
  const [carrier, far] = pairHere({ capacityBytes: 1024 });
  const [one, other] = pairHere();
  carrier.postMessage(new Uint8Array(3000));
  other.postMessage('unread');
  carrier.postMessage({ one }, [one]);
  for (let i = 0; i < 5; i++) await turn();
  other.close();
  for (let i = 0; i < 5; i++) await turn();
  assert.deepEqual(await far.receiveAsync(soon), new Uint8Array(3000));
  const { one: moved } = (await far.receiveAsync(soon)) as { one: Port };
  assert.equal(moved.receive(soon), 'unread');
  assert.equal(moved.receive(soon), CLOSED);
  assert.equal(moved.reason, 'closed');
  carrier.close();
});

/** Lets somebody else's hands at the next Port that leaves. Where native ports can be watched like that. */
function forge(change: (luggage: Forged) => void): void {
  const { prototype } = MessagePort as unknown as { prototype: { postMessage(...args: unknown[]): void } };
  const { postMessage } = prototype;
  prototype.postMessage = function (message: unknown, list: unknown): void {
    const [, , , , ports] = Array.isArray(message) ? message : [];
    const handle = Array.isArray(ports) ? ports.find((item) => item?.luggage instanceof Map) : undefined;
    if (handle !== undefined) {
      prototype.postMessage = postMessage;
      change(handle.luggage.get(0));
    }
    postMessage.call(this, message, list);
  };
}
interface Forged {
  tail: { side: unknown };
  readonly tie: { lending: unknown; beside: { values: unknown } };
  readonly ring: { readonly out: { readonly waiting: { bytes: unknown; held: unknown; moved: unknown }[] } };
}

if (!('Bun' in globalThis || 'Deno' in globalThis)) {
  test('luggage that makes no sense is refused, and its carrier goes on', async () => {
    const changes: ((luggage: Forged) => void)[] = [
      ({ tail }) => {
        tail.side = 1;
      },
      ({ tie }) => {
        tie.lending = 1;
      },
      ({ tie }) => {
        tie.beside.values = {};
      },
      ({ tie }) => {
        tie.beside.values = [[0, { value: 1, ports: 1 }]];
      },
      ({ ring }) => {
        (ring.out.waiting[0] as { bytes: unknown }).bytes = 'x';
      },
      ({ ring }) => {
        (ring.out.waiting[0] as { held: unknown }).held = {};
      },
      ({ ring }) => {
        (ring.out.waiting[0] as { moved: unknown }).moved = -1;
      },
    ];
    for (const change of changes) {
      const [carrier, far] = pairHere();
      const [one, other] = pairHere({ capacityBytes: 1024 });
      one.postMessage(new Uint8Array(3000));
      forge(change);
      carrier.postMessage({ one }, [one]);
      carrier.postMessage('after');
      await assert.rejects(far.receiveAsync(soon), { code: 'ERR_DECODE', message: /makes no sense/ });
      assert.equal(await far.receiveAsync(soon), 'after');
      assert.equal(await within('the end', other.closed), 'lost');
      carrier.close();
    }
    for (let i = 0; i < 5; i++) await turn();
  });
}

if (!('Bun' in globalThis || 'Deno' in globalThis)) {
  test('what waits as somebody else has left it and cannot move on takes nothing along that moves beside it', async () => {
    for (const overflow of ['wait', 'latest'] as const) {
      const [carrier, far] = pairHere();
      const { port, remote } = channel({ capacityBytes: 1024, overflow });
      const other = attach(remote);
      if (overflow === 'wait') for (let i = 0; i < 2; i++) port.postMessage(new Uint8Array(3000));
      else for (let i = 0; i <= SIDE_VALUES_MAX; i++) port.postMessage(i, [new ArrayBuffer(8)]);
      forge(({ ring }) => {
        (ring.out.waiting.at(-1) as { held: unknown }).held = { value: 1, transfer: [{}] };
      });
      carrier.postMessage({ port }, [port]);
      const { port: again } = (await far.receiveAsync(soon)) as { port: Port };
      const [honest, peer] = pairHere();
      carrier.postMessage({ again, honest }, [honest, again]);
      const arrived = (await far.receiveAsync(soon)) as { again: Port; honest: Port };
      assert.equal(arrived.again.stats().undelivered, 1);
      arrived.honest.postMessage('as ever');
      assert.equal(await peer.receiveAsync(soon), 'as ever');
      assert.equal(peer.reason, undefined);
      for (const each of [arrived.again, arrived.honest, carrier, other]) each.close();
    }
  });
}

test('what a peer that has not heard of the move posts on the old line is sent on', async () => {
  const { port, remote } = channel();
  // A peer by hand: no thread hears of a move and posts on the old line but by a race.
  const { memory, tether, side } = remote as unknown as HandParts;
  const moved = leave(port)();
  forgeMarker(memory);
  const value = within('the value', moved.receiveAsync());
  await turn();
  side.postMessage([1, 0, 0, { came: 'late' }]);
  tether.postMessage(1);
  assert.deepEqual(await value, { came: 'late' });
  moved.close();
  tether.close();
  side.close();
});

test('an end that waits unread is told of when its carrier is closed and the thread at the other end goes', async () => {
  const { port: carrier, remote } = channel();
  // A thread by hand, of which nothing but the tether ends: what it has not read stays where it is.
  const { tether, side } = remote as unknown as HandParts;
  const [port, peer] = pairHere();
  carrier.postMessage(port, [port]);
  carrier.close();
  for (let i = 0; i < 3; i++) await turn();
  assert.equal(peer.reason, undefined);
  tether.close();
  assert.equal(await within('the end', peer.closed), 'dropped');
  side.close();
});

test('who claims to have moved without end holds no more native ports here than a few', async () => {
  const { port, remote } = channel();
  port.onmessage = () => {};
  const { tether, side } = remote as unknown as HandParts;
  let closed = 0;
  const kept: MessagePort[] = [];
  for (let i = 0; i < 200; i++) {
    const near = [new MessageChannel(), new MessageChannel()];
    for (const { port2 } of near) {
      port2.once('close', () => closed++);
      port2.on('message', () => {});
      kept.push(port2);
    }
    const ports = near.map(({ port1 }) => port1);
    // Each before the one before.
    side.postMessage([49, 0, 2, -i, ...ports, i + 1], ports);
  }
  tether.postMessage(1);
  await until('most are closed', () => closed >= 2 * (200 - MOVES_PENDING_MAX));
  const [one, other] = pairHere();
  one.postMessage('others go on');
  assert.equal(other.receive(soon), 'others go on');
  port.close();
  one.close();
  for (const each of kept) each.close();
});

test('a list that stands in itself ends nobody but the channel that it came for', async () => {
  const handle = { type: 'millrace', luggage: new Map(), moved: [] as unknown[] };
  handle.moved.push(handle);
  const { port, remote } = channel();
  const { tether, side } = remote as unknown as HandParts;
  // For this channel, and for one that there is not.
  for (const address of [0, 999]) side.postMessage([1, address, 0, 'value', [handle]]);
  tether.postMessage(1);
  for (let i = 0; i < 5; i++) await turn();
  const [carrier, far] = pairHere();
  carrier.postMessage({ port }, [port]);
  const { port: moved } = far.receive(soon) as { port: Port };
  moved.close();
  tether.close();
  side.close();
  carrier.close();
});

test('who says to a thread that an end has left that it has moved, and means something else, ends nobody', async () => {
  const { port, remote } = channel();
  const { tether, side } = remote as unknown as HandParts;
  const moved = leave(port)();
  const [one, two, three] = [new MessageChannel(), new MessageChannel(), new MessageChannel()];
  side.postMessage([49, 0, 0, 9, one.port1, one.port1, 1], [one.port1]);
  side.postMessage([49, 0, 0, 9, two.port1, three.port1, one.port2], [two.port1, three.port1, one.port2]);
  tether.postMessage(1);
  for (let i = 0; i < 5; i++) await turn();
  moved.close();
  for (const each of [tether, side, two.port2, three.port2]) each.close();
});

test('who says that it has moved, and gives one port for both, ends nobody', async () => {
  const { port, remote } = channel();
  port.onmessage = () => {};
  const { tether, side } = remote as unknown as HandParts;
  const both = new MessageChannel();
  const [one, two] = [new MessageChannel(), new MessageChannel()];
  side.postMessage([49, 0, 0, 9, both.port1, both.port1, 1], [both.port1]);
  tether.postMessage(1);
  for (let i = 0; i < 5; i++) await turn();
  side.postMessage([49, 0, 0, 11, one.port1, two.port1, 2], [one.port1, two.port1]);
  tether.postMessage(1);
  for (let i = 0; i < 5; i++) await turn();
  both.port2.close();
  for (let i = 0; i < 5; i++) await turn();
  port.close();
  for (const each of [tether, side, one.port2, two.port2]) each.close();
});

test('a value with a list of what cannot move takes nothing along that moves beside it', async () => {
  const handle = { type: 'millrace', luggage: new Map(), moved: [{}, 5], tether: 1, side: 'x' };
  // A handle that is garbage has been dropped, and its channel ends.
  const handles: unknown[] = [];
  for (const list of [[1], [{}], [new Uint8Array(8)], [new SharedArrayBuffer(8)], [handle]])
    for (const aside of [false, true]) {
      const { port, remote } = channel({ capacityBytes: 1024 });
      handles.push(remote);
      const { memory, tether, side } = remote as unknown as HandParts;
      forgeMarker(memory);
      const { port1, port2 } = new MessageChannel();
      const told = new Promise<void>((resolve) => port1.on('close', resolve));
      side.postMessage([1, 0, 0, 'value', [...list, port2]], [port2]);
      tether.postMessage(1);
      for (let i = 0; i < 3; i++) await turn();
      // Who waits for room sets aside what comes.
      if (aside) {
        port.postMessage(new Uint8Array(3000));
        assert.equal(port.send(1, { timeoutMs: 10 }), false);
      }
      const [honest, peer] = pairHere();
      const [carrier, far] = pairHere();
      carrier.postMessage({ port, honest }, [port, honest]);
      const arrived = (await far.receiveAsync(soon)) as { port: Port; honest: Port };
      await assert.rejects(async () => arrived.port.receive(soon), { code: 'ERR_DECODE' });
      arrived.honest.postMessage('as ever');
      assert.equal(await peer.receiveAsync(soon), 'as ever');
      for (const each of [arrived.port, arrived.honest, carrier, tether, side]) each.close();
      // Deno moves native ports all the same, and nothing brings them back.
      if (!('Deno' in globalThis)) await within('the other end of what came with it', told);
      port1.close();
    }
  assert.equal(handles.length, 10);
});
