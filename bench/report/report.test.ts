import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Result, Results, ScenarioResults } from '../schema.ts';
import type { Wait } from '../wait.ts';
import { findChromium } from './chromium.ts';
import { fixture, result } from './fixture.ts';
import { headline } from './headline.ts';
import { kindOf } from './kind.ts';
import { betterBy, buildReport, onlyOurs, standing } from './model.ts';
import { page } from './page.ts';
import { picture } from './picture.ts';
import { report } from './report.ts';
import { problems } from './well-formed.ts';

function screen(): { text: string; write(text: string): void } {
  return {
    text: '',
    write(text: string): void {
      this.text += text;
    },
  };
}

function inFolder<T>(body: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-report-'));
  const done = (): void => rmSync(folder, { recursive: true, force: true });
  let pending = false;
  try {
    const value = body(folder);
    pending = value instanceof Promise;
    return pending ? ((value as Promise<unknown>).finally(done) as T) : value;
  } finally {
    if (!pending) done();
  }
}

function results(files: readonly Results[]): Result[] {
  return files.flatMap((file) => file.scenarios.flatMap((one) => one.rows.flatMap((row) => row.results)));
}

/** Every value of `<data value="...">` whose text is a median or a spread, as a sorted list. */
function values(html: string): string[] {
  return [...html.matchAll(/<data value="([^"]*)">/g)].map((found) => found[1]!).sort();
}

const ONE = [fixture()];
const MANY = [
  fixture({ seed: 2, version: '20.20.2' }),
  fixture(),
  fixture({ seed: 3, runtime: 'bun', version: '1.4.5' }),
];

for (const [name, files] of [
  ['one file', ONE],
  ['three files', MANY],
] as const) {
  test(`the page of ${name} is well-formed, asks for nothing and runs nothing`, () => {
    const html = page(buildReport(files));
    assert.deepEqual(problems(html), []);
    assert.ok(!/<script|<link|<iframe|@import|url\(|javascript:|\son[a-z]+=/i.test(html), 'no script and no request');
    assert.ok(!/(src|href)="(?!#)/.test(html), 'links stay on the page');
  });

  test(`the page of ${name} has every median and every spread of the files, once each`, () => {
    const html = page(buildReport(files));
    const expected = results(files).flatMap((one) => [String(one.median), `${one.low}..${one.high}`]);
    assert.deepEqual(values(html), expected.sort());
  });

  test(`the page of ${name} says command, commit, machine and runtime`, () => {
    const html = page(buildReport(files));
    for (const { command, commit, machine, runtime } of files) {
      for (const text of [command, commit, machine.cpu, machine.kernel, runtime.version, runtime.engine]) {
        assert.ok(html.includes(text), text);
      }
    }
  });
}

test('the check for well-formedness sees what it should', () => {
  assert.notDeepEqual(problems('<!doctype html><html><body><p>a</body></html>'), []);
  assert.notDeepEqual(problems('<!doctype html><html><a id="x"></a><a id="x"></a></html>'), []);
  assert.notDeepEqual(problems('<!doctype html><html><a class=x></a></html>'), []);
  assert.notDeepEqual(problems('<!doctype html><html>a & b</html>'), []);
  assert.notDeepEqual(problems('<!doctype html><html><a href="#nowhere">x</a></html>'), []);
});

test('nothing in a results file becomes markup', () => {
  const evil = '</td><script>alert(1)</script>"\'&\u0000';
  const text = JSON.stringify(fixture(), (key, value) =>
    typeof value === 'string' && key !== 'better' && key !== 'subject' && key !== 'baseline' ? value + evil : value,
  );
  const html = page(buildReport([JSON.parse(text)]));
  assert.deepEqual(problems(html), []);
  assert.ok(!html.includes('<script'));
  assert.ok(!picture(buildReport([JSON.parse(text)])).includes('<script'));
});

test('a row that a rival wins is said to be won by it, on the page and in the list of losses', () => {
  const html = page(buildReport(ONE));
  const losses = /<section id="losses">.*?<\/section>/s.exec(html)![0];
  assert.match(losses, /64 KiB string/);
  assert.match(losses, /In 2 of 19 comparisons/);
  assert.match(html, /<b>@nxtedition\/shared <span class="nb">\(stand-in\)<\/span> wins<\/b> by 1\.\d+×/);
});

test('overlapping spreads are no difference, whatever the medians say', () => {
  const made = (subject: string, median: number, low: number, high: number): Result => ({
    ...{ subject, label: subject, samples: [low, median, high], median, low, high, checked: true },
  });
  const ours = made('millrace-port', 100, 90, 110);
  assert.equal(standing([ours, made('native-port', 95, 80, 98)], 'higher')!.outcome, 'even');
  assert.equal(standing([ours, made('native-port', 80, 70, 89)], 'higher')!.outcome, 'ahead');
  assert.equal(standing([ours, made('native-port', 80, 70, 89)], 'lower')!.outcome, 'behind');
  assert.equal(standing([ours, made('limit-ring', 900, 800, 990)], 'higher'), undefined);
});

test('contenders that wait in different ways are rows of their own, and a way that only we have is said to be that', () => {
  const made = (subject: string, median: number, wait?: Wait): Result => ({
    ...{ subject, label: subject, samples: [median], median, low: median, high: median, checked: true },
    ...(wait && { wait }),
  });
  const file = structuredClone(fixture()) as Results & { scenarios: ScenarioResults[] };
  file.scenarios = [
    {
      ...file.scenarios[1]!,
      better: 'lower',
      rows: [
        {
          label: 'parked',
          params: { pauseMs: 3 },
          results: [
            made('millrace-port:loop', 90, 'loop/loop'),
            made('millrace-port:block', 30, 'block/block'),
            // From a file that does not say it: the subject does.
            made('native-port', 60),
            made('cpp-spin', 1),
          ],
        },
      ],
    },
  ];
  const [loops, blocking, ...more] = buildReport([file]).scenarios[0]!.rows;
  assert.deepEqual(more, []);
  assert.equal(loops!.label, 'parked, event loops');
  assert.equal(loops!.standings[0]!.outcome, 'behind', 'our blocking figure must not stand against their event loops');
  assert.equal(loops!.standings[0]!.ours.subject, 'millrace-port:loop');
  assert.equal(blocking!.label, 'parked, both block');
  assert.equal(blocking!.standings[0], undefined);
  assert.deepEqual([onlyOurs(loops!), onlyOurs(blocking!)], [false, true]);
  for (const row of [loops!, blocking!]) assert.ok(row.contenders.some(({ subject }) => subject === 'cpp-spin'));
  assert.match(page(buildReport([file])), /only Millrace waits this way/);
});

test('rows of workers and channels that are made are not split by how somebody would wait', () => {
  const file = structuredClone(fixture()) as Results & { scenarios: ScenarioResults[] };
  const made = (subject: string, median: number): Result => ({
    ...{ subject, label: subject, samples: [median], median, low: median, high: median, checked: true },
    memory: { heapUnitBytes: 5 * 1024 },
  });
  const rows = [{ label: 'a port', params: {}, results: [made('millrace-sab', 40), made('native-port', 30)] }];
  file.scenarios = ['startup', 'workers-50', 'open'].map((name) => ({ ...file.scenarios[1]!, name, rows }));
  const report = buildReport([file]);
  for (const { rows: shown } of report.scenarios) {
    assert.deepEqual([shown.length, shown[0]!.standings[0]!.rival.subject], [1, 'native-port']);
  }
  const html = page(report);
  assert.match(html, />heap each</);
  assert.match(html, />5\.00 KiB</);
});

test('a ratio says how many times better, whether more or less is better, by the median over rounds', () => {
  const made = (samples: number[]): Result => ({
    ...{ subject: 'x', label: 'x', samples, median: samples[1]!, low: 0, high: 0, checked: true },
  });
  assert.equal(betterBy(made([20, 40, 90]), made([10, 20, 30]), 'higher'), 2);
  assert.equal(betterBy(made([10, 20, 30]), made([20, 40, 90]), 'lower'), 2);
  assert.equal(betterBy(made([10, 20]), made([20, 40, 90]), 'higher'), 0.5);
});

test('the row that stands for its scenario is the middle one by ratio, of two the less flattering', () => {
  const built = buildReport(ONE);
  const rates = built.scenarios[0]!;
  const ratios = rates.rows.map((row) => row.standings[0]!.ratio).sort((a, b) => a - b);
  assert.equal(ratios.length, 12);
  assert.equal(headline(rates, 0)!.standing.ratio, ratios[5]);
  assert.equal(headline(built.scenarios[2]!, 0), undefined);
});

test('a figure whose two ends disagree wins nothing and is marked', () => {
  const file = structuredClone(fixture()) as Results;
  const row = file.scenarios[0]!.rows[0]!;
  (row.results[0] as { checked: boolean }).checked = false;
  const built = buildReport([file]);
  assert.equal(built.scenarios[0]!.rows[0]!.standings[0], undefined);
  assert.match(page(built), /the two ends disagree/);
});

test('a noisy, interrupted or quick run says so before its figures', () => {
  const base = fixture();
  const file = { ...base, quick: true, partial: true, noise: { ...base.noise, ratio: 1.9, bad: true } };
  const html = page(buildReport([file]));
  const top = html.slice(0, html.indexOf('<main>'));
  for (const text of ['do not quote this run', 'was interrupted', 'is a quick run'])
    assert.ok(top.includes(text), text);
});

test('a contender that failed is shown as failed, with its reason', () => {
  const file = structuredClone(fixture()) as Results;
  const rows = file.scenarios[1]!.rows as unknown as { results: Result[] }[];
  // A median of no samples is null by the time it has been through JSON.
  const failed = { ...rows[0]!.results[1]!, samples: [], median: null, low: null, high: null, note: 'it crashed' };
  rows[0]!.results[1] = failed as unknown as Result;
  for (const files of [[file], [file, fixture({ seed: 4, version: '26.10.0' })]]) {
    const html = page(buildReport(files));
    assert.match(html, />failed</);
    assert.match(html, /it crashed/);
    assert.deepEqual(problems(html), []);
    assert.ok(!html.includes('NaN'));
  }
});

test('runs that only partly share scenarios, rows and contenders stand side by side with gaps', () => {
  const other = structuredClone(fixture({ seed: 5, version: '26.10.0' })) as Results;
  (other.scenarios as unknown[]).splice(0, 1);
  (other.scenarios[0]!.rows as unknown[]).splice(1, 2);
  (other.scenarios[0]!.rows[0]!.results as unknown[]).push(result('extra', 'Extra', 9, () => 0.5));
  const html = page(buildReport([fixture(), other]));
  assert.deepEqual(problems(html), []);
  assert.ok(!/NaN|undefined|Infinity/.test(html));
});

test('the picture is well-formed and draws the middle row of each scenario', () => {
  const svg = picture(buildReport(ONE));
  assert.deepEqual(problems(svg), []);
  assert.match(svg, /smp-round-trip/);
  assert.ok(!/NaN|undefined|Infinity/.test(svg));
});

test('the verb writes a page, and names a file that it cannot use', async () => {
  await inFolder(async (folder) => {
    const input = join(folder, 'a.json');
    const output = join(folder, 'deep', 'report.html');
    writeFileSync(input, JSON.stringify(fixture()));
    assert.equal(await report([input, '--out', output], screen()), 0);
    assert.deepEqual(problems(readFileSync(output, 'utf8')), []);
    const pictured = join(folder, 'a.svg');
    assert.equal(await report([input, '--svg', pictured], screen()), 0);
    assert.match(readFileSync(pictured, 'utf8'), /^<svg /);
    writeFileSync(input, '{"schema":99}');
    const shown = screen();
    assert.equal(await report([input], shown), 2);
    assert.match(shown.text, /a\.json: its schema is 99, this report reads 1/);
    assert.equal(await report([join(folder, 'nowhere.json')], shown), 2);
    assert.equal(await report(['--nonsense'], shown), 2);
  });
});

test('--compare --exit-code answers 1 for a planted regression and 0 for noise', async () => {
  await inFolder(async (folder) => {
    const path = (name: string): string => join(folder, `${name}.json`);
    const slower = structuredClone(fixture({ seed: 2 })) as Results;
    const hit = slower.scenarios[0]!.rows[2]!.results[0] as unknown as { samples: number[]; median: number };
    hit.samples = hit.samples.map((sample) => sample * 0.8);
    hit.median *= 0.8;
    writeFileSync(path('before'), JSON.stringify(fixture({ seed: 1 })));
    writeFileSync(path('same'), JSON.stringify(fixture({ seed: 2 })));
    writeFileSync(path('slower'), JSON.stringify(slower));
    const shown = screen();
    assert.equal(await report(['--compare', path('before'), path('same'), '--exit-code'], shown), 0);
    assert.match(shown.text, /No regression/);
    assert.equal(await report(['--compare', path('before'), path('slower'), '--exit-code'], shown), 1);
    assert.match(shown.text, /1 regression in/);
    assert.match(shown.text, /shared-rate, 1 KiB bytes/);
    assert.equal(await report(['--compare', path('before'), path('slower')], shown), 0);
    assert.equal(await report(['--compare', path('before')], shown), 2);
  });
});

test('a PNG needs a Chromium: drawn with one, refused with a remedy without', async () => {
  // The page is drawn by hand in CI; here only the refusal is certain on every machine.
  const saved = { path: process.env['PATH'], chromium: process.env['CHROMIUM'] };
  process.env['PATH'] = '';
  delete process.env['CHROMIUM'];
  try {
    if (findChromium() !== undefined) return;
    await inFolder(async (folder) => {
      writeFileSync(join(folder, 'a.json'), JSON.stringify(fixture()));
      const shown = screen();
      assert.equal(await report([join(folder, 'a.json'), '--png', join(folder, 'a.png')], shown), 2);
      assert.match(shown.text, /no Chromium found; install one/);
    });
  } finally {
    process.env['PATH'] = saved.path;
    if (saved.chromium !== undefined) process.env['CHROMIUM'] = saved.chromium;
  }
});

test('the ring of processes alone is a limit: nobody can install it, and it wins no row for the port', () => {
  const names = ['millrace-process-ring', 'millrace-process-ring:parked', 'millrace-process:memory', 'millrace-ring'];
  assert.deepEqual(names.map(kindOf), ['limit', 'limit', 'ours', 'ours']);
});
