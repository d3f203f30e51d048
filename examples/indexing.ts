// Step 1. A worker that stands still in receive(), indexes real files as they come, reports how far it is, and is
// aborted and given another task in the middle, without ever returning to its event loop.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from '../src/index.ts';
import { bar, dim, heading, isProgram, megabytes, say } from './screen.ts';
import type { EndMessage, FileMessage, Report } from './workers/indexer.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** In a clone dist/ repeats what stands in src/; in the installed package it is all there is. */
const inClone = existsSync(join(root, 'src'));
const TEXT = new Set(['.ts', '.js', '.mjs', '.cjs', '.mts', '.cts', '.md', '.json']);
const FILE_BYTES_MAX = 1_000_000;

function textFiles(folder: string, found: string[] = []): string[] {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== '.git' && !(inClone && entry.name === 'dist')) textFiles(path, found);
    } else if (entry.isFile() && TEXT.has(extname(entry.name)) && statSync(path).size < FILE_BYTES_MAX)
      found.push(path);
  }
  return found;
}

export async function indexing(): Promise<void> {
  heading('1  A worker that never returns to its event loop');
  const everything = textFiles(root);
  const isOurs = inClone ? /^(?!node_modules)/ : /^dist.src/;
  const ours = everything.filter((path) => isOurs.test(relative(root, path)));
  const where = inClone
    ? 'here and in node_modules; NN of them are ours'
    : 'in this package; NN of them are its library';
  say(`${everything.length} text files ${where.replace('NN', String(ours.length))}.`);
  const { port } = spawn<Report, FileMessage | EndMessage>(new URL('./workers/indexer.js', import.meta.url));

  let sentBytes = 0;
  let wanted = 1;
  /** Sends the files of one task as fast as the worker takes them; stops when another task is wanted. */
  async function feed(task: number, paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      if (wanted !== task) return;
      const text = readFileSync(path, 'utf8');
      sentBytes += text.length;
      port.postMessage({ task, path: relative(root, path), text });
      await port.drained();
    }
    port.postMessage({ task, end: true });
  }

  const feeding = [feed(1, everything)];
  let abortedAt = 0;
  for await (const report of port) {
    if (report.task === 1 && report.state === 'working') {
      bar(
        'task 1: all',
        Math.min(0.99, report.files / everything.length),
        `${report.files} files, ${report.words} words`,
      );
      if (wanted === 1 && report.files * 3 >= everything.length) {
        // Changed our mind: the worker reads the number of the task that is to end between two words, wherever it is.
        wanted = 2;
        abortedAt = performance.now();
        port.interrupt(1);
        feeding.push(feed(2, ours));
      }
    } else if (report.task === 1 && report.state === 'done' && wanted === 1) {
      // So few files, or so fast, that there was nothing to abort.
      wanted = 2;
      feeding.push(feed(2, ours));
    } else if (report.state === 'aborted') {
      say('');
      say(
        `task 1 aborted at file ${report.files}: the worker noticed ${(performance.now() - abortedAt).toFixed(1)} ms after the interrupt`,
      );
    } else if (report.task === 2) {
      bar('task 2: ours', Math.min(0.99, report.files / ours.length), `${report.files} files, ${report.words} words`);
      if (report.state === 'done') {
        bar('task 2: ours', 1, `${report.files} files, ${report.words} words`);
        const common = [...(report.common ?? [])].map(([word, places]) => `${word} (${places} files)`);
        say(`most widespread: ${common.join(', ')}`);
        break;
      }
    }
  }
  await Promise.all(feeding);
  const stats = port.stats();
  say(
    dim(`${stats.sent} messages, ${megabytes(sentBytes)} of text through a ring of ${stats.capacityBytes / 1024} KiB`),
  );
  port.close();
}

if (isProgram(import.meta.url)) await indexing();
