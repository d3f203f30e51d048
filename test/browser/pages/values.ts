// What a browser clones natively arrives as it does natively, from a page to a worker's event loop and back; what the ring itself
// carries also to a worker that blocks. What it refuses is refused.
import { check, equal, ok, within } from './checks.ts';
import {
  BESIDE,
  describe,
  IN_PARTS,
  IN_RING,
  isHere,
  MOVED,
  memory,
  nativeEcho,
  ONLY_NATIVELY,
  REFUSED,
} from './kinds.ts';
import { next, type Stage, type Talk, talkTo } from './thread.ts';

const native = nativeEcho();

function echo({ port }: Stage): void {
  const p = port();
  p.onmessage = ({ data }) => {
    const [value, moves] = data as [unknown, boolean];
    try {
      p.postMessage([value], moves ? [value as never] : []);
    } catch (error) {
      p.postMessage((error as Error).name);
    }
  };
  p.onmessageerror = () => p.postMessage('messageerror');
}
async function ours({ port }: Talk, value: unknown, moved: unknown[]): Promise<string> {
  const unreadable = new Promise<string>((resolve) => {
    port.onmessageerror = () => resolve('messageerror');
  });
  try {
    port.postMessage([value, moved.length > 0], moved as never);
  } catch (error) {
    return (error as Error).name;
  }
  const answer = await Promise.race([next(port), unreadable]);
  return typeof answer === 'string' ? answer : describe((answer as unknown[])[0]);
}

for (const [group, kinds] of [
  ['', IN_RING],
  ['', BESIDE],
  ['moved ', MOVED],
  ['refused ', REFUSED],
] as const) {
  for (const [name, kind] of Object.entries(kinds)) {
    const { make, moves } = kind;
    if (!isHere(kind)) continue;
    check(`${group}${name} fares as natively, to an event loop and back`, async () => {
      const same = await make();
      const expected = await native(same, moves ? [same] : []);
      // A data channel moves only in the task that made it.
      const value = await make();
      const talk = talkTo(echo);
      equal(await ours(talk, value, moves ? [value] : []), expected);
      // It stands in nobody's way.
      equal(await ours(talk, 'next', []), describe('next'));
    });
  }
}

for (const [name, kind] of Object.entries(IN_RING)) {
  const { make } = kind;
  if (!isHere(kind)) continue;
  check(`${name} reaches a worker that blocks`, async () => {
    const { port, thread } = talkTo(({ port, say }) => {
      const p = port();
      say('up');
      p.postMessage(p.receive());
    });
    await thread.next();
    const value = await make();
    port.postMessage(value);
    equal(describe(await next(port)), describe(value));
  });
}

/** A worker that blocks sends it back, and it is what natively comes back. */
for (const [name, make] of [
  ...IN_PARTS.filter((name) => isHere(BESIDE[name])).map((name) => [name, BESIDE[name]!.make] as const),
  ['DOMRectReadOnly', () => new DOMRectReadOnly(1, -0, Number.NaN, 4)] as const,
  ['DOMPointReadOnly', () => new DOMPointReadOnly(1, 2, 3, 0.5)] as const,
  ['DOMMatrixReadOnly of three dimensions', () => new DOMMatrixReadOnly().translate(1, 2, 3)] as const,
]) {
  check(`${name} reaches a worker that blocks, as natively`, async () => {
    const { port, thread } = talkTo(({ port, say }) => {
      const p = port();
      say('up');
      p.postMessage([p.receive()]);
      return p.receive();
    });
    await thread.next();
    const value = await make();
    const expected = await native(value, []);
    port.postMessage(value);
    port.postMessage('next');
    const [back] = (await next(port)) as [object];
    equal(describe(back), expected);
    equal(back.constructor, (value as object).constructor);
    equal(await thread.done(), 'next');
  });
}
check('a DOMException that a worker which blocks is sent says where it was made', async () => {
  const { port, thread } = talkTo(({ port, say }) => {
    const p = port();
    say('up');
    const { code, stack } = p.receive() as DOMException & { stack: string };
    return [code, stack];
  });
  await thread.next();
  const exception = new DOMException('m', 'AbortError');
  port.postMessage(exception);
  equal(await thread.done(), [20, (exception as { stack?: string }).stack]);
});
check('an object that only looks like one of the web’s fares as natively', async () => {
  const looks = Object.create(DOMPoint.prototype);
  const expected = await native(looks, []).catch((error) => error.name);
  equal(await ours(talkTo(echo), looks, []), expected);
});

check('moved ArrayBuffers reach a worker that blocks, and are gone here', async () => {
  const { port, thread } = talkTo(({ port, say }) => {
    const p = port();
    say('up');
    const { view, buffer } = p.receive() as { view: Uint16Array; buffer: ArrayBuffer };
    return [view.byteOffset, [...view], view.buffer === buffer, buffer.byteLength, p.receive()];
  });
  await thread.next();
  const buffer = new Uint8Array([1, 0, 2, 0, 3, 0, 4, 0]).buffer;
  const only = new ArrayBuffer(16);
  port.postMessage({ view: new Uint16Array(buffer, 2, 2), buffer }, [buffer, only] as never);
  port.postMessage('next');
  equal([buffer.byteLength, only.byteLength], [0, 0], 'left here:');
  equal(await thread.done(), [2, [2, 3], true, 8, 'next']);
});
check('a message with moved ArrayBuffers that finds no room leaves them where they are', async () => {
  const { port } = talkTo(({ rest }) => rest(50), { capacityBytes: 1024 });
  const buffer = new ArrayBuffer(256);
  let count = 0;
  while (port.trySend('x'.repeat(100))) count++;
  ok(count > 0, 'nothing went in');
  equal(port.trySend(buffer, [buffer as never]), false);
  equal(buffer.byteLength, 256);
});
check('the newest of overflow latest may be a moved ArrayBuffer, to a worker that blocks', async () => {
  const { port, thread } = talkTo(
    ({ port, say }) => {
      const p = port();
      say('up');
      return (p.receive() as ArrayBuffer).byteLength;
    },
    { overflow: 'latest' },
  );
  await thread.next();
  const buffer = new ArrayBuffer(8);
  port.postMessage(buffer, [buffer as never]);
  equal([buffer.byteLength, await thread.done()], [0, 8]);
});

/** A worker that blocks without a limit is told at once that it cannot have what only the runtime carries. */
for (const [name, kind] of ONLY_NATIVELY) {
  const { make, moves } = kind;
  if (!isHere(kind)) continue;
  check(`a worker that blocks and is sent ${name} is told what to do`, async () => {
    const same = await make();
    const expected = await native(same, moves ? [same] : []);
    const { port, thread } = talkTo(async ({ port, say }) => {
      const p = port();
      say('up');
      let code = '';
      try {
        p.receive();
      } catch (error) {
        code = (error as { code: string }).code;
      }
      const fate = await p.receiveAsync().then(
        () => 'came',
        (error) => error.code,
      );
      return [code, fate, p.receive()];
    });
    await thread.next();
    const value = await make();
    try {
      port.postMessage(value, moves ? [value as never] : []);
    } catch (error) {
      equal((error as Error).name, expected);
      return;
    }
    port.postMessage('next');
    equal(await thread.done(), ['ERR_UNSUPPORTED', expected === 'messageerror' ? 'ERR_DECODE' : 'came', 'next']);
  });
}

check(
  'a worker that blocks for a while and is sent a Blob keeps its limit, and gets it from its event loop',
  async () => {
    const { port, thread } = talkTo(async ({ port, say, millrace }) => {
      const p = port();
      say('up');
      const first = p.receive({ timeoutMs: 300 });
      const second = await p.receiveAsync();
      return [first === millrace.EMPTY, second instanceof Blob, p.receive()];
    });
    await thread.next();
    port.postMessage(new Blob(['x']));
    port.postMessage('next');
    equal(await thread.done(), [true, true, 'next']);
  },
);

check('a moved MessagePort works over there', async () => {
  const { port } = talkTo(({ port }) => {
    port().onmessage = ({ ports }) => {
      const moved = ports[0] as MessagePort;
      moved.onmessage = ({ data }) => moved.postMessage(data * 2);
    };
  });
  const { port1, port2 } = new MessageChannel();
  port.postMessage(port2, [port2 as never]);
  const answer = new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
  });
  port1.postMessage(21);
  equal(await within('the answer', answer), 42);
});

check('memory that is shared stays shared', async () => {
  const { port } = talkTo(({ port }) => {
    const p = port();
    p.onmessage = ({ data }) => {
      Atomics.store(data as Int32Array, 0, 42);
      p.postMessage('stored');
    };
  });
  const words = new Int32Array(memory());
  port.postMessage(words);
  equal(await next(port), 'stored');
  equal(words[0], 42);
});

check('what was moved is gone here', async () => {
  const { port } = talkTo(echo);
  const buffer = new ArrayBuffer(8);
  port.postMessage([buffer, true], [buffer as never]);
  equal(buffer.byteLength, 0);
  const [back] = (await next(port)) as [ArrayBuffer];
  ok(back.byteLength === 8, `${back.byteLength} bytes came back`);
});
