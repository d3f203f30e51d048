// The section that measures: contenders take turns in rounds, there and back and one way; charts and tables follow as they go.
import { type Compared, compare, type Progress, payloads } from '../browser/measure/index.ts';
import { Chart, type Line } from './chart.ts';
import { type Contender, contenders } from './contenders.ts';
import { byId, digits, make } from './dom.ts';
import { drawTable, headline, type Unit } from './figures.ts';
import { fileName, type Measurement, NOISE_LIMIT, perSecond, resultsOf } from './results.ts';

/** How long a run takes: rounds, milliseconds of a turn, and of what is not counted before. */
const PACES = [
  { name: 'short', rounds: 5, millis: 60, warmMs: 150 },
  { name: 'longer', rounds: 9, millis: 200, warmMs: 400 },
  { name: 'a glimpse, not to be quoted', rounds: 2, millis: 10, warmMs: 10 },
] as const;

interface Part {
  readonly name: Measurement['name'];
  readonly title: string;
  readonly id: string;
  readonly unit: Unit;
  readonly direction: 'round-trip' | 'to-worker';
  readonly axis: string;
}
const PARTS: readonly Part[] = [
  {
    name: 'page-round-trip',
    title: 'Round trips between a page and its worker',
    id: 'trips',
    unit: 'us',
    direction: 'round-trip',
    axis: 'µs',
  },
  {
    name: 'page-stream',
    title: 'One way, from a page to its worker',
    id: 'stream',
    unit: 'msg/s',
    direction: 'to-worker',
    axis: 'messages a second',
  },
];

function checkbox({ name, label, colour, usual }: Contender): HTMLElement {
  const box = make('input', { type: 'checkbox', name: 'contender', value: name, checked: usual });
  const swatch = make('span', { class: 'swatch' });
  swatch.style.background = `var(${colour})`;
  return make('label', { class: 'contender' }, box, swatch, make('span', {}, label));
}

/** Those who can take part are there to choose; the others are named with the reason. */
function listContenders(all: readonly Contender[]): void {
  const here = all.filter(({ absent }) => absent === undefined);
  byId('contenders').append(...here.filter(({ usual }) => usual).map(checkbox));
  const more = here.filter(({ usual }) => !usual);
  byId('more-contenders').append(...more.map(checkbox));
  byId('more').hidden = more.length === 0;
  for (const reason of new Set(all.flatMap(({ absent }) => absent ?? []))) {
    const labels = all.filter(({ absent }) => absent === reason).map(({ label }) => label);
    byId('absent').append(make('p', {}, make('b', {}, `Not here (${reason}): `), labels.join('; ')));
  }
}

/** Wires the section; resolves once its controls are there. */
export async function measuring(): Promise<void> {
  const start = byId<HTMLButtonElement>('measure');
  const stop = byId<HTMLButtonElement>('stop');
  const save = byId<HTMLButtonElement>('save');
  const progress = byId<HTMLProgressElement>('progress');
  const status = byId('measure-state');
  const payload = byId<HTMLSelectElement>('payload');
  const batch = byId<HTMLSelectElement>('batch');
  const pace = byId<HTMLSelectElement>('pace');
  const all = await contenders();
  listContenders(all);
  payload.append(...payloads.map(({ name, label }) => make('option', { value: name }, label)));
  batch.append(...['1', '8', '64'].map((count) => make('option', { value: count }, count)));
  pace.append(...PACES.map(({ name }, i) => make('option', { value: String(i) }, name)));
  const charts = new Map(PARTS.map(({ id, axis }) => [id, new Chart(byId(`${id}-chart`), axis)]));

  let stopping: AbortController | undefined;
  let file: { readonly name: string; readonly text: string } | undefined;

  const chosen = (): Contender[] => {
    const boxes = document.querySelectorAll<HTMLInputElement>('#chosen input:checked');
    const names = [...boxes].map(({ value }) => value);
    return all.filter(({ name }) => names.includes(name));
  };

  /** Measures one part; `share` is what is over of the whole run before it. */
  async function measurePart(
    part: Part,
    asked: readonly Contender[],
    share: number,
    say: (share: number, what: string) => void,
  ): Promise<Compared> {
    const { rounds, millis, warmMs } = PACES[Number(pace.value)];
    const lines = new Map<string, Line>(asked.map(({ name, label, colour }) => [name, { label, colour, values: [] }]));
    const chart = charts.get(part.id)!;
    byId(`${part.id}-headline`).textContent = '';
    byId(`${part.id}-table`).replaceChildren();
    await chart.start([...lines.values()], rounds);
    const onProgress = (now: Progress): void => {
      const line = now.subject === undefined ? undefined : lines.get(now.subject);
      if (line !== undefined && now.microseconds !== undefined) {
        line.values.push(part.unit === 'us' ? now.microseconds : 1e6 / now.microseconds);
        chart.draw();
      }
      say(share + now.share / PARTS.length, `${part.title}${line === undefined ? '' : `: ${line.label}`}`);
    };
    const row = await compare({
      subjects: asked.map(({ name }) => name),
      payload: payload.value,
      direction: part.direction,
      batch: Number(batch.value),
      rounds,
      millis,
      warmMs,
      onProgress,
      signal: stopping!.signal,
    });
    const found = part.unit === 'us' ? row : { ...row, results: row.results.map(perSecond) };
    byId(`${part.id}-headline`).textContent = headline(found.results, all, part.unit);
    drawTable(`${part.id}-table`, found.results, all, part.unit);
    return found;
  }

  async function run(asked: readonly Contender[]): Promise<void> {
    const date = new Date();
    const began = performance.now();
    const measurements: Measurement[] = [];
    let hidden = document.hidden;
    const onHidden = (): void => {
      hidden ||= document.hidden;
    };
    document.addEventListener('visibilitychange', onHidden);
    const say = (share: number, what: string): void => {
      progress.value = share;
      const spent = (performance.now() - began) / 1000;
      const left = share > 0.05 ? `, ${Math.ceil((spent * (1 - share)) / share)} s left` : '';
      status.textContent = `${what}${left}`;
    };
    try {
      for (const [i, part] of PARTS.entries()) {
        if (stopping?.signal.aborted) break;
        const row = await measurePart(part, asked, i / PARTS.length, say);
        if (row.results.some(({ samples }) => samples.length > 0))
          measurements.push({ name: part.name, title: part.title, unit: part.unit, row });
      }
    } finally {
      document.removeEventListener('visibilitychange', onHidden);
    }
    const partial = stopping?.signal.aborted === true;
    const seconds = (performance.now() - began) / 1000;
    if (measurements.length === 0) {
      status.textContent = partial
        ? 'Stopped before anything was measured.'
        : 'Nobody could be measured: the tables say why.';
      return;
    }
    const results = await resultsOf({ date, seconds, quick: pace.value !== '1', partial, measurements });
    file = { name: fileName(results), text: `${JSON.stringify(results, null, 1)}\n` };
    status.textContent = [
      partial ? 'Stopped: what was measured is here.' : `Measured in ${digits(seconds)} s.`,
      hidden ? 'This page was in the background meanwhile, where browsers let it run slowly.' : '',
      results.noise.bad
        ? `Something else was at work on this machine: a fixed piece of arithmetic took ${digits(results.noise.ratio)} times as long as before (${NOISE_LIMIT} at most on a quiet one). Do not quote these figures.`
        : '',
    ].join(' ');
  }

  start.addEventListener('click', async () => {
    const asked = chosen();
    if (asked.length === 0) {
      status.textContent = 'Choose at least one contender.';
      return;
    }
    stopping = new AbortController();
    start.disabled = save.disabled = true;
    stop.disabled = false;
    progress.hidden = false;
    status.textContent = 'starting';
    try {
      await run(asked);
    } catch (error) {
      status.textContent = `It failed: ${error instanceof Error ? error.message : error}`;
      throw error;
    } finally {
      stopping = undefined;
      start.disabled = false;
      stop.disabled = true;
      save.disabled = file === undefined;
      progress.hidden = true;
    }
  });
  stop.addEventListener('click', () => {
    stopping?.abort();
    stop.disabled = true;
    status.textContent = 'stopping after this turn';
  });
  save.addEventListener('click', () => {
    if (file === undefined) return;
    const url = URL.createObjectURL(new Blob([file.text], { type: 'application/json' }));
    make('a', { href: url, download: file.name }).click();
    // The download has begun by then.
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  });
  byId('measuring').dataset['ready'] = 'true';
}
