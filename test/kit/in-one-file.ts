// Where a thread of tests is to be had in one file, which takes a third of the time to start (tools/bundle.mjs).
import { existsSync } from 'node:fs';

/** The same thread in one file, if the build has made that: for mutants of a module it has not. */
export function inOneFile(thread: URL): URL {
  const bundle = new URL(thread.href.replace(/\.js$/, '.bundle.js'));
  return existsSync(bundle) ? bundle : thread;
}
