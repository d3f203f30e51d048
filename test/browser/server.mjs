// Serves dist/ to browsers, on this machine only. The pages are compiled tests that import doors of src/, and are sent to the
// same doors as they are shipped, in dist/browser: nothing else of dist/src is there for them.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { doors } from '../../tools/bundle.mjs';

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const TYPES = { '.js': 'text/javascript', '.map': 'application/json' };
/** What makes a page cross-origin isolated, which it must be to have shared memory. */
const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};
const SHELL = `<!doctype html><meta charset="utf-8"><title>Millrace</title><link rel="icon" href="data:,">
<script type="module" src="/test/browser/pages/shell.js"></script>`;

const shipped = new Map(
  doors()
    .filter(({ browserFile }) => browserFile !== undefined)
    .map(({ module, browserFile }) => [module.slice('./dist'.length), browserFile.slice('./dist'.length)]),
);

/**
 * Under `/page/<name>` stands a page that runs pages/<name>.ts; `?plain` leaves out the isolating headers.
 * @param onReport called with what pages post to /report
 */
export async function serve(onReport, port = 0) {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://localhost');
    const answer = (status, headers, body) => {
      const isolating = url.searchParams.has('plain') ? {} : ISOLATED;
      response.writeHead(status, { 'Cache-Control': 'no-cache', ...isolating, ...headers }).end(body);
    };
    if (request.method === 'POST' && url.pathname === '/report') {
      let text = '';
      for await (const part of request.setEncoding('utf8')) text += part;
      onReport(JSON.parse(text));
      answer(204, {});
    } else if (url.pathname.startsWith('/page/')) {
      answer(200, { 'Content-Type': 'text/html; charset=utf-8' }, SHELL);
    } else if (shipped.has(url.pathname)) {
      answer(302, { Location: shipped.get(url.pathname) });
    } else {
      const path = normalize(decodeURIComponent(url.pathname));
      const allowed = /^\/(browser|iife|test\/browser|test\/kit)\//.test(path);
      const body = allowed ? await readFile(join(dist, path)).catch(() => undefined) : undefined;
      if (body === undefined) answer(404, { 'Content-Type': 'text/plain' }, 'not here');
      else answer(200, { 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream' }, body);
    }
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
