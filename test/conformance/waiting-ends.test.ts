// Ends that have arrived and wait to be read, while the lines that came with them break: a native port whose other side has closed may
// close by itself by then, and says nothing to whoever listens later.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach, CLOSED, CodecError, channel, type Port, type Remote } from '../../src/index.ts';
import { ownAgent } from '../../src/link/own-agent.ts';
import { agentLinks } from '../../src/transport/thread/agent-links.ts';
import { joined } from '../kit/linked.ts';
import { startThread } from '../kit/thread.ts';
import { STEP_MS, turn, until } from '../kit/watchdog.ts';

const soon = { timeoutMs: STEP_MS };

/** This thread takes in what has come for its ports, and reads nothing. */
async function takeIn(): Promise<void> {
  const { port, remote } = channel();
  const reader = attach(remote);
  // To end a channel with values in it rings for whoever has the other end.
  port.postMessage(new SharedArrayBuffer(8));
  reader.close();
  assert.equal(port.tryReceive(), CLOSED);
  port.close();
  for (let i = 0; i < 10; i++) await turn();
}

for (const meets of [true, false]) {
  test(`the peer is terminated before it hears of the move${meets ? '' : ', and had not met who attached'}: what it sent is read`, async () => {
    const { port: control, remote } = channel();
    const thread = startThread(
      async (stage) => {
        const control = stage.port();
        const { port, remote } = stage.millrace.channel();
        Object.assign(globalThis, { held: port });
        for (const n of [1, 2, 3]) port.postMessage(n);
        control.postMessage(remote, remote.transfer);
        if (stage.data === true) await control.receiveAsync();
        stage.gates.open(0);
        stage.gates.pass(1);
      },
      { remote, data: meets },
    );
    const handle = (await control.receiveAsync(soon)) as Remote;
    const end = attach(handle);
    if (meets) await until('they are linked', () => joined(handle));
    control.postMessage('block');
    thread.gates.pass(0);
    assert.equal(end.receive(soon), 1);
    const { port: carrier, remote: far } = channel();
    const reader = attach(far);
    carrier.postMessage({ end }, [end]);
    await takeIn();
    await thread.kill();
    // Deno does not stop a thread that is blocked.
    thread.gates.open(1);
    await takeIn();
    const { end: moved } = reader.receive(soon) as { end: Port };
    assert.equal(moved.tryReceive(), 2);
    assert.equal(await moved.receiveAsync(soon), 3);
    assert.equal(await moved.receiveAsync(soon), CLOSED);
    assert.equal(moved.reason, 'terminated');
    for (const each of [moved, carrier, reader, control]) each.close();
    await until('nothing is left here', () => !ownAgent().links.includes(agentLinks().left));
  });
}

for (const blocked of [false, true]) {
  // Deno does not stop a thread that is blocked; who is blocked himself does not hear of it on Bun.
  if ('Deno' in globalThis || (blocked && 'Bun' in globalThis)) continue;
  test(`the thread that was left is terminated: what it had still to send on is told to be lost${blocked ? ', to who is blocked' : ''}`, async () => {
    const { port: control, remote } = channel();
    const thread = startThread(
      ({ port, millrace, gates }) => {
        const control = port();
        const { port: end, remote } = millrace.channel();
        control.postMessage(remote, remote.transfer);
        gates.pass(0);
        control.postMessage({ end }, [end]);
        gates.open(1);
        gates.pass(2);
      },
      { remote },
    );
    const peer = attach(await control.receiveAsync(soon));
    const value = {
      shared: new SharedArrayBuffer(8),
      get moved(): boolean {
        // The value is not on its line yet: the other end leaves in between.
        thread.gates.open(0);
        thread.gates.pass(1);
        return true;
      },
    };
    peer.postMessage(value);
    peer.postMessage('behind it');
    await takeIn();
    await thread.kill();
    await takeIn();
    const { end } = control.receive(soon) as { end: Port };
    const receive = async (): Promise<unknown> => (blocked ? end.receive(soon) : end.receiveAsync(soon));
    await assert.rejects(receive(), CodecError);
    assert.equal(await receive(), 'behind it');
    for (const each of [end, peer, control]) each.close();
  });
}

test('its peer has closed, and it goes on at once: it is awaited no more', async () => {
  for (let i = 0; i < 2; i++) {
    const { port, remote } = channel();
    attach(remote).close();
    const { port: carrier, remote: far } = channel();
    const reader = attach(far);
    let end = port;
    for (let move = 0; move < 2; move++) {
      carrier.postMessage({ end }, [end]);
      if (move === 0) await takeIn();
      ({ end } = reader.receive(soon) as { end: Port });
    }
    assert.equal(end.receive(soon), CLOSED);
    for (const each of [end, carrier, reader]) each.close();
    await until('nothing is left here', () => !ownAgent().links.includes(agentLinks().left));
  }
});
