// `npm run page`: a page that measures ports in the browser that opens it, and shows what they can do.
//
//   npm run page -- --port 8080      at this port (8080 by default; 0: any that is free)
//   npm run page -- --host 0.0.0.0   for other devices, too; see below for what their browsers then lack
//   npm run page -- --shots DIR      no server: pictures of it in Chromium, after a short run
import { networkInterfaces } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { build } from '../../tools/build.mjs';

const { values: options } = parseArgs({
  options: {
    shots: { type: 'string' },
    port: { type: 'string', default: '8080' },
    host: { type: 'string', default: '127.0.0.1' },
  },
});

await build();
if (options.shots !== undefined) {
  const { takeShots } = await import('./shots.mjs');
  for (const path of await takeShots(options.shots)) console.log(path);
  process.exit(0);
}
const { serve } = await import('./server.mjs');
const server = await serve({ port: Number(options.port), host: options.host });
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
