// A value's getters are code of the user's in the middle of a call of ours. Whatever they do to the port that is sending the
// value, no message comes after the end and none is lost in silence.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, ClosedError, channel, EMPTY, type Port } from '../../src/index.ts';
import { SIDE_VALUES_MAX } from '../../src/limits.ts';

const CAPACITY = 1024;

/** Sends `value` by one call; what it threw, if it did. */
type Call = (port: Port, value: unknown) => void;
const CALLS: Readonly<Record<string, Call>> = {
  postMessage: (port, value) => port.postMessage(value),
  'postMessage with a transfer list': (port, value) => port.postMessage(value, [new ArrayBuffer(8)]),
  'postMessage inside cork': (port, value) => port.cork(() => port.postMessage(value)),
  trySend: (port, value) => void port.trySend(value),
  'trySend with a transfer list': (port, value) => void port.trySend(value, [new ArrayBuffer(8)]),
  send: (port, value) => void port.send(value, { timeoutMs: 1 }),
};
/** Where the value goes: straight into the ring, through memory beside it, into the outbox, and beside the ring in each. */
const STATES: Readonly<Record<string, (port: Port) => void>> = {
  'an empty ring': () => {},
  'a full ring': (port) => {
    while (port.trySend('x'.repeat(40)));
  },
  'a waiting outbox': (port) => {
    for (let i = 0; i < 50; i++) port.postMessage('x'.repeat(100));
  },
  'a full side channel': (port) => {
    for (let i = 0; i <= SIDE_VALUES_MAX; i++) port.postMessage('x', [new ArrayBuffer(8)]);
  },
};
const SIZES = [1, 300, 600, 5000];

/** A value that does something when it is read. */
function trap(size: number, native: boolean, act: () => void): unknown {
  const value = {
    text: 't'.repeat(size),
    get trap(): string {
      act();
      return 'sprung';
    },
  };
  // A value of the runtime's own kind sends the whole of it the native way.
  return native ? { ...{ host: new URLSearchParams() }, inner: new WebAssembly.Module(EMPTY_MODULE), value } : value;
}
const EMPTY_MODULE = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

function readOut(port: Port): unknown[] {
  const values: unknown[] = [];
  for (let value = port.tryReceive(); value !== CLOSED; value = port.tryReceive()) {
    if (value === EMPTY) throw new Error('no end');
    values.push(value);
  }
  return values;
}

for (const [call, send] of Object.entries(CALLS)) {
  test(`close() in a getter of what ${call} sends: nothing comes after the end, nothing is lost unheard`, () => {
    for (const [state, prepare] of Object.entries(STATES)) {
      for (const size of SIZES) {
        const where = `${call}, ${state}, ${size} characters`;
        const { port: near, remote } = channel({ capacityBytes: CAPACITY });
        const far = attach(remote);
        prepare(near);
        let atEnd: unknown[] | undefined;
        let error: unknown;
        try {
          send(
            near,
            trap(size, false, () => {
              near.close();
              atEnd ??= readOut(far);
            }),
          );
        } catch (thrown) {
          error = thrown;
        }
        if (error !== undefined) assert.equal((error as { code?: string }).code, 'ERR_CLOSED', where);
        if (atEnd === undefined) {
          // It did not come to reading the value: there was no room.
          near.close();
          continue;
        }
        assert.equal(far.tryReceive(), CLOSED, where);
        if (call.startsWith('postMessage')) {
          assert.equal(error, undefined, where);
          assert.equal(near.stats().undelivered, 1, where);
        } else assert.ok(error !== undefined, where);
      }
    }
  });

  test(`a nested send in a getter of what ${call} sends is refused with ERR_BUSY, natively cloned or not`, () => {
    for (const [state, prepare] of Object.entries(STATES)) {
      for (const native of [false, true]) {
        const { port: near, remote } = channel({ capacityBytes: CAPACITY });
        const far = attach(remote);
        prepare(near);
        const codes: unknown[] = [];
        const nested = (): void => {
          for (const body of [
            () => near.postMessage('nested'),
            () => near.trySend('nested'),
            () => near.send('nested'),
          ]) {
            try {
              body();
              codes.push('sent');
            } catch (error) {
              codes.push((error as { code?: string }).code);
            }
          }
        };
        try {
          send(near, trap(10, native, nested));
        } catch (error) {
          // Deno clones no Module.
          assert.equal((error as { code?: string }).code, 'ERR_DATA_CLONE', `${call}, ${state}`);
        }
        assert.ok(
          codes.every((code) => code === 'ERR_BUSY'),
          `${call}, ${state}, native ${native}: ${codes}`,
        );
        near.close();
        far.close();
      }
    }
  });
}

test('what a getter throws that has closed the port is thrown, with every policy', () => {
  for (const overflow of ['wait', 'latest'] as const) {
    const { port, remote } = channel({ overflow });
    const far = attach(remote);
    const own = new Error('own');
    const throws = trap(1, false, () => {
      port.close();
      throw own;
    });
    assert.throws(() => port.postMessage(throws), own);
    assert.deepEqual(readOut(far), []);
  }
});

test('with `latest`, what waited for the end of cork() goes out though a getter closes the port', () => {
  const { port, remote } = channel({ overflow: 'latest' });
  const far = attach(remote);
  port.cork(() => {
    port.postMessage('waits');
    port.postMessage(trap(1, false, () => port.close()));
  });
  assert.deepEqual(readOut(far), ['waits']);
});

for (const call of ['trySend', 'send'] as const) {
  test(`a getter of the options of ${call}() closes the port: nothing is sent, and nothing moves`, () => {
    const { port, remote } = channel();
    const far = attach(remote);
    const moved = new ArrayBuffer(8);
    const options = {
      get transfer(): ArrayBuffer[] {
        port.close();
        return [moved];
      },
    };
    assert.throws(() => port[call](moved, options), ClosedError);
    assert.equal(moved.byteLength, 8);
    assert.equal(far.tryReceive(), CLOSED);
    far.close();
  });
}

test('with JSON what a getter throws is its own, and what JSON cannot write is said', () => {
  const { port, remote } = channel({ codec: 'json' });
  const far = attach(remote);
  const mine = new Error('mine');
  const throwing = (what: unknown): object => ({
    get a(): never {
      throw what;
    },
  });
  assert.throws(
    () => port.postMessage(throwing(mine)),
    (error) => error === mine,
  );
  const posting = {
    get a(): number {
      port.postMessage('inside');
      return 1;
    },
  };
  assert.throws(() => port.postMessage(posting), { code: 'ERR_BUSY' });
  assert.throws(() => port.postMessage(1n), { name: 'DataCloneError', code: 'ERR_DATA_CLONE' });
  port.postMessage('behind');
  assert.equal(far.tryReceive(), 'behind');
  port.close();
});
