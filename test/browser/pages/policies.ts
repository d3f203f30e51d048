// Workers where a page's policies, or the origin of their script, stand in the way: content security policies, Trusted Types, blob: and data: workers.
import { spawn } from '../../../src/index.ts';
import { afterwards, check, equal, ok, within } from './checks.ts';
import type { Outcomes } from './policy-frame.ts';
import { next, spawnThread } from './thread.ts';

/** What starts in a frame under the policy, and how the rest fails. */
async function under(policy: string, trusting: boolean): Promise<Outcomes> {
  const frame = document.createElement('iframe');
  afterwards(() => frame.remove());
  frame.src = `/frame/policy-frame?${new URLSearchParams({ csp: policy, ...(trusting && { trusting: '' }) })}`;
  const told = new Promise<Outcomes>((resolve) => {
    const hear = ({ source, data }: MessageEvent<Outcomes>): void => {
      if (source !== frame.contentWindow) return;
      removeEventListener('message', hear);
      resolve(data);
    };
    addEventListener('message', hear);
  });
  document.body.append(frame);
  return within('the frame', told, 18);
}

/** WebKit's `new Worker` throws; in the others the port ends, and says what may be the cause. */
const REFUSED = /^ERR_CLOSED: crash: .*content security policy|^SecurityError/;
const TRUSTED_TYPES = "script-src 'self'; require-trusted-types-for 'script'";

for (const [what, policy, { trusting = false, blob = 'echo' as string | RegExp, own = true }] of [
  ['no policy', '', {}],
  ["script-src 'self'", "script-src 'self'", { blob: REFUSED }],
  ["worker-src 'self'", "script-src 'self'; worker-src 'self'", { blob: REFUSED }],
  ["worker-src 'self' blob:", `script-src 'self'; worker-src 'self' blob:`, {}],
  ["worker-src 'none'", "script-src 'self'; worker-src 'none'", { blob: REFUSED, own: false }],
  ['Trusted Types, and a default policy', TRUSTED_TYPES, { trusting: true, blob: REFUSED }],
] as const satisfies [string, string, { trusting?: boolean; blob?: string | RegExp; own?: boolean }][]) {
  check(`under ${what}`, async () => {
    const got = await under(policy, trusting);
    const expected = { blocking: own ? 'echo' : REFUSED, calls: own ? '3' : REFUSED, blob };
    for (const [name, wanted] of Object.entries(expected)) {
      const is = got[name as keyof Outcomes];
      ok(typeof wanted === 'string' ? is === wanted : wanted.test(is), `${name}: ${is}, not ${wanted}`);
    }
  });
}

check('under Trusted Types without a policy the page itself is refused, by the browser', async () => {
  const { blocking, calls } = await under(TRUSTED_TYPES, false);
  equal([blocking, calls], 'trustedTypes' in globalThis ? ['TypeError', 'TypeError'] : ['echo', '3']);
});

/** A data: worker has an origin of its own, and can import nothing of ours: it brings the library along. */
async function dataWorker(body: string): Promise<() => Worker> {
  const library = await (await fetch('/iife/millrace.global.js')).text();
  return () => new Worker(`data:text/javascript,${encodeURIComponent(`${library}\n${body}`)}`);
}
const ECHO = 'const port = Millrace.parentPort(); port.onmessage = ({ data }) => port.postMessage(data);';

check('a data: worker without memory', async () => {
  const { port, worker } = spawn(await dataWorker(ECHO), { memory: false });
  afterwards(() => worker.terminate());
  port.postMessage('echo');
  equal(await next(port), 'echo');
  port.close();
});

check('a data: worker with memory works, or its port says why not', async () => {
  const { port, worker } = spawn(await dataWorker(ECHO));
  afterwards(() => worker.terminate());
  port.postMessage('echo');
  // Firefox and WebKit share memory with it. In Chromium it has none, and its port cannot be opened.
  const outcome = await within('the end or an answer', Promise.race([port.receiveAsync(), port.closed]));
  if (outcome === 'echo') return;
  equal([outcome, /UnsupportedError: .*SharedArrayBuffer.*memory: false/.test(String(port.error))], ['crash', true]);
});

for (const [how, blocks] of [
  ['that blocks for it', true],
  ['that does not', false],
] as const) {
  check(`a nested worker of a worker ${how}`, async () => {
    const { port, thread } = spawnThread(async ({ port, millrace }) => {
      const block = await port().receiveAsync();
      const { port: inner, worker } = millrace.spawn(
        () => new Worker(new URL('./policy-worker.js', location.href), { type: 'module' }),
      );
      await inner.ready;
      inner.postMessage('down');
      const answer = block ? inner.receive() : await inner.receiveAsync();
      worker.terminate();
      return [answer, await inner.closed];
    });
    port.postMessage(blocks);
    equal(await thread.done(), ['down', 'terminated']);
  });
}

check(
  'a worker that blocks for a nested one that has not started is answered, or told that it did not start',
  async () => {
    const { thread } = spawnThread(async ({ port, millrace }) => {
      await port().ready;
      const { port: inner, worker } = millrace.spawn(
        () => new Worker(new URL('./policy-worker.js', location.href), { type: 'module' }),
        { startTimeoutMs: 2000 },
      );
      inner.postMessage('down');
      try {
        return inner.receive();
      } catch (error) {
        return `${(error as { code: string }).code}: ${(error as Error).message}`;
      } finally {
        worker.terminate();
      }
    });
    const outcome = String(await thread.done());
    // Firefox starts it; in the others its script waits for the event loop of the one that blocks.
    ok(outcome === 'down' || /^ERR_TIMEOUT: .*`await port.ready`/.test(outcome), outcome);
  },
);
