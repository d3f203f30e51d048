// The checkers must be able to fail: each is shown something wrong.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

interface Checked {
  readonly problems: readonly string[];
}
type Checker = (root: string) => Checked;
interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skippedNames: readonly string[];
}

async function tool<T>(file: string): Promise<T> {
  return (await import(new URL(`../../tools/${file}`, import.meta.url).href)) as T;
}
const { withoutNamespaces } = await tool<{ withoutNamespaces(source: string): string }>('bundle.mjs');
const { putRight } = await tool<{ putRight(text: string): string }>('top-level.mjs');
interface BundledFile {
  readonly path: string;
  readonly text: string;
}
const { lowerPrivate } = await tool<{
  lowerPrivate(files: readonly BundledFile[], entries: readonly string[]): BundledFile[];
}>('lower-private.mjs');
const { checkLayers } = await tool<{ checkLayers: Checker }>('check-layers.mjs');
const { checkSyncPoints } = await tool<{ checkSyncPoints: Checker }>('check-sync-points.mjs');
const { blocksOf, withDoors } = await tool<{
  blocksOf(path: string, text: string): { line: number; code: string; file?: string }[];
  withDoors(code: string, doors: Record<string, { default: string }>): string;
}>('doc-examples.mjs');
interface Change {
  readonly start: number;
  readonly change: string;
}
const { changesIn, apply, random, sample } = await tool<{
  changesIn(source: string): Change[];
  apply(source: string, change: Change): string;
  random(seed: number): () => number;
  sample<T>(items: readonly T[], count: number, next: () => number): T[];
}>('mutations.mjs');
const { readCoverage } = await tool<{
  readCoverage(folder: string, lengthOf: (file: string) => number | undefined): Map<string, Uint8Array>;
}>('coverage.mjs');
interface KnownFailure {
  readonly defect: string;
  readonly looks: RegExp;
  readonly engines: readonly string[];
  readonly page: string;
  readonly check: string;
}
const { unmet, verdictOf } = await tool<{
  verdictOf(
    engine: string,
    page: string,
    done: { name: string; error?: string },
    known: readonly KnownFailure[],
  ): { is: string; why?: string };
  unmet(engine: string, pages: string[], met: Set<string>, known: readonly KnownFailure[]): string[];
}>('../test/browser/known.mjs');
const { countReport, gistOf } = await tool<{
  countReport(xml: string): Counts | undefined;
  gistOf(output: string): string[];
}>('test-file.mjs');

interface Task {
  readonly runtime: string;
  readonly file: string;
  readonly watchdogSeconds?: number;
  readonly givesWay?: boolean;
}
const { TestQueue } = await tool<{
  TestQueue: new (tasks: readonly Task[]) => { take(lane: number): Task | undefined };
}>('test-queue.mjs');

function check(checker: Checker, files: Record<string, string>): readonly string[] {
  const root = mkdtempSync(join(tmpdir(), 'millrace-tools-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const { problems } = checker(root);
  rmSync(root, { recursive: true });
  return problems;
}

test('rooms may import to their left', () => {
  const files = {
    'errors.ts': '',
    'limits.ts': '// like process.versions in Node',
    'platform/node.ts': "import process from 'node:process';\nconst bun = typeof process;",
    'ring/producer.ts': "import { X } from '../errors.ts';\nimport { Y } from './consumer.ts';",
    'ring/producer.test.ts': "import { test } from 'node:test';",
    'port/port.ts': "import { platform } from '#platform';",
    'transport/thread/a.ts': "import { X } from '../ring/x.ts';\nimport { Y } from '../transport.ts';",
    'transport/process/socket.ts':
      "import net from 'node:net';\nimport { X } from '../stream/x.ts';\nprocess.on('x', f);",
    'transport/process/linux/a.ts': "import { X } from '../../ring/x.ts';\nsetImmediate(f);",
  };
  assert.deepEqual(check(checkLayers, files), []);
});

for (const [what, path, text] of [
  ['an import to the right', 'ring/a.ts', "import { x } from '../lane/lane.ts';"],
  ['an import between strangers', 'ring/a.ts', "import type { x } from '../codec/codec.ts';"],
  ['an export to the right', 'ring/a.ts', "export * from '../port/port.ts';"],
  ['a dynamic import to the right', 'ring/a.ts', "await import('../port/port.ts');"],
  ['an import of a neighbour', 'transport/ring/a.ts', "import { x } from '../thread/x.ts';"],
  ['an import of a neighbour from deep inside', 'transport/stream/a/b.ts', "import { x } from '../../ring/x.ts';"],
  ['an unknown folder of transports', 'transport/pigeon/a.ts', ''],
  ['a global that browsers lack, in another transport', 'transport/stream/a.ts', 'process.on("exit", f);'],
  ['an unknown room', 'cellar/a.ts', ''],
  ['node: where it does not belong', 'ring/a.ts', "import fs from 'node:fs';"],
  ['a package', 'ring/a.ts', "import x from 'left-pad';"],
  ['a question about the runtime', 'port/a.ts', 'if (typeof Deno === "undefined") {}'],
  ['a global that browsers lack', 'codec/a.ts', 'const length = Buffer.byteLength(text);'],
  ['a class of error of its own', 'port/a.ts', 'class X extends UsageError {}'],
  ['a lane that knows handles', 'lane/a.ts', "import type { X } from '../memory/handle.ts';"],
  ['a lane that knows native ports', 'lane/a.ts', "import { X } from '../memory/native-pair.ts';"],
  ['a lane that asks the platform', 'lane/a.ts', "import { platform } from '#platform';"],
  ['handles under mapped memory', 'transport/ring/a.ts', "import { X } from '../../memory/handle.ts';"],
  ['a way out of src', 'port/a.ts', "import { x } from '../../test/kit/x.ts';"],
] as const) {
  test(`check-layers reports ${what}`, () => {
    assert.equal(check(checkLayers, { [path]: text }).length, 1);
  });
}

const pair = {
  'ring/producer.ts': '// SYNC seen: publishes; pairs with Consumer.drain.\nAtomics.store(words, 0, 1);',
  'ring/consumer.ts':
    '// SYNC seen: after this load we see it; pairs\n// with Producer.commit.\nAtomics.load(words, 0);',
};
test('a pair of sync points is complete', () => {
  assert.deepEqual(check(checkSyncPoints, pair), []);
});
for (const [what, files] of [
  ['a write without a name', { ...pair, 'wait/a.ts': 'Atomics.exchange(words, 0, 1);' }],
  ['a name without a partner', { 'ring/producer.ts': pair['ring/producer.ts'] }],
  ['a name that does not say its partner', { ...pair, 'ring/consumer.ts': '// SYNC seen: just so.' }],
] as const) {
  test(`check-sync-points reports ${what}`, () => {
    assert.equal(check(checkSyncPoints, files).length, 1);
  });
}

test('a report of Node is counted by its tests without subtests', () => {
  const xml = `<testsuites>
    <testcase name="good" time="0.1" classname="test"/>
    <testcase name="a > b" failure="x > y"><failure type="t" message="m">text &lt;/testcase></failure></testcase>
    <testcase name="left out"><skipped type="skipped" message="because"/></testcase>
    <testsuite name="parent"><testcase name="inner"/></testsuite></testsuites>`;
  assert.deepEqual(countReport(xml), { passed: 2, failed: 1, skippedNames: ['left out'] });
});
test('a report of Deno counts steps and not their parents', () => {
  const xml = `<testsuites><testcase name="parent"><failure message="1 test step failed">1 test step failed.</failure></testcase>
    <testcase name="parent &gt; one"></testcase><testcase name="parent &gt; two"><failure message="m">no</failure></testcase></testsuites>`;
  assert.deepEqual(countReport(xml), { passed: 1, failed: 1, skippedNames: [] });
});
test('a report that was cut off counts for nothing', () => {
  assert.equal(countReport('<testsuites><testcase name="good"/>'), undefined);
});
test('what a failed file has said names its tests and their errors, whatever has run it', () => {
  const node =
    "ok 1 - fine\nnot ok 2 - one, tcp\n  ---\n  error: 'hang: waited 60 s for an answer'\n  stack: |-\n    within (a.js:1)\n  ...";
  const bun = '(pass) fine\n1 | throw\nerror: hang: waited 60 s\n      at a.js\n(fail) one, tcp [7.67ms]';
  const deno = 'fine ... ok (1ms)\none, tcp ... FAILED (4ms)\nerror: AssertionError: no\nerror: Test failed';
  assert.deepEqual(gistOf(node), ['not ok 2 - one, tcp', "error: 'hang: waited 60 s for an answer'"]);
  assert.deepEqual(gistOf(bun), ['error: hang: waited 60 s', '(fail) one, tcp [7.67ms]']);
  assert.deepEqual(gistOf(deno), ['one, tcp ... FAILED (4ms)', 'error: AssertionError: no', 'error: Test failed']);
});

test('long test files start first, runtime by runtime; those that give way go beside them, in one lane', () => {
  const queue = new TestQueue([
    { runtime: 'a', file: 'model', watchdogSeconds: 900, givesWay: true },
    { runtime: 'a', file: 'types', givesWay: true },
    { runtime: 'a', file: 'short' },
    { runtime: 'a', file: 'long', watchdogSeconds: 300 },
    { runtime: 'b', file: 'short' },
    { runtime: 'b', file: 'long', watchdogSeconds: 300 },
  ]);
  const order: string[] = [];
  for (const lane of [0, 1, 1, 1, 1, 1, 0]) {
    const task = queue.take(lane);
    order.push(task === undefined ? 'nothing' : `${task.runtime} ${task.file}`);
  }
  assert.deepEqual(order, ['a model', 'a long', 'a short', 'b long', 'b short', 'a types', 'nothing']);
});

test('the examples of a doc comment are found, those of a document only where they say so', () => {
  const source = '/**\n * Adds.\n *\n * ```ts\n * f({\n *   a: 1,\n * });\n * ```\n * ```\n * f(...)\n * ```\n */';
  assert.deepEqual(blocksOf('src/a.ts', source), [{ line: 5, code: 'f({\n  a: 1,\n});\n' }]);
  const document = '# T\n```ts\nf(...)\n```\n```ts run\nf(1);\n```\n';
  assert.deepEqual(blocksOf('docs/a.md', document), [{ line: 6, code: 'f(1);\n' }]);
  const two = '```js file=w.js\ng();\n```\n';
  assert.deepEqual(blocksOf('docs/a.md', two), [{ line: 2, code: 'g();\n', file: 'w.js' }]);
});
test('an example imports what the doors of the package say', () => {
  const doors = { '.': { default: './dist/src/index.js' }, './ring': { default: './dist/src/ring/index.js' } };
  const code = "import { a } from 'millrace';\nconst b = await import(\"millrace/ring\");\nimport c from 'node:fs';";
  const led =
    "import { a } from '../src/index.js';\nconst b = await import(\"../src/ring/index.js\");\nimport c from 'node:fs';";
  assert.equal(withDoors(code, doors), led);
  assert.throws(() => withDoors("import 'millrace/cellar';", doors), /no door/);
});

test('a bundle declares what never changes as constant, and classes by their names, on the lines where they were', () => {
  const bundled = `var a = 1,
  b = class _b { static { _b.made = new _b(); } },
  c,
  { d, e } = a;
var f = () => { a += 1; for (c of [d]) f(); };
export { b as B };
`;
  assert.equal(
    putRight(bundled).replace(/ +/g, ' '),
    ` let a = 1;
 class b { static { b.made = new b(); } };
 let c;
 const { d, e } = a;
 const f = () => { a += 1; for (c of [d]) f(); };
export { b as B };
`,
  );
  assert.equal(putRight('var a = { b: 1 };\na.b = 2;\n').trim(), 'const a = { b: 1 };\na.b = 2;');
});

test('a private name of a class that nobody outside gets hold of is a plain one in a bundle; methods keep theirs', () => {
  const core = `class Base { #held; #many = 1; #take() { return this.#many + this.#many + this.#held; } }
class Below extends Base { #many = 2; get #held() { return this.#many; } look() { return this.#held; } }
const Shown = class extends Base2 { #own; };
class Base2 { #own; }
class Asked { #mark; is(it) { return #mark in it; } }
class Failure extends Error { #why; }
class Outer { #a = class { #a; #b = this.#a; }; }
export { Below as B, Shown };
`;
  const door = `import { B as C, Shown } from './core.js';
class Over extends C { #many = 3; }
export { Shown };
`;
  const files = [
    { path: '/lib/core.js', text: core },
    { path: '/lib/door.js', text: door },
  ];
  const texts = lowerPrivate(files, ['/lib/door.js']).map(({ text }) => text.replace(/ +(?=[^\w{])/g, ''));
  assert.deepEqual(texts, [
    `class Base { _b; _a = 1; _take() { return this._a + this._a + this._b; } }
class Below extends Base { __a = 2; get __held() { return this.__a; } look() { return this.__held; } }
const Shown = class extends Base2 { #own; };
class Base2 { #own; }
class Asked { #mark; is(it) { return #mark in it; } }
class Failure extends Error { #why; }
class Outer { _a = class { _a; _b = this._a; }; }
export { Below as B, Shown };
`.replace(/ +(?=[^\w{])/g, ''),
    `import { B as C, Shown } from './core.js';
class Over extends C { ___a = 3; }
export { Shown };
`.replace(/ +(?=[^\w{])/g, ''),
  ]);
  const clash = [{ path: '/lib/core.js', text: 'class A { #go() { this._go(); } }' }];
  assert.throws(() => lowerPrivate(clash, []), /_go is a property already/);
});

test('what a bundled module takes out of a namespace it imports by name', () => {
  const source =
    "import * as limits from '../limits.ts';\nimport { x } from './x.ts';\nconst {\n  A,\n  B: C,\n} = limits;\nconst { y } = x;\n";
  assert.equal(
    withoutNamespaces(source),
    "import * as limits from '../limits.ts';\nimport { x } from './x.ts';\nimport {\n  A,\n  B as C,\n} from '../limits.ts';\nconst { y } = x;\n",
  );
});

test('a mutant changes one thing: an operator, a condition, a constant, or leaves a statement out', () => {
  const mutants = (source: string): string[] => changesIn(source).map((change) => apply(source, change));
  assert.deepEqual(mutants('a(b);'), [';']);
  assert.deepEqual(mutants('const x = (a) < b;'), ['const x = (a) <= b;']);
  assert.deepEqual(mutants('const x = !a;'), ['const x = a;']);
  assert.deepEqual(mutants('if (a) { n += 2; }'), [
    'if (!(a)) { n += 2; }',
    'if (a) { ; }',
    'if (a) { n -= 2; }',
    'if (a) { n += 3; }',
  ]);
  assert.deepEqual(mutants('const f = () => true;'), ['const f = () => false;']);
  assert.deepEqual(mutants("throw new Error('a' + b);"), [], 'what a message says is nobody’s business');
});

test('the same seed draws the same mutants, each once', () => {
  const items = Array.from({ length: 20 }, (_, i) => i);
  const drawn = sample(items, 8, random(7));
  assert.deepEqual(sample(items, 8, random(7)), drawn);
  assert.equal(new Set(drawn).size, 8);
  assert.equal(sample(items, 50, random(7)).length, 20);
});

test('what any thread ran counts as covered, and an inner range knows better than an outer one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-coverage-'));
  const range = (startOffset: number, endOffset: number, count: number) => ({ startOffset, endOffset, count });
  const report = (...ranges: object[]) =>
    JSON.stringify({
      result: [
        { url: 'file:///x/a.js', functions: [{ ranges }] },
        { url: 'node:fs', functions: [] },
      ],
    });
  writeFileSync(join(folder, '1.json'), report(range(0, 6, 1), range(2, 4, 0)));
  writeFileSync(join(folder, '2.json'), report(range(0, 6, 0), range(3, 4, 2)));
  writeFileSync(join(folder, '3.json'), '{ half a rep');
  const covered = readCoverage(folder, (file) => (file === '/x/a.js' ? 6 : undefined));
  rmSync(folder, { recursive: true });
  assert.deepEqual([...covered], [['/x/a.js', new Uint8Array([1, 1, 0, 1, 1, 1])]]);
});

const known: KnownFailure[] = [{ defect: 'D1', looks: /hang/, engines: ['firefox'], page: 'ends', check: 'a' }];
for (const [what, engine, name, error, is] of [
  ['passes', 'firefox', 'b', undefined, 'passed'],
  ['fails', 'firefox', 'b', 'hang', 'failed'],
  ['is listed and fails so', 'firefox', 'a', 'Error: hang', 'known'],
  ['is listed and fails otherwise', 'firefox', 'a', 'Error: lost', 'failed'],
  ['is listed and passes', 'firefox', 'a', undefined, 'failed'],
  ['is listed for another engine and fails', 'chromium', 'a', 'Error: hang', 'failed'],
] as const) {
  test(`a check of a page that ${what} counts as ${is}`, () => {
    const done = error === undefined ? { name } : { name, error };
    assert.equal(verdictOf(engine, 'ends', done, known).is, is);
  });
}

test('a known failure that no check shows is told, of pages that ran in its engine', () => {
  assert.deepEqual(unmet('firefox', ['ends'], new Set(), known), ['ends: a']);
  assert.deepEqual(unmet('firefox', ['ends'], new Set(['ends: a']), known), []);
  assert.deepEqual(unmet('firefox', ['values'], new Set(), known), []);
  assert.deepEqual(unmet('chromium', ['ends'], new Set(), known), []);
});
