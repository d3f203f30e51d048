// Numbers and tables as people read them: format.ts and terminal.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figureAxis, sweepAxis } from './axis.ts';
import { fixture } from './fixture.ts';
import { digits, figure, moment, percent, spread, tickText, times } from './format.ts';
import { buildReport } from './model.ts';
import { summary } from './summary.ts';
import { bar, palette, sparkline, table } from './terminal.ts';

test('a figure has three digits and the prefix of its unit', () => {
  const cases: [number, string, string][] = [
    [15_166_000, 'msg/s', '15.2 M'],
    [9_106, 'msg/s', '9,106'],
    [46_500, 'msg/s', '46.5 k'],
    [5.6, 'us', '5.60 µs'],
    [0.67, 'us', '670 ns'],
    [242_110, 'ns', '242 µs'],
    [1500, 'ms', '1.50 s'],
    [1536, 'bytes', '1.50 KiB'],
    [2.5 * 2 ** 30, 'B/s', '2.50 GiB'],
    [0, 'msg/s', '0'],
    [0.01234, 'instructions/message', '0.0123'],
  ];
  for (const [value, unit, text] of cases) assert.equal(figure(value, unit), text);
});

test('a spread takes the prefix of its median', () => {
  assert.equal(spread(950, 1050, 1000, 'ns'), '0.95–1.05');
  assert.equal(spread(9.9e5, 1.05e6, 1e6, 'msg/s'), '0.99–1.05');
});

test('ratios near 1 keep two decimals, large ones none', () => {
  assert.deepEqual([1.004, 1.07, 1.34, 9.96, 52.3, 697.4, 1234, 0.79].map(times), [
    '1.00×',
    '1.07×',
    '1.3×',
    '10×',
    '52×',
    '697×',
    '1,234×',
    '0.79×',
  ]);
});

test('percentages carry their sign, moments are UTC', () => {
  assert.equal(percent(-0.2), '−20.0 %');
  assert.equal(percent(1.5), '+150 %');
  assert.equal(moment('2026-11-21T19:26:30Z'), '2026-11-21 19:26 UTC');
  assert.equal(moment('yesterday'), 'yesterday');
  assert.equal(digits(1234.5), '1,235');
  assert.equal(tickText(10_000_000, 'msg/s'), '10 M');
});

test('figures within a factor of eight get a linear axis from zero, wider ones a logarithmic axis', () => {
  const linear = figureAxis([30, 100]);
  assert.deepEqual([linear.log, linear.low, linear.ticks], [false, 0, [0, 20, 40, 60, 80, 100]]);
  const log = figureAxis([9_000, 61e6]);
  assert.equal(log.log, true);
  assert.ok(log.low <= 9_000 && log.high >= 61e6);
  assert.deepEqual(log.ticks, [1e4, 1e5, 1e6, 1e7, 1e8]);
  assert.deepEqual(sweepAxis([64, 4096, 65536]).ticks, [64, 4096, 65536]);
});

test('table columns are as wide as their widest cell, colours take no room', () => {
  const red = '\u001b[31mx\u001b[39m';
  assert.deepEqual(
    table(
      [{ title: 'a' }, { title: 'n', align: 'right' }],
      [
        ['long', '1'],
        [red, '12'],
      ],
    ),
    ['a      n', 'long   1', `${red}     12`],
  );
});

test('bars grow by eighths and are never empty above zero; a flat sparkline is flat', () => {
  assert.deepEqual(
    [0, 1e-9, 0.5, 0.56, 2].map((share) => bar(share, 4)),
    ['', '▏', '██', '██▎', '████'],
  );
  assert.equal(sparkline([1, 1, 1]), '▄▄▄');
  assert.equal(sparkline([0, 7, 14]), '▁▅█');
});

test('the summary has a line per scenario and run, every loss, and warns of a run that is not to be quoted', () => {
  const noisy = fixture({ seed: 2, version: '26.10.0' });
  const text = summary(buildReport([fixture(), { ...noisy, quick: true, noise: { ...noisy.noise, bad: true } }]), {
    ...palette({}),
    loss: (part) => `<${part}>`,
  });
  assert.match(
    text,
    /^Node 24\.21\.0 {2}Invented CPU.*noise ▁▅▁█ 1\.02×\nNode 26\.10\.0.*< {2}quick, too noisy to quote>\n/,
  );
  assert.match(
    text,
    /\nshared-rate +Node 24\.21\.0 +2\.\d× +0\.\d\d× to \d\.\d× +█+▏*·+ +10 of 12 ahead +<2 behind>\n/,
  );
  assert.match(text, /\narticle-2016 +Node 24\.21\.0 +not compared\n/);
  assert.equal(text.match(/against our/g)!.length, 4);
  assert.ok(!/NaN|Infinity|undefined/.test(text));
});

test('a palette for something that is no terminal paints nothing', () => {
  const saved = process.env['FORCE_COLOR'];
  delete process.env['FORCE_COLOR'];
  try {
    assert.equal(palette({}).ours('x'), 'x');
  } finally {
    if (saved !== undefined) process.env['FORCE_COLOR'] = saved;
  }
});
