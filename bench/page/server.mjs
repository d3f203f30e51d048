// The server of the page, for which dist/ must have been built: modules as tsc put them into dist/, unbundled, what stands beside their sources, and what others made.
import { extname } from 'node:path';
import process from 'node:process';
import { rivalAnswer } from '../../dist/bench/browser/rivals.js';
import { commit } from '../../dist/bench/machine.js';
import { fileAt, host } from '../../test/browser/host.mjs';

const ASSETS = new Set(['.css', '.html']);
/** From bench/node_modules; a page without it has no charts. */
const UPLOT = new Map([
  ['/bench/page/uplot.js', 'bench/node_modules/uplot/dist/uPlot.esm.js'],
  ['/bench/page/uplot.css', 'bench/node_modules/uplot/dist/uPlot.min.css'],
]);

/** What the page's addresses lead to; undefined for others, which dist/ may have. */
export async function pageFile(path) {
  if (path === '/') return fileAt('bench/page/index.html');
  if (path === '/bench/page/commit') return { headers: { 'Content-Type': 'text/plain' }, body: commit() };
  if (UPLOT.has(path)) return fileAt(UPLOT.get(path));
  if (path.startsWith('/bench/page/') && ASSETS.has(extname(path))) return fileAt(path);
  return rivalAnswer(path, process.env['SAB_MESSAGE_PORT']);
}

/** @returns its port, origin and `close` */
export const serve = (options = {}) => host(pageFile, { ...options, folders: /^\/(browser|bench)\// });
