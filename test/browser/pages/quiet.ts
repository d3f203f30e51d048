// Workers that have blocked for a while and sleep on the page of their agent (src/link/quiet-place.ts): whatever they wait for wakes them there.
import { attach, type Port, pair, transferOf } from '../../../src/index.ts';
import { check, equal } from './checks.ts';
import { asleepFor, next, type Role, startThread, talkTo } from './thread.ts';

const newFlag = (): Int32Array => new Int32Array(new SharedArrayBuffer(4));

check('a message wakes it, and so does the next one after a while', async () => {
  const asleep = newFlag();
  const { port, thread } = talkTo(
    async ({ port, data, sleepSoundly }) => {
      const p = port();
      await p.ready;
      sleepSoundly(data);
      return [p.receive(), p.receive(), p.receive()];
    },
    {},
    asleep,
  );
  for (const times of [1, 2]) {
    await asleepFor(times, asleep);
    port.postMessage(times);
  }
  port.postMessage(3);
  equal(await thread.done(), [1, 2, 3]);
});

check('an interrupt wakes it', async () => {
  const asleep = newFlag();
  const { port, thread } = talkTo(
    async ({ port, data, sleepSoundly, millrace }) => {
      const p = port();
      await p.ready;
      sleepSoundly(data);
      return [p.receive({ interruptible: true }) === millrace.EMPTY, p.interrupted];
    },
    {},
    asleep,
  );
  await asleepFor(1, asleep);
  port.interrupt(7);
  equal(await thread.done(), [true, 7]);
});

check('room wakes one that is blocked in send', async () => {
  const asleep = newFlag();
  const { port, thread } = talkTo(
    async ({ port, data, sleepSoundly }) => {
      const p = port();
      await p.ready;
      while (p.trySend('x'.repeat(400)));
      sleepSoundly(data);
      p.send(`last${'x'.repeat(400)}`);
    },
    { capacityBytes: 4096, highWaterMarkBytes: 0 },
    asleep,
  );
  await asleepFor(1, asleep);
  while (!String(await next(port)).startsWith('last'));
  await thread.done();
});

check('another channel of its link goes on with the event loop behind it', async () => {
  const asleep = newFlag();
  const { port, thread } = talkTo(
    async ({ port, data, hear, say, sleepSoundly, millrace }) => {
      const p = port();
      const other = millrace.attach(await hear());
      await Promise.all([p.ready, other.ready]);
      const got: unknown[] = [];
      other.onmessage = (event) => say(got.push(event.data));
      sleepSoundly(data);
      got.push(p.receive());
      await hear();
      return got;
    },
    {},
    asleep,
  );
  const [one, remote] = pair();
  const other = attach(one);
  thread.tell(remote, transferOf(remote));
  await asleepFor(1, asleep);
  other.postMessage('while it is blocked');
  port.postMessage('wakes it');
  equal(await thread.next(), 2);
  other.postMessage('later');
  equal(await thread.next(), 3);
  thread.tell('end');
  equal(await thread.done(), ['wakes it', 'while it is blocked', 'later']);
});

/** Says what it is given, by an end that has come to it, when it is told to. */
const speaks: Role = async ({ port, say, hear }) => {
  const home = port() as unknown as { receiveAsync(): Promise<{ readonly moved: Port }> };
  const { moved } = await home.receiveAsync();
  say('up');
  moved.postMessage(await hear());
  await hear();
};
for (const how of ['receive', 'select'] as const) {
  check(`its peer goes over to another worker and speaks there, while it sleeps in ${how}`, async () => {
    const asleep = newFlag();
    const [near, remote] = pair();
    const port = attach(near);
    const reader = startThread(
      async ({ port, data, sleepSoundly, say, millrace }) => {
        const { how, asleep } = data as { how: 'receive' | 'select'; asleep: Int32Array };
        const p = port();
        await p.ready;
        say('up');
        sleepSoundly(asleep);
        if (how === 'select') millrace.select([p]);
        return p.receive();
      },
      { remote, data: { how, asleep } },
    );
    const { port: home, thread } = talkTo(speaks);
    await reader.next();
    await asleepFor(1, asleep);
    home.postMessage({ moved: port }, [port]);
    await thread.next();
    thread.tell('from there');
    equal(await reader.done(), 'from there');
    thread.tell('end');
    await thread.done();
  });
}
