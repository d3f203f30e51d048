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
import { Visits } from './visits.mjs';

const PAGES = [
  'round-trips',
  'order',
  'values',
  'values-between',
  'ends',
  'web-platform',
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
  'bench-page',
  'bench-page-plain',
  'suites-port',
  'suites-codec',
  'suites-sab',
  'history',
  'history-closed',
  'native-channels',
  'native-ends',
  'native-history',
  'not-isolated',
  'bundles',
  'bundles-plain',
  'isolate',
  'service-worker',
  'service-worker-own',
  'network',
  'hub',
  'nats',
];
/** Pages that are served without the headers that isolate. */
const PLAIN = ['not-isolated', 'bench-page-plain', 'bundles-plain', 'isolate', 'service-worker', 'service-worker-own'];
/** Of these, those that come to be isolated. */
const TO_BE_ISOLATED = ['isolate'];
/** Pages that want a browser in which no other was: of what it keeps of pages that are left, of service workers, and WebKit's, which has memory or has none. */
const ALONE = ['web-platform', 'history', 'history-closed', 'native-history', ...PLAIN];

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
/** What these open is built for them, by other people's tools. */
const BUILT = ['bundles', 'bundles-plain'];
const built = pages.some((page) => BUILT.includes(page))
  ? await (await import('./bundles.mjs')).bundles().catch(notBuilt)
  : undefined;
process.on('exit', () => built?.remove());
const others = built?.answerTo;

function notBuilt({ message }) {
  sums.failed++;
  console.log(`FAILED  bundles: ${message}`);
  pages.splice(0, pages.length, ...pages.filter((page) => !BUILT.includes(page)));
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

/** Opens pages in one engine: the engines run at the same time, and much of it is waiting for what must not come. */
function visitsIn(engine, program, screen) {
  const openPage = (origin, page) => {
    const isolated = !PLAIN.includes(page) || TO_BE_ISOLATED.includes(page);
    const browser = open(engine, program, `${origin}${addressOf(page)}`, { screen, isolated });
    opened.add(browser);
    const close = () => browser.close().then(() => opened.delete(browser));
    return { ended: browser.ended, close };
  };
  return new Visits({ serve: (say) => serve(say, { others }), openPage, addressOf });
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
  const longest = await visitsIn(engine, program, screen).all(
    [
      pages.filter((page) => !ALONE.includes(page)),
      ...pages.filter((page) => ALONE.includes(page)).map((page) => [page]),
    ],
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
  console.log(
    `${name}: ${counts.passed} passed, ${counts.failed} failed, ${counts.known} known in ${seconds} s; ${longest}`,
  );
  for (const key of Object.keys(sums)) sums[key] += counts[key];
}

await Promise.all(options.engine.split(',').map(check));
if (figures.length > 0) console.log(`\n${figures.map((it) => `figure  ${it}`).join('\n')}`);
console.log(`\n${sums.passed} passed, ${sums.failed} failed, ${sums.known} known`);
process.exitCode = sums.failed > 0 || sums.passed === 0 ? 1 : 0;
