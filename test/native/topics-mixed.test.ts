// Topics between runtimes: a writer on Node with readers on Bun and Deno, and the other way round. The words in common are the same, however each sleeps.
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
import { connect, listen, type Port, type PortLink, processMemory } from '../../src/process/index.ts';
import { createTopic, subscribe } from '../../src/topic/index.ts';
import { STEP_MS, within } from '../kit/watchdog.ts';

const PROGRAM = fileURLToPath(new URL('../process/topic-stranger.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'millrace-topics-'));
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
const said = (port: Port): Promise<unknown> => within('a word', port.receiveAsync());
const COUNT = 300;
const all = Array.from({ length: COUNT }, (_, i) => i);

test('a writer on Node, readers on all others: blocked, and with their event loops; one that is killed stops nobody', {
  timeout: STEP_MS,
}, async () => {
  const server = await listen(join(folder, 'node.sock'));
  using topic = createTopic<number>({ memory: processMemory() });
  topic.publish(0);
  const readers = others.flatMap((runtime) =>
    ['blocked', 'loop', 'loop'].map((way) => start(runtime, 'read', server.address, way)),
  );
  const ports: Port[] = [];
  for await (const port of server) {
    await within('who asks', (port.link as PortLink).shareTopic('numbers', topic));
    assert.equal(await said(port), 'here');
    if (ports.push(port) === readers.length) break;
  }
  readers[2]?.kill('SIGKILL');
  for (let i = 1; i < COUNT; i++) {
    // So that they sleep now and then.
    if (i % 20 === 0) await new Promise((resolve) => setTimeout(resolve, i & 7));
    topic.publish(i);
  }
  topic.close();
  const stories = await Promise.all(ports.map(said));
  assert.equal(stories.filter((story) => story === CLOSED).length, 1);
  for (const story of stories) if (story !== CLOSED) assert.deepEqual(story, { got: all, missed: 0, reason: 'closed' });
  for (const port of ports) port.close();
  await server.close();
});

for (const runtime of others) {
  for (const wakes of ['writer', 'thread']) {
    test(`a writer on ${runtime.name} (the ${wakes} wakes), readers on Node`, { timeout: STEP_MS }, async () => {
      const address = join(folder, `${runtime.name}-${wakes}.sock`);
      const child = start(runtime, 'write', address, wakes);
      await within('a listener', once(child.stdout!, 'data'));
      const port = await connect(address);
      using reader = subscribe<number>(await within('a topic', (port.link as PortLink).topic('numbers')));
      assert.equal(reader.receive({ timeoutMs: STEP_MS }), 0);
      for (let i = 1; i < COUNT; i++) {
        const next = i & 1 ? reader.receiveAsync() : undefined;
        port.postMessage(i);
        if (next === undefined) await port.flush();
        assert.equal(next === undefined ? reader.receive({ timeoutMs: STEP_MS }) : await within('it', next), i);
      }
      child.kill('SIGKILL');
      assert.deepEqual([reader.receive(), reader.reason], [CLOSED, 'lost']);
      port.close();
    });
  }
}
