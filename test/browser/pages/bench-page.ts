// The page of `npm run page`, used as its reader would: the server puts these checks into the page itself (server.mjs).
import {
  coloursOfCharts,
  ended,
  figuresOf,
  interrupted,
  lookedAt,
  measure,
  saved,
  stopped,
} from '../../../bench/page/drive.ts';
import { check, equal, ok } from './checks.ts';

const text = (id: string): string => document.getElementById(id)?.textContent ?? '';
/** What the page has logged as an error. */
const { logged } = self as unknown as { readonly logged: readonly string[] };
/** Two that are in every page and browser. */
const CONTENDERS = ['millrace-port:loop', 'native-port'];

check('it says what the browser has, and what is missing', async () => {
  await lookedAt();
  const isolated = document.querySelector('#fact-isolated .yes') !== null;
  equal(isolated, crossOriginIsolated);
  equal(document.getElementById('missing')?.hidden, typeof SharedArrayBuffer === 'function');
  if (!crossOriginIsolated) ok(/Cross-Origin-Opener-Policy/.test(text('missing')), text('missing'));
});

check('an interpreter is interrupted', async () => {
  await interrupted();
  ok(/interrupted after [1-9]/.test(text('state')), text('state'));
  equal(text('jobs-done'), '1');
  // A worker that stays in its work hears of no native message.
  if (crossOriginIsolated) equal(text('unheard'), '1 sent, 0 heard');
});

check('workers end, and each port says why', async () => {
  await ended();
  const reasons = ['close', 'exit', 'missing', 'throws', 'idle', 'computing'].map(
    (id) => document.querySelector(`#ending-${id} .reason`)?.textContent,
  );
  equal(reasons, ['closed', 'exit', 'crash', 'crash', 'terminated', 'terminated']);
  if (!crossOriginIsolated) return;
  for (const id of ['blocked', 'orphan'])
    equal(document.querySelector(`#ending-${id} .reason`)?.textContent, 'terminated', id);
});

check('what it measures can be stopped', async () => {
  await measure(CONTENDERS);
  const said = await stopped();
  ok(said.startsWith('Stopped'), said);
});

check('it measures round trips', async () => {
  await measure(CONTENDERS);
  equal(await figuresOf('trips'), CONTENDERS.length);
});

check('it measures what goes one way', async () => {
  equal(await figuresOf('stream'), CONTENDERS.length);
});

check('both charts are drawn, or it says what is not installed', async () => {
  const { ok: installed } = await fetch('/bench/page/uplot.js');
  const said = text('trips-chart');
  // `npm run page` installs it; who runs only these checks may have no packages. The step of pictures in CI asks for the charts.
  if (!installed) return ok(said.includes('npm ci --prefix bench'), said);
  const colours = coloursOfCharts();
  ok(colours.length === 2 && colours.every((count) => count > 2), `colours: ${colours} ${said}`);
});

check('what it saves is read by millrace report', async () => {
  const file = await saved();
  ok(/^millrace-.*\.json$/.test(file.name), file.name);
  const answer = await fetch('/results', { method: 'POST', body: file.text });
  const said = await answer.text();
  ok(answer.ok, said);
  ok(said.includes('page-round-trip') && said.includes('page-stream'), said);
});

check('it has logged no error', () => equal(logged, []));
