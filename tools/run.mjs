// `node tools/run.mjs <file under dist/> [arguments]`: build what is stale, then run it in this process.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from './build.mjs';

await build();
const [file, ...args] = process.argv.slice(2);
const path = fileURLToPath(new URL(join('../dist', file), import.meta.url));
process.argv = [process.argv[0], path, ...args];
await import(pathToFileURL(path).href);
