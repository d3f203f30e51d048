// The fault matrix of deaths: `port.closed` settles although nobody reads, and how soon. One after the other, for the sake of the times, which are
// figures that the run prints; what a check asks for is ten times as long, and more where the machine is busy.
import { type Port, pair, spawn, transferOf } from '../../../src/index.ts';
import { afterwards, check, equal, figure, ok, within } from './checks.ts';
import { openFrame, openTab, talkToDocument } from './documents.ts';
import { asleepFor, type Role, spawnThread, talkTo } from './thread.ts';

/** Milliseconds that each is to take where nothing else runs (issue 13), and what is asked for here. */
const GATE = 10;

async function settles(what: string, port: Port, goalMs: number, fault: () => unknown): Promise<unknown> {
  const start = performance.now();
  fault();
  const reason = await within('port.closed', port.closed, 12);
  const ms = performance.now() - start;
  figure(what, ms, 'ms', goalMs);
  // A thousand for a processor that somebody else has.
  ok(ms < GATE * goalMs + 1000, `it took ${ms} ms`);
  return reason;
}

const idles: Role = async ({ port, say, hear }) => {
  const p = port();
  await p.ready;
  say('up');
  if ((await hear()) === 'close the port') p.close();
  else self.close();
};
const blocks: Role = async ({ port, say }) => {
  const p = port();
  await p.ready;
  say('up');
  p.receive();
};

for (const [what, order, reason, goalMs] of [
  ['close() of the port', 'close the port', 'closed', 50],
  ['self.close() of an idle worker', 'close the worker', 'exit', 100],
] as const) {
  check(what, async () => {
    const { port, thread } = talkTo(idles);
    await thread.next();
    equal(await settles(what, port, goalMs, () => thread.tell(order)), reason);
  });
}

for (const [what, role, goalMs] of [
  ['terminate() of an idle worker', idles, 100],
  ['terminate() of a blocked worker', blocks, 2500],
] as const) {
  check(what, async () => {
    const { port, thread } = talkTo(role);
    await thread.next();
    equal(await settles(what, port, goalMs, () => thread.worker.terminate()), 'terminated');
  });
}

/** Has an end of a channel with the other worker, and blocks there. */
const blocksOnSibling: Role = async ({ port, data, millrace, hear, sleepSoundly }) => {
  const { how, asleep } = data as { how: 'receive' | 'select'; asleep: Int32Array };
  port();
  const p = millrace.attach(await hear());
  await p.ready;
  sleepSoundly(asleep);
  if (how === 'select') millrace.select([p]);
  const got = p.receive();
  const at = performance.timeOrigin + performance.now();
  return { got: got === millrace.CLOSED && p.reason, at };
};
const siblingOf: Role = async ({ port, say, millrace, hear }) => {
  await port().ready;
  await millrace.attach(await hear()).ready;
  say('up');
};

for (const how of ['receive', 'select'] as const) {
  for (const started of ['spawned', 'made by hand'] as const) {
    check(`a worker blocked in ${how} whose sibling, ${started}, is terminated`, async () => {
      const asleep = new Int32Array(new SharedArrayBuffer(4));
      const [one, other] = pair();
      const reader = talkTo(blocksOnSibling, {}, { how, asleep });
      const sibling = (started === 'spawned' ? spawnThread : talkTo)(siblingOf);
      reader.thread.tell(one, transferOf(one));
      sibling.thread.tell(other, transferOf(other));
      await sibling.thread.next();
      await asleepFor(1, asleep);
      const start = performance.timeOrigin + performance.now();
      sibling.thread.worker.terminate();
      const { got, at } = (await reader.thread.done()) as { got: unknown; at: number };
      equal(got, 'terminated');
      figure(`${started} sibling of one that blocks in ${how}`, at - start, 'ms', 100);
      ok(at - start < GATE * 100, `it took ${at - start} ms`);
    });
  }
}

check('a spawned worker whose script is not there', async () => {
  const { port } = spawn(() => new Worker(new URL('./none.js', import.meta.url), { type: 'module' }));
  afterwards(() => port.close());
  equal(await settles('load failure', port, 1000, () => {}), 'crash');
});

for (const [what, leave] of [
  ['a frame is navigated away', (element: HTMLIFrameElement): void => void (element.src = 'about:blank')],
  ['a frame is removed', (element: HTMLIFrameElement): void => element.remove()],
] as const) {
  check(what, async () => {
    const element = await openFrame();
    const port = await talkToDocument(element.contentWindow as Window);
    equal(await settles(what, port, 100, () => leave(element)), 'exit');
  });
}

check('a tab is closed', async () => {
  const tab = await openTab();
  const port = await talkToDocument(tab);
  equal(await settles('a tab is closed', port, 100, () => tab.close()), 'exit');
});
