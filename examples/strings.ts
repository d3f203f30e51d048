// Large strings that repeat travel as a number: both sides of a channel remember a few. New ones cost their characters.
import type { Worker } from 'node:worker_threads';
import { features, spawn } from '../src/index.ts';
import { heading, isProgram, say, table } from './screen.ts';

const CHARACTERS = 3_000_000;
const POSTS = 20;

/** A flat string; `mark` makes it another one. */
function text(mark: number): string {
  return Buffer.alloc(CHARACTERS, `${mark}: the quick brown fox jumps over the lazy dog. `).toString('latin1');
}

export async function strings(): Promise<void> {
  heading('Strings whose size hardly matters');
  const { port, worker } = spawn<number, unknown>(new URL('./workers/string-reader.js', import.meta.url));

  /** Milliseconds a message, from the first post until the worker has looked at a character of the last. */
  async function cost(make: (index: number) => unknown): Promise<string> {
    const messages = Array.from({ length: POSTS }, (_, index) => make(index));
    const start = performance.now();
    for (const message of messages) {
      port.postMessage(message);
      await port.drained();
    }
    port.postMessage(null);
    await port.receiveAsync();
    return `${((performance.now() - start) / POSTS).toFixed(3)} ms`;
  }

  const one = text(-1);
  const record = { title: text(-2), pages: [text(-3), { notes: text(-4) }] };
  await cost(() => one); // met, then taught
  await cost(() => record);
  table([
    [`${CHARACTERS / 1e6} million characters`, 'a message'],
    ['the same string again', await cost(() => one)],
    ['an object with three of them, again', await cost(() => record)],
    ['a new string each time', await cost(text)],
  ]);
  const { nativeTextMin } = features();
  say(
    nativeTextMin === Number.POSITIVE_INFINITY
      ? 'New strings go through the ring on this runtime.'
      : `New strings of ${nativeTextMin} characters and more go over the runtime's own port here.`,
  );
  port.close();
  await (worker as Worker).terminate();
}

if (isProgram(import.meta.url)) await strings();
