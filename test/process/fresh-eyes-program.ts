// A process for fresh-eyes.test.ts. Arguments: what to do, and where.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { connect, fork, listen, type PortLink } from '../../src/process/index.ts';

const [what = '', address = ''] = process.argv.slice(2);
const self = fileURLToPath(import.meta.url);

function compute(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
function fill(): number[] {
  const all: number[] = [];
  try {
    for (;;) all.push(openSync('/dev/null', 'r'));
  } catch {
    return all;
  }
}
/** The same with few descriptors. */
function limited(): boolean {
  if (process.argv[4] === 'limited' || process.argv[3] === 'limited') return false;
  const run = process.versions['deno'] === undefined ? [self] : ['run', '-A', self];
  const args = [...run, what, ...(address === '' ? [] : [address]), 'limited'];
  const { stdout, status } = spawnSync('sh', ['-c', 'ulimit -n 90; exec "$0" "$@"', process.execPath, ...args], {
    encoding: 'utf8',
  });
  console.log(stdout);
  process.exitCode = status ?? 1;
  return true;
}

if (what === 'busy') {
  const main = await connect<string, string>(address);
  const link = main.link as PortLink;
  let got = 0;
  const ends: Promise<unknown>[] = [];
  (async () => {
    for await (const offer of link.channels) {
      const port = offer.accept();
      port.on('message', () => got++);
      // Is told behind the last message.
      ends.push(once(port, 'close'));
    }
  })();
  main.on('message', async () => {
    main.postMessage('now');
    await main.flush();
    compute(2500);
  });
  const reason = await link.closed;
  await Promise.all(ends);
  console.log(reason, got);
} else if (what === 'killed') {
  const port = await connect(address, { memory: false });
  port.postMessage(process.pid);
  await port.receiveAsync();
  for (let i = 0; i < 50; i++) port.postMessage(i);
  await new Promise((resolve) => setImmediate(resolve));
  process.kill(process.pid, 'SIGKILL');
} else if (what === 'fork-full') {
  if (!limited()) {
    const all = fill();
    const { port } = fork(self);
    const reason = await port.closed;
    for (const fd of all) closeSync(fd);
    console.log(reason);
  }
} else if (what === 'listen-full') {
  if (!limited()) {
    for (let left = 0; left < 6; left++) {
      const all = fill();
      for (const fd of all.splice(0, left)) closeSync(fd);
      const said = await listen(address).then(
        () => 'listens',
        (error: { code?: string }) => error.code,
      );
      for (const fd of all) closeSync(fd);
      console.log(left, said);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    process.exit();
  }
}
