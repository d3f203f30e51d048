// runtimes: once
// watchdog: 300 s
// needs: packages
// The packed package's types, as TypeScript 5.2 to 7 sees them: resolved in each way, from ESM and from CommonJS, with and
// without the types of Node and of the web, strict, and with the declarations themselves checked.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeConsumer, node, tool } from './consumer.ts';

const VERSIONS = ['5.2', '5.5', '5.9', '7'];
/** How modules are found, and the files that can be compiled so. */
const RESOLUTIONS = {
  node16: { module: 'node16', files: ['esm.mts', 'cjs.cts'] },
  nodenext: { module: 'nodenext', files: ['esm.mts', 'cjs.cts', 'calls.mts'] },
  bundler: { module: 'esnext', files: ['bundled.ts'] },
};
/** What a project says of where it runs, and the files that need it. */
const SURROUNDINGS = {
  'Node, no DOM': { lib: ['es2022'], types: ['node'], files: ['for-node.mts'] },
  'DOM, no Node': { lib: ['es2022', 'dom'], types: [], files: ['for-web.mts'] },
  neither: { lib: ['es2022'], types: [], files: [] },
};

const folder = makeConsumer('types', ['@types/node', 'undici-types']);
after(() => rmSync(folder, { recursive: true, force: true }));

function check(version: string, compilerOptions: object, files: readonly string[]): void {
  const options = { target: 'es2022', strict: true, skipLibCheck: false, noEmit: true, ...compilerOptions };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files }));
  const { status, output } = node(folder, tool(`typescript-${version}/bin/tsc`), '-p', '.');
  assert.equal(status, 0, output);
}

for (const version of VERSIONS) {
  for (const [moduleResolution, { module, files }] of Object.entries(RESOLUTIONS)) {
    for (const [surroundings, { lib, types, files: more }] of Object.entries(SURROUNDINGS)) {
      // How a file is found does not ask what stands in it, and Node's and the web's types take seconds to check.
      if (version !== '7' && moduleResolution !== 'nodenext' && surroundings !== 'neither') continue;
      test(`TypeScript ${version}, ${moduleResolution}, ${surroundings}`, () => {
        check(version, { module, moduleResolution, lib, types }, [...files, ...more]);
      });
    }
  }
}

for (const version of VERSIONS) {
  test(`TypeScript ${version}: a script finds the types of the file for script tags`, () => {
    const options = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'] };
    check(version, { ...options, types: ['millrace/millrace.global.js'] }, ['script.ts']);
  });
}

for (const version of VERSIONS.filter((it) => it !== '5.2')) {
  test(`TypeScript ${version}: what a CommonJS file holds and what an ESM file holds are one type`, () => {
    check(version, { module: 'node16', moduleResolution: 'node16', lib: ['es2022'], types: [] }, ['mixed.cts']);
  });
}
