// pair(): two threads connected by a third that is no part of the channel.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, channel, EMPTY, features, pair, spawn, transferOf } from '../../src/index.ts';
import { type Role, spawnThread, startThread } from '../kit/thread.ts';
import { turn, within } from '../kit/watchdog.ts';

test('both ends work in one thread, whichever is attached first, and each once', () => {
  for (const order of [[0, 1] as const, [1, 0] as const]) {
    const remotes = pair();
    const first = attach(remotes[order[0]]);
    first.postMessage('early');
    assert.equal(first.tryReceive(), EMPTY);
    const second = attach(remotes[order[1]]);
    assert.equal(second.receive(), 'early');
    second.postMessage('answer');
    assert.equal(first.receive(), 'answer');
    for (const remote of remotes) assert.throws(() => attach(remote), { code: 'ERR_HANDLE' });
    first.close();
    assert.equal(second.receive(), CLOSED);
    second.close();
  }
});

test('the first end may send, end and be gone before the second one is attached', async () => {
  const [one, other] = pair({ capacityBytes: 1024 });
  const texts = Array.from({ length: 40 }, (_, i) => `${i}`.padEnd(100));
  const first = attach(one);
  for (const text of texts) first.postMessage(text);
  first.close();
  for (let i = 0; i < 10; i++) await turn();
  const second = attach(other);
  for (const text of texts) assert.equal(second.receive(), text);
  assert.equal(second.receive(), CLOSED);
  assert.equal(await second.closed, 'closed');
  second.close();
});

test('options of the channel hold for both ends; those of an end are refused', () => {
  const [one, other] = pair({ capacityBytes: 4096 });
  const ends = [attach(one, { overflow: 'reject' }), attach(other)];
  for (const end of ends) {
    assert.equal(end.stats().capacityBytes, 4096);
    end.close();
  }
  assert.throws(() => pair({ overflow: 'reject' } as never), { code: 'ERR_OPTION', message: /attach/ });
  assert.throws(() => pair(5 as never), { code: 'ERR_OPTION' });
});

const asker: Role = (stage) => {
  const port = stage.port();
  port.send('what is the answer?');
  const answer = port.receive();
  port.close();
  return answer;
};
const answerer: Role = (stage) => {
  const port = stage.port();
  const question = port.receive();
  port.send(42);
  port.receive();
  port.close();
  return question;
};

test('two workers talk directly, and the thread that connected them takes no part', async () => {
  const [one, other] = pair();
  const threads = [startThread(asker, { remote: one }), startThread(answerer, { remote: other })] as const;
  assert.deepEqual(await Promise.all(threads.map((thread) => thread.done())), [42, 'what is the answer?']);
});

test('handles of a pair travel on through other ports', async () => {
  const [one, other] = pair();
  const post = channel();
  const passer = attach(post.remote);
  post.port.postMessage({ one, other }, [...one.transfer, ...other.transfer]);
  const passing = passer.receive() as { one: unknown; other: unknown };
  assert.throws(() => attach(one), { code: 'ERR_HANDLE' });
  assert.notEqual(transferOf(passing.one)[0], transferOf(passing.other)[0]);
  const threads = [
    startThread(answerer, { remote: passing.other }),
    startThread(asker, { remote: passing.one }),
  ] as const;
  assert.deepEqual(await Promise.all(threads.map((thread) => thread.done())), ['what is the answer?', 42]);
  post.port.close();
  passer.close();
});

const ends = {
  closed: (stage) => {
    stage.port().close();
    setInterval(() => {}, 1_000_000);
  },
  exit: (stage) => {
    stage.port();
    stage.exit();
  },
  crash: (stage) => {
    stage.port();
    setTimeout(stage.crash);
    return new Promise(() => {});
  },
  terminated: (stage) => {
    stage.port().postMessage('here');
    setInterval(() => {}, 1_000_000);
  },
} satisfies Record<string, Role>;

for (const reason of Object.keys(ends) as (keyof typeof ends)[]) {
  for (const which of [0, 1] as const) {
    for (const how of ['blocked', 'event loop'] as const) {
      // Bun and Deno give no sign of a terminate() that a blocked thread could read (guarantee sheet, G4).
      if (reason === 'terminated' && how === 'blocked' && !features().probesPeers) continue;
      test(`the ${which === 0 ? 'first' : 'second'} end of a pair goes: ${reason}; the other, ${how}, is told`, async () => {
        const remotes = pair();
        const survivor = startThread(
          how === 'blocked'
            ? async (stage) => {
                const port = stage.port();
                let value = port.receive();
                if (value === 'here') {
                  stage.gates.open(0);
                  value = port.receive();
                }
                return [value === stage.millrace.CLOSED, await port.closed];
              }
            : async (stage) => {
                const port = stage.port();
                let value = await port.receiveAsync();
                if (value === 'here') {
                  stage.gates.open(0);
                  value = await port.receiveAsync();
                }
                return [value === stage.millrace.CLOSED, await port.closed];
              },
          { remote: remotes[which === 0 ? 1 : 0] },
        );
        const goer = startThread(ends[reason], { remote: remotes[which] });
        if (reason === 'terminated') {
          await survivor.gates.passAsync(0);
          await goer.kill();
        }
        assert.deepEqual(await survivor.done(), [true, reason]);
        await goer.kill();
      });
    }
  }
}

test('a blocked end hears of a spawned one that was terminated, on every runtime', async () => {
  const [one, other] = pair();
  const survivor = startThread(
    async (stage) => {
      const port = stage.port();
      port.receive();
      stage.gates.open(0);
      const value = port.receive();
      return [value === stage.millrace.CLOSED, await port.closed];
    },
    { remote: one },
  );
  const goer = spawnThread(spawn, (stage) => {
    const { remote } = stage.millrace.parentPort().receive() as { remote: unknown };
    const port = stage.millrace.attach(remote);
    port.postMessage('here');
    // Holds it: the collector would end it as dropped.
    setInterval(() => port.closed, 1_000_000);
  });
  goer.port.postMessage({ remote: other }, other.transfer);
  await survivor.gates.passAsync(0);
  await goer.thread.kill();
  const [closed, reason] = (await survivor.done()) as [boolean, string];
  assert.deepEqual([closed, reason], [true, 'terminated']);
  goer.port.close();
});

test('a pair of which one end is attached here waits for the other, in time', async () => {
  const [one, other] = pair();
  const port = attach(one);
  const received = port.receiveAsync();
  port.postMessage('question');
  const thread = startThread(
    (stage) => {
      const port = stage.port();
      port.postMessage([port.receive(), 'answer']);
      port.receive();
    },
    { remote: other },
  );
  assert.deepEqual(await within('the answer', received), ['question', 'answer']);
  assert.equal(port.receive({ timeoutMs: 0 }), EMPTY);
  port.close();
  await within('the thread', thread.done());
});

for (const overflow of ['wait', 'latest'] as const) {
  test(`a handle in a message that nobody will read any more is known to be lost (${overflow})`, async () => {
    const { port, remote } = channel({ overflow });
    const far = attach(remote);
    const lost = Array.from({ length: 3 }, () => channel());
    for (const each of lost) port.postMessage(each.remote, each.remote.transfer);
    const read = overflow === 'wait' ? 0 : 2;
    const arrived = attach(far.tryReceive());
    // Read by nobody, or replaced.
    far.close();
    for (const [i, each] of lost.entries()) {
      if (i !== read) assert.equal(await within('the end', each.port.closed), 'dropped');
    }
    arrived.postMessage('here');
    assert.equal(lost[read]?.port.tryReceive(), 'here');
    arrived.close();
  });
}

test('a handle that was taken over and not asked for when its reader closes is known to be lost', async () => {
  const { port, remote } = channel({ capacityBytes: 1024 });
  const far = attach(remote);
  const lost = channel();
  // More than the ring holds, so that the handle is left over when its sender ends, and taken over with what stands before it.
  for (let i = 0; i < 5; i++) port.postMessage('x'.repeat(400));
  port.postMessage(lost.remote, lost.remote.transfer);
  port.close();
  for (let i = 0; i < 5; i++) assert.equal(far.tryReceive(), 'x'.repeat(400));
  far.close();
  assert.equal(await within('the end', lost.port.closed), 'dropped');
});
