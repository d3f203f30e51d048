// runtimes: once
// watchdog: 120 s
// needs: packages
// A Vite project whose page calls its worker through millrace/rpc, built from the packed package as `vite build` builds it. What comes out is taken away
// from every node_modules and run on Deno, whose workers are the web's (bundlers.test.ts says why not on others).
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeConsumer, node, run, tool } from './consumer.ts';

const tools = new URL('../../../tools/runtimes.mjs', import.meta.url).href;
const { runtimes } = (await import(tools)) as {
  runtimes: () => { readonly kind: string; readonly path: string; readonly installed: boolean }[];
};
const project = makeConsumer('vite-calls', ['vite']);
const away = mkdtempSync(join(tmpdir(), 'millrace-vite-'));
after(() => {
  rmSync(away, { recursive: true, force: true });
  rmSync(project, { recursive: true, force: true });
});

test('a page that Vite has built calls its worker, in every way the guide shows', () => {
  const { status, output } = node(project, tool('vite/bin/vite.js'), 'build');
  assert.equal(status, 0, output);
  cpSync(join(project, 'dist/assets'), away, { recursive: true });
  const built = readdirSync(away);
  assert.ok(
    built.some((it) => /^worker-.*\.js$/.test(it)),
    `no file for the worker: ${built.join(', ')}`,
  );
  const main = built.find((it) => /^index-.*\.js$/.test(it));
  writeFileSync(
    join(away, 'page.mjs'),
    `import process from 'node:process';\nawait import('./${main}');\nprocess.exit();\n`,
  );
  const deno = runtimes().find(({ kind, installed }) => kind === 'deno' && installed);
  if (deno === undefined) return;
  const ran = run(away, deno.path, 'run', '-A', '--no-lock', 'page.mjs');
  assert.equal(ran.status, 0, ran.output);
  assert.deepEqual(JSON.parse(ran.output.trim().split('\n').at(-1) ?? ''), {
    main: 'browser',
    worker: 'browser',
    sum: 3,
    letters: 'mill',
    told: [1, 2],
    name: 'Ada',
    error: 404,
    late: 'ERR_TIMEOUT',
    gone: 'ERR_CLOSED',
  });
});
