// `npm run bench -- browsers`: the scenario `browsers` in Chromium, Firefox and WebKit, one after the other, each in one page load with
// nothing else of ours running. Writes a results file for each engine.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Setting } from '../contest.ts';
import { typedCommand } from '../home.ts';
import { keep, store, usualFolder } from '../keep.ts';
import { commit, machineFacts } from '../machine.ts';
import { type Results, SCHEMA } from '../schema.ts';
import { versions } from '../subjects/rival.ts';
import { printHead, printScenario } from '../table.ts';
import { type Answer, type Asked, areHere, type Engine, loadEngines, loadHost } from './engines.ts';
import { rivalAnswer } from './rivals.ts';
import type { Assignment, Found, PageReport } from './told.ts';

const OPTIONS = {
  engine: { type: 'string', default: 'chromium,firefox,webkit' },
  subjects: { type: 'string', default: '' },
  payload: { type: 'string', default: '' },
  rounds: { type: 'string' },
  quick: { type: 'boolean' },
  smoke: { type: 'boolean' },
  json: { type: 'string' },
  out: { type: 'string' },
  help: { type: 'boolean' },
  'sab-message-port': { type: 'string' },
} as const;

const HELP = `npm run bench -- browsers: a page and its workers, in real browsers; three minutes each, one with --quick

  --engine a,b          chromium, firefox, webkit
  --subjects a,b        contenders by name or its beginning
  --payload a,b         rows by payload (req118, text118, obj500, block64k, text3m, text3m-again), direction or place
  --quick               fewer and shorter rounds
  --rounds N            rounds per row; 9, quick 5
  --json FILE           also write the results; FILE gets the engine's name added
  --out FOLDER          store the results there, and draw the page with their charts; \`npm run bench\` does so in bench/out
  --sab-message-port PATH
                        its ES module; without it a stand-in of its documented design takes part`;

const PAGE = `<!doctype html><meta charset="utf-8"><title>Millrace</title><link rel="icon" href="data:,">
<script type="module" src="page.js"></script>`;
const AT = '/bench/browser/';
/** A row of a full run takes half a minute on a quiet machine. */
const SILENCE_MS = 300_000;

const STOPS = ['SIGINT', 'SIGTERM'] as const;

const list = (text: string): string[] => text.split(',').filter((name) => name !== '');

/** Runs the words behind `bench browsers`; returns the exit code. */
export async function measureBrowsers(args: readonly string[]): Promise<number> {
  let values: ReturnType<typeof parse>;
  try {
    values = parse(args);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    return 2;
  }
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  if (!areHere) {
    console.error('Cannot measure browsers here: the package does not bring what opens them; clone the repository');
    return 2;
  }
  const { ENGINES } = await loadEngines();
  const unknown = list(values.engine).filter((name) => !ENGINES.some((engine) => engine.name === name));
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (unknown.length > 0 || (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0))) {
    const wrong = unknown.length > 0 ? `there is no engine ${unknown}` : `--rounds takes a whole number above 0`;
    console.error(`${wrong}\n\n${HELP}`);
    return 2;
  }
  const setting: Setting = {
    size: values.smoke ? 'smoke' : values.quick ? 'quick' : 'full',
    subjects: list(values.subjects),
    payloads: list(values.payload),
    options: {},
  };
  const original = values['sab-message-port'] ?? process.env['SAB_MESSAGE_PORT'];
  const assignment: Assignment = { setting, ...(rounds !== undefined && { rounds }) };
  const command = typedCommand(['browsers', ...args.map(withoutFolders)]);
  let worst = 0;
  for (const engine of ENGINES.filter(({ name }) => list(values.engine).includes(name))) {
    const results = await measureOne(engine, assignment, original, command).catch((error: Error) => error.message);
    if (typeof results === 'string') {
      console.error(`absent: ${engine.name}: ${results}`);
      worst = 1;
      continue;
    }
    for (const scenario of results.scenarios) console.log(printScenario(scenario));
    console.log(`\n${printHead(results)}`);
    const folder = values.out ?? usualFolder();
    const files = folder === undefined ? [] : [...keep(folder, results)];
    if (values.json !== undefined) {
      const file = values.json.replace(/(\.json)?$/, `-${engine.name}.json`);
      store(file, results);
      files.push(file);
    }
    for (const file of files) console.log(`written: ${file}`);
    if (!delivered(results)) worst = 1;
  }
  return worst;
}

function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS }).values;
}

/** Paths are of this machine; what is repeated needs none of them. */
const withoutFolders = (arg: string): string => (/[\\/]/.test(arg) ? basename(arg) : arg);

/** Whether both ends of every contender agreed, where it gave a figure. */
function delivered({ scenarios }: Results): boolean {
  const all = scenarios.flatMap(({ rows }) => rows.flatMap(({ results }) => results));
  return all.every(({ samples, checked }) => samples.length === 0 || checked);
}

/** @throws Error that says what is missing, or what became of the page */
async function measureOne(
  engine: Engine,
  assignment: Assignment,
  original: string | undefined,
  command: string,
): Promise<Results> {
  const { programOf, screenFor, versionOf, open } = await loadEngines();
  const program = programOf(engine);
  if (program === undefined) {
    const remedy = `\`bash test/browser/install.sh\` (Debian: apt-get install ${engine.packages}), or say where it is in ${engine.variable}`;
    throw new Error(
      `it is not here; browsers are no dependency of anything but the tests of browsers and this: ${remedy}`,
    );
  }
  const screen = await screenFor(engine);
  try {
    const says = versionOf(program, screen);
    const date = new Date().toISOString();
    const began = performance.now();
    const found = await measureIn(assignment, original, (url) => open(engine, program, url, { screen }), engine.name);
    return {
      schema: SCHEMA,
      date,
      command,
      commit: commit(),
      quick: assignment.setting.size !== 'full',
      partial: false,
      seconds: Math.round((performance.now() - began) / 1000),
      machine: machineFacts(),
      runtime: {
        name: engine.name,
        version: /\d+(\.\d+)+\w*/.exec(says)?.[0] ?? '',
        engine: says,
        packages: packages(original),
      },
      noise: found.noise,
      scenarios: [found.scenario],
      absent: found.absent,
    };
  } finally {
    await screen?.close();
  }
}

/** Versions of the rivals that took part. */
function packages(original: string | undefined): Record<string, string> {
  const found: Record<string, string> = { ...versions };
  if (original !== undefined) found['sab-message-port'] = versionBeside(original);
  return found;
}

function versionBeside(file: string): string {
  for (const up of ['.', '..']) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(file, '..', up, 'package.json'), 'utf8'));
      if (name === 'sab-message-port') return version;
    } catch {
      // It need not lie where the package has it.
    }
  }
  return 'original';
}

/** Serves the page, opens it, and waits for what it found. */
async function measureIn(
  assignment: Assignment,
  original: string | undefined,
  open: (url: string) => { readonly ended: Promise<string>; close(): Promise<void> },
  name: string,
): Promise<Found> {
  let heard: (report: PageReport) => void = () => {};
  const answerTo = async (path: string, asked: Asked): Promise<Answer | undefined> => {
    if (path === AT) return { headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: PAGE };
    if (path === `${AT}assignment`) {
      return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(assignment) };
    }
    if (path !== `${AT}report`) return rivalAnswer(path, original);
    heard(JSON.parse(await asked.text()) as PageReport);
    return { status: 204 };
  };
  const { host } = await loadHost();
  const server = await host(answerTo, { folders: /^\/(browser|bench)\// });
  let silence: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<Found>((resolve, reject) => {
    const listen = (): void => {
      clearTimeout(silence);
      silence = setTimeout(reject, SILENCE_MS, new Error(`nothing was heard of the page for ${SILENCE_MS / 1000} s`));
    };
    heard = ({ found, failed, share, title }) => {
      listen();
      if (failed !== undefined) reject(new Error(failed));
      else if (found !== undefined) resolve(found);
      else if (title !== undefined) console.error(`${name} ${Math.round(share * 100)} %  ${title}`);
    };
    listen();
  });
  const browser = open(`${server.origin}${AT}`);
  // Its process group is its own: it would stay.
  const stop = (): void => void browser.close().then(() => process.exit(130));
  for (const signal of STOPS) process.on(signal, stop);
  const ended = browser.ended.then((how): never => {
    throw new Error(`the browser ended: ${how}`);
  });
  try {
    return await Promise.race([over, ended]);
  } finally {
    for (const signal of STOPS) process.off(signal, stop);
    clearTimeout(silence);
    over.catch(() => {});
    ended.catch(() => {});
    await browser.close();
    server.close();
  }
}
