// The server of the checks: `/page/<name>` runs pages/<name>.ts, which posts what it found to `/report`.
import { rivalAnswer } from '../../dist/bench/browser/rivals.js';
import { host } from './host.mjs';

const SHELL = `<!doctype html><meta charset="utf-8"><title>Millrace</title><link rel="icon" href="data:,">
<script type="module" src="/test/browser/pages/shell.js"></script>`;

/**
 * Under `/page/<name>` stands a page that runs pages/<name>.ts; `?plain` leaves out the isolating headers.
 * @param onReport called with what pages post to /report
 * @param others what answers for other addresses, as `answerTo` of `host`
 */
export function serve(onReport, { port = 0, others = () => undefined } = {}) {
  const answerTo = async (path, { method, text }) => {
    if (path.startsWith('/page/')) return { headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: SHELL };
    if (method !== 'POST' || path !== '/report') return (await others(path)) ?? rivalAnswer(path);
    onReport(JSON.parse(await text()));
    return { status: 204 };
  };
  return host(answerTo, { port, folders: /^\/(browser|iife|bench|test\/browser|test\/kit)\// });
}
