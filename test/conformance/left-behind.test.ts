// A value that was posted before its sender heard that the end which is to read it has moved comes by way of the thread that was left.
// That one sends it on also where it is blocked, or ends, right after the move.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { attach, CLOSED, channel, type Port, type Remote, select } from '../../src/index.ts';
import { ownAgent } from '../../src/link/own-agent.ts';
import { agentLinks } from '../../src/transport/thread/agent-links.ts';
import { joined } from '../kit/linked.ts';
import { type Role, startThread } from '../kit/thread.ts';
import { STEP_MS, until } from '../kit/watchdog.ts';

const soon = { timeoutMs: STEP_MS };

const answers: Role = ({ port, gates }) => {
  const control = port();
  control.postMessage('here');
  const { one } = control.receive() as { one: Port };
  const got = one.receive() as { i: number };
  control.postMessage(got.i);
  gates.pass(0);
  one.close();
};

const waysToBlock: Record<string, (control: Port) => unknown> = {
  'in receive': (control) => control.receive(soon),
  'in select': (control) => {
    select([control], soon);
    return control.tryReceive();
  },
};
for (const [name, block] of Object.entries(waysToBlock)) {
  test(`a thread that was left, and blocks ${name} for the thread that has the end now, sends on what that one waits for`, async () => {
    const { port: control, remote } = channel();
    const thread = startThread(answers, { remote });
    assert.equal(await control.receiveAsync(soon), 'here');
    const { port: one, remote: otherRemote } = channel();
    const other = attach(otherRemote);
    const { port1, port2 } = new MessageChannel();
    let moved = false;
    const value = {
      port2,
      get i(): number {
        // The value is not on its line yet: the other end leaves in between, as another thread's may at any time.
        if (!moved) {
          moved = true;
          control.postMessage({ one }, [one]);
        }
        return 7;
      },
    };
    other.postMessage(value, [port2]);
    assert.equal(block(control), 7);
    thread.gates.open(0);
    await thread.done();
    for (const each of [control, other, port1]) each.close();
  });
}

for (const how of ['exits', 'returns']) {
  test(`a thread that was left, and ${how} then, sends on what has come by then`, async () => {
    const { port: control, remote } = channel();
    const thread = startThread(
      ({ port, millrace, data }) => {
        const control = port();
        const { port: one, remote } = millrace.channel();
        const other = millrace.attach(remote);
        const { port2 } = new MessageChannel();
        let moved = false;
        const value = {
          port2,
          get i(): number {
            if (!moved) {
              moved = true;
              control.postMessage({ one }, [one]);
            }
            return 7;
          },
        };
        other.postMessage(value, [port2]);
        if (data === 'exits') process.exit(0);
        control.close();
      },
      { remote, data: how },
    );
    thread.result.catch(() => {});
    const { one } = (await control.receiveAsync(soon)) as { one: Port };
    await thread.ended;
    assert.equal(((await one.receiveAsync(soon)) as { i: number }).i, 7);
    one.close();
    control.close();
  });
}

test('what a peer leaves over for a thread that was left, and that is terminated before it sends it on, is told of before the end', async () => {
  const { port: home, remote } = channel();
  const thread = startThread(
    async ({ port, millrace, gates }) => {
      const home = port();
      const end = millrace.attach(await home.receiveAsync());
      gates.open(0);
      await gates.passAsync(1);
      // From here on it hears nothing.
      const threads = process.getBuiltinModule('node:worker_threads') as { receiveMessageOnPort: unknown };
      threads.receiveMessageOnPort = () => undefined;
      home.postMessage(end, [end]);
      gates.open(2);
      setInterval(() => {}, 60_000);
      await new Promise(() => {});
    },
    { remote },
  );
  const { port: peer, remote: handle } = channel({ capacityBytes: 1024 });
  home.postMessage(handle, handle.transfer);
  await thread.gates.passAsync(0);
  await until('they are linked', () => joined(handle));
  const texts = Array.from({ length: 40 }, (_, i) => `${i}`.padEnd(100));
  for (const text of texts) peer.postMessage(text);
  thread.gates.open(1);
  thread.gates.pass(2);
  // It ends before it hears that the other end has moved.
  const threads = process.getBuiltinModule('node:worker_threads');
  const { receiveMessageOnPort } = threads;
  threads.receiveMessageOnPort = () => undefined;
  peer.close();
  threads.receiveMessageOnPort = receiveMessageOnPort;
  const end = (await home.receiveAsync(soon)) as Port;
  await thread.kill();
  await thread.ended;
  const got: unknown[] = [];
  for (let next = ''; next !== 'the end'; ) {
    try {
      const value = await end.receiveAsync(soon);
      next = value === CLOSED ? 'the end' : 'a text';
    } catch (error) {
      next = (error as { code: string }).code;
    }
    if (got.at(-1) !== next) got.push(next);
  }
  assert.deepEqual(got, ['a text', 'ERR_DECODE', 'the end']);
  assert.ok(peer.stats().undelivered > 0);
  home.close();
});

// ---- it is over some time -----------------------------------------------------------------------------------------

/** Moves it within this thread, which is then one that was left. @param onTheWay called before it arrives */
function moveHere(port: Port, onTheWay: () => void = () => {}): Port {
  const { port: carrier, remote } = channel();
  const reader = attach(remote);
  carrier.postMessage({ port }, [port]);
  onTheWay();
  const { port: moved } = reader.receive(soon) as { port: Port };
  carrier.close();
  return moved;
}
/** Nothing more is awaited for an end that has left. */
const nothingLeft = (): boolean => !ownAgent().links.includes(agentLinks().left);

async function closesAndMoves(port: Port): Promise<void> {
  assert.equal(port.receive(soon), 'unread');
  const moved = moveHere(port);
  assert.equal(moved.receive(soon), CLOSED);
  moved.close();
  await until('nothing is left here', nothingLeft);
}

for (const rests of [false, true]) {
  test(`an end whose peer in this thread has closed before it moves is awaited no more${rests ? ', after they have met' : ''}`, async () => {
    for (const swapped of [false, true]) {
      const { port, remote } = channel();
      const ends = [port, attach(remote)] as const;
      if (rests) await until('they have met', () => joined(remote));
      const [stays, moves] = swapped ? [ends[1], ends[0]] : ends;
      stays.postMessage('unread');
      stays.close();
      await closesAndMoves(moves);
    }
  });
}

/** Makes a channel, and closes its end of it when it is told. */
const closes: Role = async (stage) => {
  const control = stage.port();
  const { port, remote } = stage.millrace.channel();
  control.postMessage(remote, remote.transfer as never);
  port.postMessage('unread');
  if (stage.data === 'before anybody has the other end') {
    port.close();
    stage.gates.open(1);
  }
  if (stage.data === 'before it hears anything') stage.gates.pass(0);
  else await control.receiveAsync();
  port.close();
  control.postMessage('closed');
  if (stage.data !== 'and ends') await control.receiveAsync();
  control.close();
};
for (const how of ['before anybody has the other end', 'before it hears anything', 'and lives on', 'and ends']) {
  test(`an end whose peer in another thread has closed (${how}) before it moves is awaited no more`, async () => {
    const { port: control, remote } = channel();
    const thread = startThread(closes, { remote, data: how });
    const handle = (await control.receiveAsync(soon)) as Remote;
    if (how === 'before anybody has the other end') thread.gates.pass(1);
    const end = attach(handle);
    if (how === 'before it hears anything') thread.gates.open(0);
    else {
      if (how.startsWith('and')) await until('they are linked', () => joined(handle));
      control.postMessage('close');
    }
    // Blocked, so that this thread has heard of the end by nothing but its memory.
    assert.equal(control.receive(soon), 'closed');
    if (how === 'and ends') await thread.ended;
    await closesAndMoves(end);
    control.postMessage('enough');
    control.close();
    await thread.ended;
  });
}

for (const meets of [false, true])
  for (const arrived of [false, true]) {
    const when = `${arrived ? 'just after it has arrived' : 'while it is on its way'}${meets ? '' : ', and had not met it'}`;
    test(`an end whose peer closes ${when} is awaited no more`, async () => {
      const { port: control, remote } = channel();
      const thread = startThread(closes, { remote, data: 'and lives on' });
      const handle = (await control.receiveAsync(soon)) as Remote;
      const end = attach(handle);
      if (meets) await until('they are linked', () => joined(handle));
      const close = (): void => {
        control.postMessage('close');
        assert.equal(control.receive(soon), 'closed');
      };
      const moved = moveHere(end, arrived ? undefined : close);
      if (arrived) close();
      assert.equal(moved.receive(soon), 'unread');
      assert.equal(moved.receive(soon), CLOSED);
      moved.close();
      await until('nothing is left here', nothingLeft);
      control.postMessage('enough');
      control.close();
      await thread.ended;
    });
  }
