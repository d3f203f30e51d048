// A page that is left and comes back out of the back-forward cache, with its ports.
import { check, equal, ok, within } from './checks.ts';
import { cameAnew, leaveAndReturn } from './leaving.ts';
import { next, talkTo } from './thread.ts';

/** It keeps no page whose workers hold a lock, and so loads this one anew: what is told there tells whether a worker is gone. */
const keepsNoLocks = navigator.userAgent.includes('Firefox');

check('ports live through the back-forward cache', async () => {
  if (cameAnew) {
    ok(keepsNoLocks, 'the page was loaded anew: this browser did not keep it');
    return;
  }
  const { port } = talkTo(async ({ port }) => {
    const p = port();
    p.onmessage = ({ data }) => p.postMessage(data);
    await p.ready;
    p.postMessage('up');
  });
  equal(await next(port), 'up');
  equal(await within('the page to come back', leaveAndReturn()), true);
  for (let i = 0; i < 50; i++) {
    port.postMessage(i);
    equal(await next(port), i);
  }
  equal(port.reason, undefined);
});
