// What the HTML standard says of message ports, asked of a Port between two documents: events, start, moving there and back, refusals, the
// end. Over shared memory and over native ports; WebKit hands shared memory to no document (D15 of known.mjs).
import { attach, channel, type Port } from '../../../src/index.ts';
import { afterwards, check, equal, ok, thrownBy, within } from './checks.ts';
import { openFrame, talkToDocument } from './documents.ts';
import { next } from './thread.ts';

const isWebKit = !/Chrome|Firefox/.test(navigator.userAgent);
const MEDIA = isWebKit ? [false] : [true, false];

// Not removed: a page of WebKit to which native ports came from a frame may hear nothing any more afterwards.
const { contentWindow } = await openFrame({ stays: true });
const there = contentWindow as Window;

interface Heard {
  readonly type: string;
  readonly data: unknown;
  readonly ports: readonly unknown[];
}
const heardOf = (port: Port, type: 'message' | 'close'): Promise<Heard> =>
  within(
    `a ${type} event`,
    new Promise((resolve) => port.addEventListener(type, (event) => resolve(event as Heard), { once: true })),
  );

for (const memory of MEDIA) {
  const over = memory ? 'shared memory' : 'native ports';
  const talk = (): Promise<Port> => talkToDocument(there, { memory });

  check(`${over}: an event has its target, its data, no ports and no source`, async () => {
    const port = await talk();
    const heard = new Promise<unknown[]>((resolve) => {
      port.onmessage = function (event) {
        const { type, data, ports, target, currentTarget, origin, lastEventId, source, bubbles, cancelable } = event;
        resolve([
          this === port && target === port && currentTarget === port,
          [type, data, ports.length, origin, lastEventId, source, bubbles, cancelable],
        ]);
      };
    });
    port.postMessage({ a: 1 });
    equal(await within('the event', heard), [true, ['message', { a: 1 }, 0, '', '', null, false, false]]);
  });

  check(`${over}: messages wait for onmessage, and then come in order`, async () => {
    const port = await talk();
    const got: unknown[] = [];
    for (let i = 0; i < 10; i++) port.postMessage(i);
    await within('what was sent to be taken', port.flush());
    const all = new Promise<void>((resolve) => {
      port.onmessage = ({ data }) => {
        if (got.push(data) === 10) resolve();
      };
    });
    equal(got, [], 'before the task is over');
    await within('all of them', all);
    equal(got, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  check(`${over}: a native port goes to the frame and back, in data and ports`, async () => {
    const port = await talk();
    const { port1, port2 } = new MessageChannel();
    afterwards(() => port1.close());
    const heard = heardOf(port, 'message');
    port.postMessage({ moved: [port2] }, [port2 as never]);
    const { data, ports } = await heard;
    const [back] = (data as { moved: MessagePort[] }).moved;
    ok(ports.length === 1 && ports[0] === back && back !== port2, 'another port than that in the data');
    const said = new Promise<unknown>((resolve) => {
      port1.onmessage = (event) => resolve(event.data);
    });
    (back as MessagePort).postMessage('through it');
    equal(await within('a message through it', said), 'through it');
  });

  if (memory) {
    check(`${over}: a Port goes to the frame and back with what was waiting for it`, async () => {
      const port = await talk();
      const { port: near, remote } = channel({ memory });
      afterwards(() => near.close());
      const far = attach(remote);
      for (let i = 0; i < 5; i++) near.postMessage(i);
      port.postMessage({ moved: [far] }, [far as never]);
      far.postMessage('of one that has moved: dropped, quietly');
      const [back] = ((await next(port)) as { moved: Port[] }).moved as [Port];
      for (let i = 5; i < 10; i++) near.postMessage(i);
      for (let i = 0; i < 10; i++) equal(await next(back), i);
      back.postMessage('home');
      equal(await next(near), 'home');
    });
  } else {
    check(`${over}: a Port does not move, and says what does`, async () => {
      const port = await talk();
      const { remote } = channel({ memory });
      const far = attach(remote);
      afterwards(() => far.close());
      ok(/send the `remote`/.test(thrownBy(() => port.postMessage(far, [far as never])).message), 'another refusal');
    });
  }

  check(`${over}: a buffer moves to the frame and back, and is detached here`, async () => {
    const port = await talk();
    const buffer = new Uint8Array([1, 2, 3]).buffer;
    port.postMessage({ moved: [buffer] }, [buffer as never]);
    equal(buffer.byteLength, 0);
    const [back] = ((await next(port)) as { moved: ArrayBuffer[] }).moved as [ArrayBuffer];
    equal([...new Uint8Array(back)], [1, 2, 3]);
  });

  check(`${over}: what is refused leaves the port as it was`, async () => {
    const port = await talk();
    const buffer = new ArrayBuffer(8);
    const error = new Error('its own');
    const refusals: (() => void)[] = [() => port.postMessage(() => {}), () => port.postMessage(Symbol('s'))];
    for (const [i, refusal] of refusals.entries()) equal(thrownBy(refusal).name, 'DataCloneError', `refusal ${i}:`);
    // Lists that a native port refuses by a DataCloneError.
    for (const list of [[port], [buffer, buffer]]) {
      equal(thrownBy(() => port.postMessage(list[0], list as never)).code, 'ERR_TRANSFER');
    }
    equal(buffer.byteLength, 8, 'after the refusals the buffer has');
    const meddles = {
      get value(): never {
        throw error;
      },
    };
    ok((thrownBy(() => port.postMessage(meddles)) as unknown) === error, 'another error than the getter threw');
    port.postMessage('good');
    equal(await next(port), 'good');
  });

  check(`${over}: close() in the frame is one close event, behind what was sent`, async () => {
    const port = await talk();
    const got: unknown[] = [];
    port.onmessage = ({ data }) => got.push(data);
    port.addEventListener('close', () => got.push('close event'));
    const closed = heardOf(port, 'close');
    for (const value of ['a', 'b', 'close']) port.postMessage(value);
    equal((await closed).type, 'close');
    port.postMessage('dropped, quietly');
    equal(got, ['a', 'b', 'close event']);
  });

  if (isWebKit) continue;
  check(`${over}: a frame that is removed is a close event`, async () => {
    const element = await openFrame();
    const port = await talkToDocument(element.contentWindow as Window, { memory });
    const closed = heardOf(port, 'close');
    element.remove();
    await closed;
    equal(port.reason, 'exit');
    port.postMessage('dropped, quietly');
  });
}
