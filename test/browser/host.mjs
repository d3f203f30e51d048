// Serves what was built to browsers on this machine: what every server of pages here has in common. Modules that import doors of
// src/ are sent to the same doors as they are shipped, in dist/browser: nothing else of dist/src is there for them.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { doors } from '../../tools/bundle.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.map': 'application/json',
};
/** What makes a page cross-origin isolated, which it must be to have shared memory. */
const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

const shipped = new Map(
  doors()
    .filter(({ browserFile }) => browserFile !== undefined)
    .flatMap(({ module, file, browserFile }) => [
      [module, browserFile],
      // Programs of the documents import the files of dist/lib (tools/doc-examples.mjs).
      [file, browserFile],
    ])
    .map((paths) => paths.map((path) => path.slice('./dist'.length))),
);

/**
 * A file of a folder as an answer.
 * @returns undefined where there is none
 */
export async function fileIn(folder, path) {
  const body = await readFile(join(folder, path)).catch(() => undefined);
  return body && { headers: { 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream' }, body };
}
/** A file below the root of this repository as an answer. */
export const fileAt = (path) => fileIn(root, path);

const textOf = async (request) => {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += part;
  return text;
};

/**
 * Every answer comes with the headers that isolate, if the address does not end in `?plain`.
 * @param answerTo `(path, request) => { status, headers, body }` for what is no file of dist; undefined where it has nothing.
 *   `request.text()` is what was posted.
 * @param folders a pattern of the paths below dist/ that are served
 * @param host the address to listen at; others than this machine's own make no secure context by themselves
 */
export async function host(answerTo, { folders, port = 0, host = '127.0.0.1' }) {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://localhost');
    const path = normalize(decodeURIComponent(url.pathname)).replaceAll('\\', '/');
    const asked = { method: request.method, search: url.searchParams, text: () => textOf(request) };
    const found =
      (await answerTo(path, asked)) ??
      (shipped.has(path) ? { status: 302, headers: { Location: shipped.get(path) } } : undefined) ??
      (folders.test(path) ? await fileAt(join('dist', path)) : undefined);
    const { status = 200, headers, body } = found ?? { status: 404, body: 'not here' };
    const isolating = url.searchParams.has('plain') ? {} : ISOLATED;
    response.writeHead(status, { 'Cache-Control': 'no-cache', ...isolating, ...headers }).end(body);
  });
  await new Promise((resolve, reject) => server.on('error', reject).listen(port, host, resolve));
  return {
    port: server.address().port,
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
