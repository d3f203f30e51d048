// A page that has no ports any more, and so holds back nobody's back-forward cache: its threads hold no lock.
import { check, equal, ok, within } from './checks.ts';
import { cameAnew, leaveAndReturn } from './leaving.ts';
import { next, talkTo } from './thread.ts';

check('a page that has closed its ports is kept, with the workers that had the others', async () => {
  ok(!cameAnew, 'the page was loaded anew: this browser did not keep it');
  const { port, thread } = talkTo(async ({ port, say }) => {
    const p = port();
    await p.ready;
    p.postMessage('up');
    say(await p.closed);
  });
  equal(await next(port), 'up');
  port.close();
  equal(await thread.next(), 'closed');
  // The browser is told by the worker, behind what it has said: nothing may hold a lock by the time that the page is left.
  const held = async (): Promise<number> => ((await navigator.locks.query()).held ?? []).length;
  const freed = (async () => {
    while ((await held()) > 0);
  })();
  await within('the locks to be given back', freed);
  equal(await within('the page to come back', leaveAndReturn()), true);
});
