// Two runtimes that share memory: Node by the addon, Bun or Deno by libc.
// runtimes: node
// needs: native
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLOSED } from '../../src/index.ts';
import { connect, listen, type Port } from '../../src/process/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { STEP_MS, within } from '../kit/watchdog.ts';

const PROGRAM = fileURLToPath(inOneFile(new URL('../process/program.js', import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'millrace-mixed-'));
const children = new Set<ChildProcess>();
after(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

interface Runtime {
  readonly name: string;
  readonly kind: string;
  readonly path: string;
  readonly installed: boolean;
}
const tools = new URL('../../../tools/runtimes.mjs', import.meta.url).href;
const { runtimes } = (await import(tools)) as { runtimes: () => Runtime[] };
const FLAGS: Readonly<Record<string, readonly string[]>> = { bun: ['run'], deno: ['run', '-A', '--no-lock'] };
const others = runtimes().filter(({ kind, installed }) => kind !== 'node' && installed);

function start({ kind, path }: Runtime, ...args: string[]): ChildProcess {
  const env = { ...process.env, MILLRACE_NATIVE: 'ffi', NO_COLOR: '1' };
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(path, [...(FLAGS[kind] ?? []), PROGRAM, ...args], { env, stdio: [...stdio] });
  children.add(child);
  child.on('exit', () => children.delete(child));
  return child;
}
async function taken(address: string): Promise<{ port: Port; close(): void }> {
  const server = await listen(address);
  const port = within('a connection', server[Symbol.asyncIterator]().next()).then(({ value }) => value as Port);
  return { port: await port, close: () => void server.close() };
}

for (const runtime of others) {
  const address = (name: string): string => join(folder, `${runtime.name}-${name}.sock`);

  test(`Node connects to ${runtime.name}: values go by memory both ways, and a kill is told`, {
    timeout: STEP_MS,
  }, async () => {
    const child = start(runtime, 'serve', address('serve'));
    await within('a listener', once(child.stdout!, 'data'));
    const port = await connect(address('serve'));
    await within('both ends', port.ready);
    assert.equal(port.link?.way?.name, 'memory');
    for (let i = 0; i < 200; i++) {
      const value = { i, text: 'x'.repeat(i * 50) };
      port.postMessage(value);
      // Every other answer rings this side's bell; the others find it blocked on a word.
      const answer =
        i % 2 === 0 ? await within('an answer', port.receiveAsync()) : port.receive({ timeoutMs: STEP_MS });
      assert.deepEqual(answer, { pid: child.pid, value });
    }
    child.kill('SIGKILL');
    assert.equal(await within('its end', port.receiveAsync()), CLOSED);
    assert.equal(port.reason, 'lost');
  });

  test(`${runtime.name} connects to Node: what it has said before its end arrives`, { timeout: STEP_MS }, async () => {
    const COUNT = 3000;
    const soon = taken(address('speak'));
    start(runtime, 'speak', address('speak'), 'close', `${COUNT}`, '300');
    const { port, close } = await soon;
    const came: number[] = [];
    for await (const [i, text] of port as Port<[number, string]>) {
      assert.equal(text.length, 300);
      came.push(i);
    }
    assert.equal(port.stats().way?.name, 'memory');
    assert.deepEqual(came, [...new Array(COUNT).keys()]);
    assert.equal(port.reason, 'closed');
    close();
  });
}
