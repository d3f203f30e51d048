// Ports of `spawn` and `parentPort` that move: what a thread knew of who was at the other end first (that it is told of its Worker's
// end, that its parent outlives it) holds for nobody who comes after.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOSED, channel, type Port, type Remote, spawn } from '../../src/index.ts';
import { spawnThread, startThread, type TestThread } from '../kit/thread.ts';
import { STEP_MS, turn, until, within } from '../kit/watchdog.ts';

const soon = { timeoutMs: STEP_MS };

/** Hands a Port to a thread that says what it hears of it, and answers. */
async function holderOf(remote: Remote): Promise<TestThread> {
  const holder = startThread(
    async (stage) => {
      const held = (await stage.port().receiveAsync()) as Port;
      held.onmessage = ({ data }) => held.postMessage(['here', data]);
      stage.say('has it');
      stage.say([await held.closed, (held.error as Error | undefined)?.message]);
      await stage.hear();
    },
    { remote },
  );
  return holder;
}
async function ask(port: Port, question: string): Promise<void> {
  port.postMessage(question);
  assert.deepEqual(await within('an answer', port.receiveAsync()), ['here', question]);
  port.postMessage(question);
  assert.deepEqual(port.receive(soon), ['here', question]);
}

for (const how of ['is terminated', 'exits', 'crashes', 'comes to its end']) {
  test(`a worker hands its end on and ${how}: the channel goes on`, async () => {
    const { port: office, remote } = channel();
    const holder = await holderOf(remote);
    const { port, thread } = spawnThread(spawn, async (stage) => {
      const own = stage.millrace.parentPort();
      const { by, how } = (await own.receiveAsync()) as { by: Port; how: string };
      by.postMessage(own, [own]);
      await by.flush();
      by.close();
      stage.say('sent');
      if (how === 'is terminated') await stage.hear();
      if (how === 'exits') stage.exit();
      if (how === 'crashes') stage.crash();
    });
    thread.worker.on('error', () => {});
    port.postMessage({ by: office, how }, [office]);
    await holder.next();
    await ask(port, 'while it lives');
    if (how === 'is terminated') void thread.kill();
    await thread.ended;
    for (let i = 0; i < 10; i++) await turn();
    assert.equal(port.reason, undefined);
    await ask(port, 'after its end');
    await holder.kill();
    assert.equal(await within('the end', port.closed), 'terminated');
  });
}

test('a worker that is blocked for ever, because its parent outlives it, hears of the end of the thread that its parent has sent the port to', async () => {
  // What ends a thread that was started otherwise is told to nobody who is blocked, on Bun and Deno.
  const { port: office, thread: holder } = spawnThread(spawn, async (stage) => {
    const held = (await stage.millrace.parentPort().receiveAsync()) as Port;
    stage.say(held.reason);
    await stage.hear();
  });
  const { port, thread } = spawnThread(spawn, (stage) => {
    const own = stage.millrace.parentPort();
    stage.gates.open(0);
    return [own.receive() === stage.millrace.CLOSED, own.reason];
  });
  await until('it is about to block', () => thread.gates.get(0) === 1);
  await within('both know each other', port.ready);
  office.postMessage(port, [port]);
  assert.equal(await holder.next(), undefined);
  await holder.kill();
  const [ended] = (await thread.done()) as [boolean, string];
  assert.equal(ended, true);
});

for (const [how, module, told] of [
  ['throws while it loads', 'throw new TypeError("no table")', ['crash', 'no table']],
  ['ends without asking for its port', '1', ['exit', undefined]],
] as const) {
  test(`the port of spawn goes on before the worker has opened its end, which ${how}`, async () => {
    for (const blocked of [false, true]) {
      const { port: office, remote } = channel();
      const holder = startThread(
        async (stage) => {
          const held = stage.port().receive() as Port;
          // `closed` alone keeps no thread alive.
          if (stage.data) held.receive();
          else await held.receiveAsync();
          return [await held.closed, (held.error as Error | undefined)?.message];
        },
        { remote, data: blocked },
      );
      const { port, worker } = spawn(`data:text/javascript,${module}`);
      worker.on('error', () => {});
      office.postMessage(port, [port]);
      assert.deepEqual(await holder.done(), told);
      office.close();
    }
  });
}

test('the port of spawn goes on while the worker is busy, which is terminated before it can hear of that', async () => {
  const { port: office, remote } = channel();
  const holder = await holderOf(remote);
  const { port, thread } = spawnThread(spawn, (stage) => {
    stage.millrace.parentPort();
    stage.gates.open(0);
    stage.compute(1);
  });
  await until('it is busy', () => thread.gates.get(0) === 1);
  office.postMessage(port, [port]);
  await holder.next();
  void thread.kill();
  assert.deepEqual(await holder.next(), ['terminated', undefined]);
  // On Deno it computes on.
  thread.gates.open(1);
  await holder.kill();
});

test('the port of spawn goes to another thread and back', async () => {
  const { port: office, remote } = channel();
  const other = startThread(
    async (stage) => {
      const by = stage.port();
      const held = (await by.receiveAsync()) as Port;
      held.postMessage('from there');
      stage.say(await held.receiveAsync());
      by.postMessage(held, [held]);
      await by.receiveAsync();
    },
    { remote },
  );
  const { port, thread } = spawnThread(spawn, async (stage) => {
    const own = stage.millrace.parentPort();
    for await (const value of own) own.postMessage(['here', value]);
  });
  office.postMessage(port, [port]);
  assert.deepEqual(await other.next(), ['here', 'from there']);
  const back = (await within('the port', office.receiveAsync())) as Port;
  office.close();
  await other.ended;
  await ask(back, 'again');
  void thread.kill();
  assert.equal(await within('the end', back.closed), 'terminated');
  assert.equal(back.receive(soon), CLOSED);
});
