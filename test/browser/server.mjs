// The server of the checks: `/page/<name>` runs pages/<name>.ts, which posts what it found to `/report`.
import { pageFile } from '../../bench/page/server.mjs';
import { benchPage, reported } from './bench-page.mjs';
import { suiteScript } from './bundle-suites.mjs';
import { host } from './host.mjs';
import { Nats } from './nats.mjs';
import { Network } from './network.mjs';
import { scriptAt } from './service-workers.mjs';

const scriptOf = (name) => `<script type="module" src="/test/browser/pages/${name}.js"></script>`;
const pageOf = (script) => `<!doctype html><meta charset="utf-8"><title>Millrace</title><link rel="icon" href="data:,">
${scriptOf(script)}`;

/**
 * Under `/page/<name>` stands a page that runs pages/<name>.ts; `?plain` leaves out the isolating headers. `/suites/<name>.js` is a suite of the other runtimes (bundle-suites.mjs). Under `/frame/<name>` stands one that has no checks; `?csp=...` puts it under that content security policy.
 * @param onReport called with what pages post to /report; what it returns is the address at which the page goes on
 * @param others what answers for other addresses, as `answerTo` of `host`
 */
export async function serve(onReport, { port = 0, others = () => undefined } = {}) {
  const answerTo = async (path, { method, text, search }) => {
    const html = { 'Content-Type': 'text/html; charset=utf-8' };
    if (path.startsWith('/page/bench-page')) return { headers: html, body: await benchPage(scriptOf('shell')) };
    if (path.startsWith('/page/')) return { headers: html, body: pageOf('shell') };
    if (path.startsWith('/frame/')) {
      const policy = search.has('csp') && { 'Content-Security-Policy': search.get('csp') };
      return { headers: { ...html, ...policy }, body: pageOf(path.slice('/frame/'.length)) };
    }
    const script = await suiteScript(/^\/suites\/([\w-]+)\.js$/.exec(path)?.[1]);
    if (script !== undefined) return { headers: { 'Content-Type': 'text/javascript' }, body: script };
    if (method === 'POST' && path === '/results') return reported(await text());
    if (method !== 'POST' || path !== '/report') return (await others(path)) ?? pageFile(path);
    const onward = onReport(JSON.parse(await text()));
    return typeof onward === 'string' ? { body: onward } : { status: 204 };
  };
  const network = new Network();
  const nats = new Nats();
  const server = await host(
    async (path, asked) =>
      (await scriptAt(path, asked)) ??
      (await network.answerTo(path, server.origin)) ??
      (await nats.answerTo(path, server.origin)) ??
      answerTo(path, asked),
    {
      port,
      folders: /^\/(browser|doc-examples|iife|bench|test\/browser|test\/kit)\//,
    },
  );
  return {
    ...server,
    close() {
      server.close();
      void network.close();
      void nats.close();
    },
  };
}
