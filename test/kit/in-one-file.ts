// Where a thread or a program of tests is to be had in one file, which takes a third of the time to start (tools/bundle.mjs).
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The same module in one file, if the build has made that: for mutants of a module it has not. */
export function inOneFile(module: URL): URL {
  const bundle = new URL(module.href.replace(/\.js$/, '.bundle.js'));
  return existsSync(bundle) ? bundle : module;
}

/** The same by its path. */
export function programInOneFile(path: string): string {
  return fileURLToPath(inOneFile(pathToFileURL(path)));
}
