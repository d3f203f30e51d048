// As history.ts, where no memory is shared: a page whose channels lead to its own workers holds no lock for them.
import { channel } from '../../../src/index.ts';
import { afterwards, check, equal, ok, within } from './checks.ts';
import { cameAnew, leaveAndReturn } from './leaving.ts';
import { next } from './thread.ts';

/** It keeps no page whose workers hold a lock. */
const keepsNoLocks = navigator.userAgent.includes('Firefox');

check('channels without memory live through the back-forward cache', async () => {
  if (cameAnew) {
    ok(keepsNoLocks, 'the page was loaded anew: this browser did not keep it');
    return;
  }
  const worker = new Worker(new URL('./native-worker.js', import.meta.url), { type: 'module' });
  afterwards(() => worker.terminate());
  const { port, remote } = channel({ memory: false });
  worker.postMessage({ remote }, remote.transfer);
  await within('port.ready', port.ready);
  equal(await within('the page to come back', leaveAndReturn()), true);
  for (let i = 0; i < 50; i++) {
    port.postMessage(i);
    equal(await next(port), [i]);
  }
  worker.terminate();
  equal(await within('port.closed', port.closed), 'terminated');
});
