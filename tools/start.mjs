// `npm start`: sets up what is missing and plays the tour (examples/tour.ts), with the arguments after `--`.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from './build.mjs';

await build();
const tour = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist/examples/tour.js');
if (existsSync(tour)) {
  process.argv = [process.argv[0], tour, ...process.argv.slice(2)];
  await import(pathToFileURL(tour).href);
} else {
  console.log('Built. The tour is not here yet; run the tests with "npm test".');
}
