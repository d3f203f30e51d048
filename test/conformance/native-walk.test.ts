// What goes the runtime's own way is not enumerated by whoever takes it in. Deno looks through a message for ports, a typed
// array element by element, unless it is kept out of its sight: a second for 4 MB. An enumeration asks
// every prototype for its keys, so one of the prototypes counts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel, MessagePort } from 'node:worker_threads';
import { attach, CLOSED, channel, type Port } from '../../src/index.ts';
import { within } from '../kit/watchdog.ts';

function enumerated(during: () => void): number {
  let count = 0;
  const TypedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
  const counting = new Proxy(Object.prototype, {
    ownKeys(target) {
      count++;
      return Reflect.ownKeys(target);
    },
  });
  Object.setPrototypeOf(TypedArray, counting);
  try {
    during();
  } finally {
    Object.setPrototypeOf(TypedArray, Object.prototype);
  }
  return count;
}

function both(during: (port: Port, other: Port) => void): void {
  const { port, remote } = channel();
  const other = attach(remote);
  try {
    during(port, other);
  } finally {
    port.close();
    other.close();
  }
}

const VALUES: Record<string, () => readonly [value: unknown, transfer: ArrayBuffer[]]> = {
  'a moved view': () => {
    const view = new Uint8Array([1, 2, 3]);
    return [view, [view.buffer]];
  },
  'a moved view in an object': () => {
    const numbers = new Float64Array([1.5, 2.5]);
    return [{ numbers }, [numbers.buffer]];
  },
  'a view that is cloned beside a moved buffer': () => {
    const buffer = new ArrayBuffer(8);
    return [{ bytes: new Uint8Array([1, 2, 3]), buffer }, [buffer]];
  },
  'two views of one moved buffer': () => {
    const buffer = new ArrayBuffer(8);
    return [[new Uint8Array(buffer, 2, 3), new Int16Array(buffer)], [buffer]];
  },
  'a view of shared memory': () => [{ shared: new Int32Array(new SharedArrayBuffer(8)) }, []],
};

for (const [name, make] of Object.entries(VALUES)) {
  test(`${name} is not enumerated where it arrives`, () => {
    both((port, other) => {
      const [value, transfer] = make();
      const [expected] = make();
      let received: unknown;
      const count = enumerated(() => {
        port.postMessage(value, transfer);
        received = other.tryReceive();
      });
      assert.deepEqual(received, expected);
      assert.equal(count, 0);
    });
  });
}

test('what an ending side leaves behind is not enumerated', () => {
  const { port, remote } = channel({ capacityBytes: 4096 });
  const other = attach(remote);
  for (let i = 0; i < 16; i++) port.postMessage('x'.repeat(1000) + i);
  const received: unknown[] = [];
  const count = enumerated(() => {
    port.close();
    for (let text = other.tryReceive(); text !== CLOSED; text = other.tryReceive()) received.push(text);
  });
  assert.equal(received.length, 16);
  assert.equal(count, 0);
});

test('ports beside a view, and in it twice, arrive as the ports of the runtime that they were', async () => {
  const { port1, port2 } = new MessageChannel();
  const { port, remote } = channel();
  const other = attach(remote);
  port.postMessage({ bytes: new Uint8Array(4), to: port2, again: port2 }, [port2]);
  const { to, again } = other.tryReceive() as { to: MessagePort; again: MessagePort };
  assert.equal(to, again);
  assert.ok(to instanceof MessagePort);
  assert.equal(typeof to.on, 'function');
  const heard = new Promise((resolve) => to.once('message', resolve));
  port1.postMessage('over it');
  assert.equal(await within('a message over the port', heard), 'over it');
  port1.close();
  port.close();
  other.close();
});
