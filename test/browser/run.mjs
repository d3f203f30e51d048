// `npm run test:browser`: the pages of test/browser/pages, over dist/browser as it is shipped, in real browsers.
//
//   npm run test:browser -- --engine chromium    only this one (chromium, firefox, webkit); an engine that is not here is a failure
//   npm run test:browser -- --page ends,values   only these pages
//   npm run test:browser -- --times 5            each page so often
//   npm run test:browser -- --serve 8080         serve the pages, for a browser that you open yourself
//
// The last line is `<n> passed, <n> failed, <n> known`: what is known to fail, and must (known.mjs).
import process from 'node:process';
import { parseArgs } from 'node:util';
import { build } from '../../tools/build.mjs';
import { ENGINES, open, programOf, screenFor, versionOf } from './engines.mjs';
import { unmet, verdictOf } from './known.mjs';

const PAGES = [
  'round-trips',
  'order',
  'values',
  'values-between',
  'ends',
  'faults',
  'quiet',
  'handles',
  'stress',
  'neighbours',
  'spawn',
  'policies',
  'doors',
  'audio',
  'calls',
  'measure',
  'suites-port',
  'suites-codec',
  'history',
  'history-closed',
  'native-channels',
  'native-ends',
  'native-history',
  'not-isolated',
  'bundles',
  'isolate',
  'service-worker',
  'service-worker-own',
];
/** Pages that are served without the headers that isolate. */
const PLAIN = ['not-isolated', 'bench-page-plain', 'isolate', 'service-worker', 'service-worker-own'];
/** Of these, those that come to be isolated. */
const TO_BE_ISOLATED = ['isolate'];
/** Without a word from the page for so long it hangs: each check has a watchdog of its own. */
const SILENCE_MS = 45_000;

const { values: options } = parseArgs({
  options: {
    engine: { type: 'string', default: ENGINES.map(({ name }) => name).join(',') },
    page: { type: 'string', default: PAGES.join(',') },
    times: { type: 'string', default: '1' },
    serve: { type: 'string' },
  },
});
const addressOf = (page) => `/page/${page}${PLAIN.includes(page) ? '?plain' : ''}`;

await build();
const { serve } = await import('./server.mjs');
const pages = Array.from({ length: Number(options.times) }, () => options.page.split(',')).flat();
const sums = { passed: 0, failed: 0, known: 0 };
/** What the page `bundles` opens is built for it, by other people's tools. */
const built = pages.includes('bundles') ? await (await import('./bundles.mjs')).bundles().catch(notBuilt) : undefined;
process.on('exit', () => built?.remove());
const others = built?.answerTo;

function notBuilt({ message }) {
  sums.failed++;
  console.log(`FAILED  bundles: ${message}`);
  pages.splice(pages.indexOf('bundles'), 1);
}
if (options.serve !== undefined) {
  const say = ({ page, done }) =>
    done && console.log(`${done.error ? 'FAILED' : 'ok'}  ${page}: ${done.name}  ${done.error ?? ''}`);
  const server = await serve(say, { port: Number(options.serve), others });
  for (const page of PAGES) console.log(`${server.origin}${addressOf(page)}`);
  await new Promise(() => {});
}

/** Browsers that run now, and screens. */
const opened = new Set();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, async () => {
    await Promise.all([...opened].map((browser) => browser.close()));
    process.exit(130);
  });
}

/** One engine, with a server of its own: the engines run at the same time, and much of it is waiting for what must not come. */
class Engine {
  #engine;
  #program;
  #screen;
  #server;
  #heard = () => {};

  constructor(engine, program, screen) {
    this.#engine = engine;
    this.#program = program;
    this.#screen = screen;
  }

  /** Opens the pages, one after the other, and calls `over` with each check that is over, `measured` with each figure. */
  async run(pages, over, measured) {
    this.#server = await serve(
      (report) => {
        if (report.figure === undefined) this.#heard(report);
        else measured(report.page, report.figure);
      },
      { others },
    );
    for (const page of pages) await this.#runPage(page, (done) => over(page, done));
    this.#server.close();
  }

  async #runPage(page, over) {
    let current = 'the page itself';
    let silence;
    const ended = new Promise((resolve) => {
      const listen = () => {
        clearTimeout(silence);
        silence = setTimeout(resolve, SILENCE_MS, `hang: nothing was heard of it for ${SILENCE_MS / 1000} s`);
      };
      this.#heard = ({ page: from, done, next, over: ended }) => {
        if (from !== page) return;
        listen();
        if (done !== undefined) over(done);
        current = next ?? current;
        if (ended) resolve(undefined);
      };
      listen();
    });
    const isolated = !PLAIN.includes(page) || TO_BE_ISOLATED.includes(page);
    const address = `${this.#server.origin}${addressOf(page)}`;
    const browser = open(this.#engine, this.#program, address, { screen: this.#screen, isolated });
    opened.add(browser);
    const error = await Promise.race([ended, browser.ended.then((how) => `the browser ended: ${how}`)]);
    clearTimeout(silence);
    this.#heard = () => {};
    await browser.close();
    opened.delete(browser);
    if (error !== undefined) over({ name: current, error, ms: 0 });
  }
}

const SIGNS = { passed: 'ok    ', known: 'known ', failed: 'FAILED' };
/** What the pages have measured. */
const figures = [];

/** Runs the checks of an engine, and says of each what came of it. */
async function check(name) {
  const engine = ENGINES.find((it) => it.name === name);
  const program = engine && programOf(engine);
  if (program === undefined) {
    sums.failed++;
    console.log(
      engine
        ? `FAILED  ${name} is not here: install it (Debian: apt-get install ${engine.packages}), or say where it is in ${engine.variable}`
        : `FAILED  no engine is called ${name}; there are ${ENGINES.map((it) => it.name).join(', ')}`,
    );
    return;
  }
  const screen = await screenFor(engine);
  if (screen !== undefined) opened.add(screen);
  const started = performance.now();
  const counts = { passed: 0, failed: 0, known: 0 };
  const met = new Set();
  console.log(`${name}: ${versionOf(program, screen)}`);
  await new Engine(engine, program, screen).run(
    pages,
    (page, done) => {
      met.add(`${page}: ${done.name}`);
      const { is, why } = verdictOf(name, page, done);
      counts[is]++;
      const told = `${page}: ${done.name} (${done.ms} ms)${why === undefined ? '' : `\n        ${why}`}`;
      console.log(`${SIGNS[is]}  ${name} ${told}`);
    },
    (page, { what, value, unit, goal }) => {
      figures.push(`${name} ${page}: ${what}: ${value} ${unit} (to be at most ${goal})`);
    },
  );
  await screen?.close();
  opened.delete(screen);
  for (const listed of unmet(name, pages, met)) {
    counts.failed++;
    console.log(`FAILED  known.mjs lists "${listed}", which is no check`);
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.known} known in ${seconds} s`);
  for (const key of Object.keys(sums)) sums[key] += counts[key];
}

await Promise.all(options.engine.split(',').map(check));
if (figures.length > 0) console.log(`\n${figures.map((it) => `figure  ${it}`).join('\n')}`);
console.log(`\n${sums.passed} passed, ${sums.failed} failed, ${sums.known} known`);
process.exitCode = sums.failed > 0 || sums.passed === 0 ? 1 : 0;
