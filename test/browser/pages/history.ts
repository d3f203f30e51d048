// A page that is left and comes back out of the back-forward cache.
import { check, equal, ok, within } from './checks.ts';
import { next, talkTo } from './thread.ts';

const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];

check('ports live through the back-forward cache', async () => {
  ok(navigation?.type !== 'back_forward', 'the page was loaded anew: this browser did not keep it');
  const { port } = talkTo(({ port }) => {
    const p = port();
    p.onmessage = ({ data }) => p.postMessage(data);
  });
  port.postMessage('before');
  equal(await next(port), 'before');
  const back = new Promise<boolean>((resolve) => addEventListener('pageshow', (event) => resolve(event.persisted)));
  // Not before the page has been shown the first time.
  await new Promise((resolve) => setTimeout(resolve, 50));
  location.href = '/page/away';
  equal(await within('the page to come back', back), true);
  for (let i = 0; i < 50; i++) {
    port.postMessage(i);
    equal(await next(port), i);
  }
  equal(port.reason, undefined);
});
