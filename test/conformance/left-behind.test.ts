// A value that was posted before its sender heard that the end which is to read it has moved comes by way of the thread that was left.
// That one sends it on also where it is blocked, or ends, right after the move.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { attach, channel, type Port, select } from '../../src/index.ts';
import { type Role, startThread } from '../kit/thread.ts';
import { STEP_MS } from '../kit/watchdog.ts';

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
