// Programs for dropped.test.ts: what becomes of ports and handles that nobody holds. Runs with a callable garbage
// collector. Argument: the case; prints `ok`, or what is wrong.
import assert from 'node:assert/strict';
import process from 'node:process';
import {
  attach,
  CLOSED,
  channel,
  EMPTY,
  type Port,
  pair,
  type Remote,
  select,
  selectAsync,
  spawn,
  transferOf,
} from '../../src/index.ts';
import { CLOSED as CLOSED_WORD, SIDE_0 } from '../../src/memory/layout.ts';
import { joined } from '../kit/linked.ts';
import { sleeping } from '../kit/sleeping.ts';
import { spawnThread, startThread, type TestThread } from '../kit/thread.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';

const { Bun, gc } = globalThis as { Bun?: { gc(full: boolean): void }; gc?: () => void };
const collect = (): void => (Bun === undefined ? gc?.() : Bun.gc(true));
/**
 * Bun's collector takes what looks like a pointer on the stack for one, so a few objects out of many may stay for a while.
 * Elsewhere all go.
 */
const STRAYS = Bun === undefined ? 0 : 3;

/** Turns of the event loop, each with a collection, until `look` is true. */
async function collectUntil(what: string, look: () => boolean): Promise<void> {
  const end = performance.now() + STEP_MS;
  while (!look()) {
    if (performance.now() > end) throw new Error(`hang: waited until ${what}`);
    // What a weak reference has just given out stays until the turn is over.
    await turn();
    collect();
    await turn();
  }
}
/** As often as it took to collect what nobody holds, and then some. */
async function collectAtLength(): Promise<void> {
  const canary = dropped(() => ({}));
  await collectUntil('a plain object is collected', () => canary.deref() === undefined);
  for (let i = 0; i < 10; i++) {
    collect();
    await turn();
  }
}
/** Makes an object that only a weak reference is left of. */
function dropped<T extends object>(make: () => T): WeakRef<T> {
  return new WeakRef(make());
}

/** The ports of `count` channels whose other ends or handles `lose` was given, and how many were told which reason. */
function watched(
  count: number,
  lose: (remote: Remote, index: number) => void,
): { ports: Port[]; told: Map<string, number> } {
  const told = new Map<string, number>();
  const ports = Array.from({ length: count }, (_, index) => {
    const { port, remote } = channel({ capacityBytes: 1024 });
    void port.closed.then((reason) => told.set(reason, (told.get(reason) ?? 0) + 1));
    lose(remote, index);
    return port;
  });
  return { ports, told };
}
async function allTold({ ports, told }: ReturnType<typeof watched>): Promise<void> {
  const wanted = ports.length - STRAYS;
  await collectUntil(`${wanted} of ${ports.length} are told`, () => (told.get('dropped') ?? 0) >= wanted);
  assert.deepEqual([...told.keys()], ['dropped']);
  for (const port of ports) port.close();
}

/** Native ports that hold on to something; known on Node only. */
function nativePorts(): number {
  const { getActiveResourcesInfo } = process as { getActiveResourcesInfo?: () => string[] };
  if (Bun !== undefined || 'Deno' in globalThis || getActiveResourcesInfo === undefined) return 0;
  return getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
}

/** Ends that stay as long as they have something to do, each with what makes them stay. */
const BUSY: Record<string, (far: Port) => unknown> = {
  'a message listener': (far) => far.on('message', () => {}),
  onmessage: (far) => {
    far.onmessage = () => {};
  },
  onclose: (far) => {
    far.onclose = () => {};
  },
  'a messageerror listener': (far) => far.addEventListener('messageerror', () => {}),
  'a pending receive': (far) => void far.receiveAsync(),
  'a loop over messages': async (far) => {
    for await (const value of far) void value;
  },
  'a pending flush': (far) => {
    far.postMessage('unread');
    void far.flush();
  },
  'a pending drained': (far) => {
    while (far.trySend('x'.repeat(100)));
    void far.drained();
  },
  'an outbox': (far) => {
    for (let i = 0; i < 100; i++) far.postMessage('x'.repeat(100));
  },
  'somebody who asked for closed': (far) => void far.closed,
};

const cases: Record<string, () => Promise<void>> = {
  'an end that was attached': async () => {
    await allTold(watched(100, (remote) => void attach(remote)));
  },
  'handles without memory': async () => {
    const gone = Array.from({ length: 50 }, () => channel({ memory: false }).port);
    let told = 0;
    for (const port of gone) void port.closed.then(() => told++);
    const make = (take: (remote: Remote) => Port): [Port, Port] => {
      const { port, remote } = channel({ memory: false });
      return [port, take(remote)];
    };
    const carrier = make(attach);
    const used = [
      make(attach),
      // The list alone is held, a copy, and what was moved from it.
      make(({ transfer, ...copy }) => {
        carrier[0].postMessage(copy, transfer);
        return carrier[1];
      }),
    ];
    const arrived = attach(await within('the handle', carrier[1].receiveAsync()));
    await collectUntil('all are told', () => told >= gone.length - STRAYS);
    for (const [port, far] of used) {
      port.postMessage('there');
      const reader = far === carrier[1] ? arrived : far;
      assert.equal(await within('a message', reader.receiveAsync()), 'there');
    }
    for (const port of [...used.flat(), ...carrier, ...gone, arrived]) port.close();
  },
  'ends that were selected together': async () => {
    const fars: Port[] = [];
    const ends = watched(100, (remote) => void fars.push(attach(remote)));
    for (const port of ends.ports.slice(0, 50)) port.postMessage('unread');
    for (let i = 0; i < 10; i++) select(fars, { timeoutMs: 0 });
    fars.reverse();
    await selectAsync(fars, { timeoutMs: 1 });
    await turn();
    // Marks of announcements that still stand.
    for (const port of ends.ports.slice(50)) port.postMessage('unread');
    select(fars, { timeoutMs: 1 });
    fars.length = 0;
    await allTold(ends);
  },
  'an end that has been used': async () => {
    const pending: Promise<unknown>[] = [];
    const ends = watched(100, (remote, index) => {
      const far = attach(remote, sleeping(index % 2 === 0 ? 'wait-async' : 'doorbell'));
      // A promise of waitAsync stays pending when nobody waits any more.
      pending.push(far.receiveAsync({ timeoutMs: 20 }));
      far.once('message', () => {}).removeAllListeners();
    });
    await within('the receives to end', Promise.all(pending));
    pending.length = 0;
    await allTold(ends);
  },
  'a handle that went nowhere': async () => {
    await allTold(watched(100, () => {}));
  },
  'a handle of a pair': async () => {
    const told: string[] = [];
    const ports = Array.from({ length: 50 }, () => {
      const port = attach(pair({ capacityBytes: 1024 })[0]);
      void port.closed.then((reason) => told.push(reason));
      return port;
    });
    await collectUntil('they are told', () => told.length >= ports.length - STRAYS);
    assert.deepEqual(new Set(told), new Set(['dropped']));
    for (const port of ports) port.close();
  },
  'ready of who waits for an end that nobody will open': async () => {
    for (const make of [() => channel().port, () => attach(pair()[0])]) {
      const outcomes: unknown[] = [];
      const ports = Array.from({ length: 50 }, make);
      for (const port of ports) {
        port.ready.then(
          () => outcomes.push('open'),
          ({ code, reason }) => outcomes.push(`${code} ${reason}`),
        );
      }
      await collectUntil('they are told', () => outcomes.length >= 50 - STRAYS);
      assert.deepEqual(new Set(outcomes), new Set(['ERR_CLOSED dropped']));
      for (const port of ports) port.close();
    }
  },
  'what lay unread before an end that nobody holds': async () => {
    // In its ring, in its inbox behind a large message, and come already beside the ring.
    for (const read of ['nothing', 'a marker', 'an inbox']) {
      const senders: Port[] = [];
      const ends = watched(40, (lost) => {
        const { port, remote } = channel({ capacityBytes: 1024 });
        const far = attach(remote);
        senders.push(port);
        if (read === 'an inbox') {
          for (let i = 0; i < 5; i++) port.postMessage('x'.repeat(400));
          port.postMessage({ lost }, lost.transfer);
          port.close();
          for (let i = 0; i < 5; i++) assert.equal(far.tryReceive(), 'x'.repeat(400));
          return;
        }
        if (read === 'a marker') port.postMessage('first', [new ArrayBuffer(8)]);
        port.postMessage({ lost }, lost.transfer);
        if (read === 'a marker') assert.equal(far.tryReceive(), 'first');
      });
      await allTold(ends);
      for (const port of senders) port.close();
    }
  },
  'a port that came in the last message': async () => {
    for (const how of ['receive', 'receiveAsync', 'a listener']) {
      const carriers: Port[] = [];
      const reads: Promise<unknown>[] = [];
      const ends = watched(40, (remote) => {
        const carrier = channel({ capacityBytes: 1024 });
        const reader = attach(carrier.remote);
        carriers.push(carrier.port, reader);
        const end = attach(remote);
        if (how === 'receive') {
          carrier.port.postMessage({ end }, [end]);
          assert.equal(typeof reader.receive({ timeoutMs: STEP_MS }), 'object');
          return;
        }
        if (how === 'receiveAsync')
          reads.push(reader.receiveAsync({ timeoutMs: STEP_MS }).then((value) => typeof value));
        else reads.push(new Promise((resolve) => reader.once('message', (value) => resolve(typeof value))));
        carrier.port.postMessage({ end }, [end]);
      });
      assert.deepEqual(
        new Set(await within('the messages', Promise.all(reads))),
        new Set(reads.length > 0 ? ['object'] : []),
      );
      reads.length = 0;
      await allTold(ends);
      for (const port of carriers) port.close();
    }
  },
  'what was sent is delivered': async () => {
    const texts = Array.from({ length: 40 }, (_, i) => `${i}`.padEnd(100));
    for (const sent of [texts.slice(0, 5), texts]) {
      const { port, remote } = channel({ capacityBytes: 1024 });
      const far = dropped(() => {
        const far = attach(remote);
        for (const text of sent) far.postMessage(text);
        far.postMessage(new ArrayBuffer(8), [new ArrayBuffer(8)]);
        return far;
      });
      // The outbox goes on by itself; a port with one stays.
      for (const text of sent) assert.equal(await within('a message', port.receiveAsync()), text);
      assert.deepEqual(await within('a moved value', port.receiveAsync()), new ArrayBuffer(8));
      if (Bun !== undefined) port.close();
      else {
        await collectUntil('it is collected', () => far.deref() === undefined);
        assert.equal(await within('the end', port.receiveAsync()), CLOSED);
        assert.equal(port.reason, 'dropped');
        port.close();
      }
    }
  },
  'a blocked peer in another thread': async () => {
    const { port, remote } = channel();
    const thread = startThread(
      async (stage) => {
        const { Bun, gc } = globalThis as { Bun?: { gc(full: boolean): void }; gc?: () => void };
        // On Bun, one of several that the collector takes at its word.
        const take = (): void => stage.port().postMessage('last words');
        take();
        stage.letGo();
        while (stage.gates.get(0) === 0) {
          if (Bun === undefined) gc?.();
          else Bun.gc(true);
          await new Promise((resolve) => setTimeout(resolve));
        }
      },
      { remote },
    );
    assert.equal(port.receive({ timeoutMs: STEP_MS }), 'last words');
    const next = port.receive({ timeoutMs: STEP_MS });
    assert.deepEqual([next === CLOSED, next === EMPTY, port.reason], [true, false, 'dropped']);
    thread.gates.open(0);
    await thread.done();
    port.close();
  },
  'a carrier that has sent ends to a worker which is terminated before it reads them': async () => {
    const { port: home, thread } = spawnThread(spawn, (stage) => {
      const home = stage.millrace.parentPort();
      const carriers: unknown[] = [];
      home.onmessage = ({ data }) => {
        if (data !== 'block') carriers.push(stage.millrace.attach(data));
        // On Deno the thread lives on, so that none of its native ports ever says that it has ended.
        else setTimeout(() => stage.pause(600_000));
      };
    });
    const words: Int32Array[] = [];
    const carriers: Port[] = [];
    const open = async (): Promise<void> => {
      const { port, remote } = channel({ capacityBytes: 1024 });
      home.postMessage(remote, remote.transfer);
      await until('the carrier is linked', () => joined(remote));
      carriers.push(port);
      words.push(new Int32Array(remote.memory));
    };
    for (let i = 0; i < 20; i++) await open();
    home.postMessage('block');
    for (let i = 0; i < 10; i++) await turn();
    const ends = watched(carriers.length, (remote, i) => {
      const port = attach(remote);
      carriers[i]?.postMessage({ port }, [port]);
    });
    carriers.length = 0;
    const over = (): number => words.filter((each) => Atomics.load(each, SIDE_0 + CLOSED_WORD) !== 0).length;
    await collectUntil('the carriers are collected', () => over() >= words.length - STRAYS);
    assert.equal(ends.told.size, 0);
    await thread.kill();
    const count = (): number => [...ends.told.values()].reduce((sum, each) => sum + each, 0);
    await until('the peers are told', () => count() >= over());
    for (const each of [...ends.ports, home]) each.close();
  },
  'a carrier that has sent ends to a worker which is terminated before it begins': async () => {
    const workers: TestThread[] = [];
    const carriers: WeakRef<Port>[] = [];
    const ends = watched(10, (remote) => {
      const { port: carrier, thread } = spawnThread(spawn, () => {});
      const port = attach(remote);
      carrier.postMessage({ port }, [port]);
      workers.push(thread);
      carriers.push(new WeakRef(carrier));
    });
    for (const { worker } of workers) void worker.terminate();
    const count = (): number => [...ends.told.values()].reduce((sum, each) => sum + each, 0);
    await collectUntil(`the peers are told`, () => count() === ends.ports.length);
    for (const port of ends.ports) port.close();
  },
  'ten thousand of them': async () => {
    const before = nativePorts();
    const refs: WeakRef<Port>[] = [];
    const alive = (): number => refs.filter((ref) => ref.deref() !== undefined).length;
    const make = (): void => {
      for (let i = 0; i < 500; i++) {
        const { port, remote } = channel({ capacityBytes: 1024 });
        refs.push(new WeakRef(port), new WeakRef(attach(remote)));
      }
    };
    for (let i = 0; i < 20; i++) {
      make();
      await turn();
      collect();
    }
    assert.equal(refs.length, 20_000);
    await collectUntil('all ports are gone', () => alive() <= STRAYS * 2);
    await collectUntil('their native ports too', () => nativePorts() <= before + 4);
  },
  'one end closed, the handle of the other dropped': async () => {
    const before = nativePorts();
    const refs = Array.from({ length: 200 }, () =>
      dropped(() => {
        const { port } = channel({ capacityBytes: 1024 });
        port.close();
        return port;
      }),
    );
    const alive = (): number => refs.filter((ref) => ref.deref() !== undefined).length;
    await collectUntil('the ports are gone', () => alive() <= STRAYS);
    await collectUntil('their native ports too', () => nativePorts() <= before + 4);
  },
  'a handle that is on its way stays good': async () => {
    const { port, remote } = channel();
    const other = channel();
    const passer = attach(other.remote);
    dropped(() => {
      other.port.postMessage({ remote }, remote.transfer);
      return other;
    });
    await collectAtLength();
    const passing = (passer.receive() as { remote: Remote }).remote;
    const thread = startThread((stage) => stage.port().postMessage('there'), { remote: passing });
    assert.equal(port.receive({ timeoutMs: STEP_MS }), 'there');
    await thread.done();
    for (const each of [port, passer]) each.close();
  },
  'a handle that was cloned with its transfer list is where the clone is': async () => {
    const made = Array.from({ length: 20 }, () => {
      const { port, remote } = channel<string, string>({ capacityBytes: 1024 });
      const copy: unknown = structuredClone(remote, { transfer: remote.transfer });
      assert.throws(() => attach(remote), { code: 'ERR_HANDLE' });
      return { port, copy };
    });
    await collectAtLength();
    for (const { port, copy } of made) {
      assert.equal(port.reason, undefined);
      // On Deno that call makes native ports of another class than those which threads send each other.
      if (!('Deno' in globalThis)) {
        const far = attach<string, string>(copy);
        port.postMessage('heard');
        assert.equal(far.receive({ timeoutMs: STEP_MS }), 'heard');
        far.close();
      }
      port.close();
    }
  },
  'a copy of a handle, or its transfer list, keeps it': async () => {
    const { port, remote: copy } = ((): { port: Port; remote: object } => {
      const { port, remote } = channel();
      return { port, remote: { ...remote } };
    })();
    const list = ((): { transfer: readonly unknown[] } => ({ transfer: channel().remote.transfer }))();
    await collectAtLength();
    assert.equal(port.reason, undefined);
    const far = attach(copy);
    port.postMessage('heard');
    assert.equal(far.receive({ timeoutMs: STEP_MS }), 'heard');
    assert.deepEqual(list.transfer, list.transfer);
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(null, list.transfer as Transferable[]);
    for (const each of [port, far, port1, port2]) each.close();
    assert.throws(() => transferOf(null));
  },
};
for (const [what, begin] of Object.entries(BUSY)) {
  cases[`stays: ${what}`] = async () => {
    const { port, remote } = channel({ capacityBytes: 1024 });
    const far = dropped(() => {
      const far = attach(remote);
      void begin(far);
      return far;
    });
    await collectAtLength();
    assert.equal(port.reason, undefined);
    assert.notEqual(far.deref(), undefined);
    port.postMessage('still there');
    port.close();
    await collectUntil('it goes once its peer has', () => far.deref() === undefined || Bun !== undefined);
  };
}

const chosen = cases[process.argv[2] ?? ''];
if (chosen === undefined) console.log(JSON.stringify(Object.keys(cases)));
else {
  await chosen();
  console.log('ok');
}
