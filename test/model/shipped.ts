// Loads the compiled source for a model, as it is shipped or with one bug put in.
//
// Some things are different from dist/src: private fields get a plain name (`#tail` becomes `$tail`), so that a
// checkpoint can see them; `#platform` (there it is platform/current.js) leads to platform.ts beside this file, because
// a model has no threads and no native ports; nothing is hooked to the end of the thread, and nothing is weak: the
// collector comes when it likes, and would end channels of states that the explorer has left; and each `catch` lets pass
// what suspends an actor.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

type Producer = typeof import('../../src/ring/producer.ts');
type Consumer = typeof import('../../src/ring/consumer.ts');
type LatestProducer = typeof import('../../src/ring/latest-producer.ts');
type LatestConsumer = typeof import('../../src/ring/latest-consumer.ts');
type Signal = typeof import('../../src/wait/signal.ts');
type Block = typeof import('../../src/wait/block.ts');
type Async = typeof import('../../src/wait/async.ts');
type Spin = typeof import('../../src/wait/spin.ts');
type Park = typeof import('../../src/wait/park-place.ts');
type ReadySet = typeof import('../../src/link/ready-set.ts');
type LinkBell = typeof import('../../src/link/link-bell.ts');
type LinkEnd = typeof import('../../src/link/link-end.ts');
type Selector = typeof import('../../src/link/selector.ts');
type QuietPlace = typeof import('../../src/link/quiet-place.ts');
type TopicProducer = typeof import('../../src/topic/producer.ts');
type TopicConsumer = typeof import('../../src/topic/consumer.ts');
type TopicSeats = typeof import('../../src/topic/seats.ts');
type TopicBell = typeof import('../../src/topic/bell.ts');
type TopicSleep = typeof import('../../src/topic/sleep.ts');
type TopicEnd = typeof import('../../src/topic/end.ts');
type TopicWaker = typeof import('../../src/topic/waker.ts');
type Knocks = typeof import('../../src/wait/knocks.ts');
type TopicProcess = typeof import('../../src/topic/process.ts');
type Futex = typeof import('../../src/transport/process/futex.ts');
type Bells = typeof import('../../src/transport/process/bells.ts');
type Annex = typeof import('../../src/lane/annex.ts');
type Inbound = typeof import('../../src/lane/inbound.ts');
type Outcome = typeof import('../../src/outcome.ts');
type ThreadRing = typeof import('../../src/transport/thread/thread-ring.ts');
type ThreadLinks = typeof import('../../src/transport/thread/thread-link.ts');
type AgentLinks = typeof import('../../src/transport/thread/agent-links.ts');
type OwnAgent = typeof import('../../src/link/own-agent.ts');
type ThreadTie = typeof import('../../src/transport/thread/thread-tie.ts');
type Port = typeof import('../../src/port/port.ts');
type Claims = typeof import('../../src/rpc/pool/claims.ts');
type Places = typeof import('../../src/rpc/places.ts');

/** What models use of the source. */
export type Shipped = Producer &
  Consumer &
  LatestProducer &
  LatestConsumer &
  Signal &
  Park &
  Futex &
  Bells &
  Block &
  Async &
  Spin &
  ReadySet &
  LinkBell &
  LinkEnd &
  Selector &
  QuietPlace &
  TopicProducer &
  TopicConsumer &
  TopicSeats &
  TopicBell &
  TopicSleep &
  TopicEnd &
  TopicWaker &
  Knocks &
  TopicProcess &
  Annex &
  Inbound &
  Outcome &
  ThreadRing &
  ThreadLinks &
  AgentLinks &
  OwnAgent &
  ThreadTie &
  Port &
  Claims &
  Places;

const MODULES = [
  'ring/producer.js',
  'ring/consumer.js',
  'ring/latest-producer.js',
  'ring/latest-consumer.js',
  'wait/signal.js',
  'wait/block.js',
  'wait/async.js',
  'wait/spin.js',
  'wait/park-place.js',
  'lane/annex.js',
  'lane/inbound.js',
  'link/ready-set.js',
  'link/link-bell.js',
  'link/link-end.js',
  'link/selector.js',
  'link/quiet-place.js',
  'outcome.js',
  'transport/process/futex.js',
  'transport/process/bells.js',
  'transport/thread/thread-ring.js',
  'transport/thread/thread-link.js',
  'transport/thread/agent-links.js',
  'transport/thread/thread-tie.js',
  'link/own-agent.js',
  'port/port.js',
  'topic/producer.js',
  'topic/consumer.js',
  'topic/seats.js',
  'topic/bell.js',
  'topic/sleep.js',
  'topic/end.js',
  'topic/waker.js',
  'wait/knocks.js',
  'topic/process.js',
  'rpc/pool/claims.js',
  'rpc/places.js',
];

/** The list of a thread's open channels outlives a run; a model ends its channels itself. */
const REPLACED: Readonly<Record<string, string>> = {
  'transport/thread-end.js': 'export function endWithThread() {}\nexport function forgetThreadEnd() {}\n',
};

/** In the place of the globals, in every file that uses them. A function keeps the target, so that no checkpoint sees it. */
const STRONG = `class WeakRef { constructor(target) { this.deref = () => target; } }
class FinalizationRegistry { register() {} }
`;

/** One replacement in one file of dist/src, before the renaming. `find` must occur once; `$1` is its first group. */
export interface Edit {
  readonly file: string;
  readonly find: string | RegExp;
  readonly replace: string;
}

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, '../../src');

/**
 * Files that no edit concerns, directly or by what they import, are the same for all mutants: to load all 150 anew takes a quarter of a second.
 * They stay until this process ends.
 */
const common = mkdtempSync(join(here, '.shipped-'));
process.on('exit', () => rmSync(common, { recursive: true, force: true }));

/** @throws Error if an edit matches nothing or more than once: the source has changed, so must the edit */
export async function loadShipped(edits: readonly Edit[] = []): Promise<Shipped> {
  const texts = new Map<string, string>();
  const imports = new Map<string, readonly string[]>();
  const files = new Set(MODULES);
  // What they import comes behind them.
  for (const file of files) {
    const own = edits.filter((edit) => edit.file === file);
    const text = own.length === 0 ? unchanged(file) : prepared(file, own.reduce(replaceOnce, shippedText(file)));
    texts.set(file, text);
    imports.set(file, importsOf(file, text));
    for (const imported of imports.get(file)!) files.add(imported);
  }
  for (const { file } of edits) if (!files.has(file)) throw new Error(`no file ${file} among those of the models`);
  const concerned = new Set(edits.map(({ file }) => file));
  // Whoever imports one of them comes behind it, and is looked at then.
  for (const one of concerned) for (const [file, its] of imports) if (its.includes(one)) concerned.add(file);

  const root = edits.length === 0 ? common : mkdtempSync(join(here, '.shipped-'));
  const home = (file: string): string => join(concerned.has(file) ? root : common, file);
  try {
    for (const [file, text] of texts) {
      const at = home(file);
      if (existsSync(at)) continue;
      mkdirSync(dirname(at), { recursive: true });
      writeFileSync(at, concerned.has(file) ? leadTo(home, file, text) : text);
    }
    const modules = await Promise.all(MODULES.map((file) => import(pathToFileURL(home(file)).href)));
    return Object.assign({}, ...modules) as Shipped;
  } finally {
    if (root !== common) rmSync(root, { recursive: true, force: true });
  }
}

/** The text of a file with what it imports where that is at home. */
function leadTo(home: (file: string) => string, file: string, text: string): string {
  return text.replace(IMPORT, (all, quote: string, specifier: string) => {
    const path = posix.join(posix.dirname(file), specifier);
    return path.startsWith('../') ? all : all.replace(quote + specifier + quote, `'${pathToFileURL(home(path)).href}'`);
  });
}

function shippedText(file: string): string {
  return REPLACED[file] ?? readFileSync(join(source, file), 'utf8');
}

/** The text of a file as models run it. */
function prepared(file: string, shipped: string): string {
  const strong = /\bnew (?:WeakRef|FinalizationRegistry)\b/.test(shipped) ? STRONG + shipped : shipped;
  const up = '../'.repeat(file.split('/').length);
  return strong
    .replace(/(["'])(?:\.{1,2}\/)+(?:platform\/)?current\.js\1/g, `'${up}platform.js'`)
    .replace(/(?<![\w'"`$])#([A-Za-z_]\w*)/g, '$$$1')
    .replace(/catch \((\w+)\) \{/g, 'catch ($1) { if ($1?.suspension) throw $1;')
    .replace(/catch \{/g, 'catch (passing) { if (passing?.suspension) throw passing;');
}

const unchangedTexts: Map<string, string> = new Map();
function unchanged(file: string): string {
  let text = unchangedTexts.get(file);
  if (text === undefined) unchangedTexts.set(file, (text = prepared(file, shippedText(file))));
  return text;
}

const IMPORT = /^(?:import|export)\b[^'"]*(["'])(\.\.?\/[^'"]+)\1;$/gm;

/** Files of the source that one of them imports. */
function importsOf(file: string, text: string): string[] {
  const paths = [...text.matchAll(IMPORT)].map(([, , specifier = '']) => posix.join(posix.dirname(file), specifier));
  return paths.filter((path) => !path.startsWith('../'));
}

function replaceOnce(text: string, { file, find, replace }: Edit): string {
  const pattern = typeof find === 'string' ? find : new RegExp(find.source, `${find.flags.replace('g', '')}g`);
  const count = typeof find === 'string' ? text.split(find).length - 1 : [...text.matchAll(pattern as RegExp)].length;
  if (count !== 1) throw new Error(`${file} contains ${String(find)} ${count} times, not once`);
  return text.replace(find, replace);
}
