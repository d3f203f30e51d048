// The server of the page: modules as tsc put them into dist/, unbundled, and what stands beside their sources.
import { extname, join } from 'node:path';
import { fileAt, host } from '../../test/browser/host.mjs';

const ASSETS = new Set(['.css', '.html']);

/** What the page's addresses lead to; undefined for others, which dist/ may have. */
export async function pageFile(path) {
  if (path === '/') return fileAt('bench/page/index.html');
  return path.startsWith('/bench/page/') && ASSETS.has(extname(path)) ? fileAt(join('.', path)) : undefined;
}

/** @returns its port, origin and `close` */
export const serve = (options = {}) => host(pageFile, { ...options, folders: /^\/(browser|bench)\// });
