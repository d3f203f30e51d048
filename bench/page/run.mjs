// `npm run page`: a page that measures ports in the browser that opens it, and shows what they can do.
//
//   npm run page -- --port 8080      at this port (8080 by default; 0: any that is free)
//   npm run page -- --host 0.0.0.0   for other devices, too; see below for what their browsers then lack
//   npm run page -- --shots DIR      no server: pictures of it in Chromium, after a short run
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from '../../tools/build.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** uPlot, which draws, and Comlink, which is measured. Without them the page has no charts and a contender less, and says so. */
function installPackages() {
  const packages = fileURLToPath(new URL('../node_modules', import.meta.url));
  // A node_modules that is a link belongs to somebody else.
  const linked = lstatSync(packages, { throwIfNoEntry: false })?.isSymbolicLink();
  if (linked || existsSync(join(packages, 'uplot'))) return;
  console.log('installing what the page draws with and measures against (npm ci --prefix bench) ...');
  const args = ['ci', '--prefix', 'bench', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) console.log('it failed; the page does without');
}

const { values: options } = parseArgs({
  options: {
    shots: { type: 'string' },
    port: { type: 'string', default: '8080' },
    host: { type: 'string', default: '127.0.0.1' },
  },
});

await build();
installPackages();
if (options.shots !== undefined) {
  const { takeShots } = await import('./shots.mjs');
  for (const path of await takeShots(options.shots)) console.log(path);
  process.exit(0);
}
const { serve } = await import('./server.mjs');
const server = await serve({ port: Number(options.port), host: options.host }).catch((error) => {
  console.error(`Cannot serve at ${options.host}:${options.port} (${error.message}): --port 0 takes any that is free`);
  process.exit(1);
});
const { port } = server;
console.log(`Millrace in your browser:  http://localhost:${port}/`);
console.log(`without isolation:         http://localhost:${port}/?plain`);
if (options.host === '127.0.0.1') {
  console.log(`
On a phone: browsers give shared memory to https and to localhost only.
  Android by USB:  adb reverse tcp:${port} tcp:${port}, then open http://localhost:${port}/ there: all of it works.
  Any, by Wi-Fi:   npm run page -- --host 0.0.0.0: opens, but is not isolated: ports go over native MessagePorts, and nothing blocks.
  Any, all of it:  a proxy or tunnel of yours that speaks https and passes to http://127.0.0.1:${port}.`);
} else {
  const addresses = Object.values(networkInterfaces())
    .flat()
    .filter(({ family, internal }) => family === 'IPv4' && !internal);
  for (const { address } of addresses) console.log(`from another device:       http://${address}:${port}/`);
  console.log(
    '  http and not localhost: no secure context there, hence no shared memory. The page says so, and measures what works.',
  );
}
process.on('SIGINT', () => {
  server.close();
  process.exit(130);
});
