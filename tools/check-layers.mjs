// Every room may import itself and the rooms to its left in LAYERS, and nothing else. Also: `node:` imports and
// questions about the runtime stay in the rooms named here, shipped code imports no package, and classes of error live in
// errors.ts (a compat door may have its own, for its names).
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const LAYERS = [
  ['agent', 'errors', 'limits', 'outcome'],
  ['platform'],
  ['native'],
  ['memory'],
  ['frame'],
  ['ring', 'wait', 'codec'], // strangers to each other
  ['link'],
  ['lane'],
  ['transport'],
  ['port'],
  ['rpc'],
  ['browser', 'compat', 'index', 'process', 'net', 'topic', 'cli'],
  ['engine'],
  ['redis', 'nats', 'hub'],
  ['global'],
];
/**
 * Inside a room its folders are strangers, too: each may import itself, the room's own files, and those named here. So what
 * is over shared memory has heard of no thread, and what is over a byte stream of neither.
 */
const NEIGHBOURS = {
  'transport/ring': [],
  'transport/beside': ['transport/ring'],
  'transport/thread': ['transport/ring', 'transport/beside'],
  'transport/stream': [],
  'transport/native': ['transport/stream', 'transport/beside'],
  'transport/process': ['transport/ring', 'transport/stream'],
  'transport/network': ['transport/stream'],
};
/**
 * What few may know, though it lies to the left of more: handles and native ports are of threads. A lane asks its medium, which
 * has them or has none, to let go of what came with a value (lane/beside.ts), and so has no use for the platform either.
 */
const THREADS_ONLY = [
  'memory',
  'transport/beside',
  'transport/thread',
  'transport/native',
  'transport/transport',
  'port',
  'compat',
  'index',
  'topic/thread',
];
const KNOWN_TO = {
  'memory/handle': THREADS_ONLY,
  'memory/native-pair': THREADS_ONLY,
};
/** Rooms that must not import what the order would let them. */
const DOES_WITHOUT = { lane: ['platform'] };
/** Folders that may import `node:`, and use what only Node, Bun and Deno have. A test file may always. */
const NODE_FOLDERS = ['platform', 'native', 'transport/process', 'transport/network', 'redis', 'cli'];
/** `#name` imports lead to the room of that name. */
const ALIASES = { '#platform': 'platform', '#native': 'native' };
const SNIFFING =
  /\btypeof\s+(?:process|window|self|Deno|Bun|document|navigator|importScripts)\b|\bglobalThis\.(?:process|Deno|Bun|window|Buffer)\b/;
/** Globals that only some runtimes have. Types may name them. */
const NOT_EVERYWHERE =
  /(?<![.\w])(?:Buffer|process|Deno|Bun)\.\w+\s*[(.;,)]|(?<![.\w])(?:setImmediate|clearImmediate)\(/;

const rank = new Map(LAYERS.flatMap((rooms, i) => rooms.map((room) => [room, i])));
const slashed = (path) => path.split(sep).join('/');
const roomOf = (path) => path.split('/')[0].replace(/\.ts$/, '');
/** The file is one of these folders, or lies in one, however deep: its name; else undefined. */
const folderOf = (path, folders) => folders.find((folder) => path === `${folder}.ts` || path.startsWith(`${folder}/`));
/** The folder of a room that has folders and knows each of them: `transport/new` has to be listed before it may be. */
const neighbourOf = (path) => (/^(transport\/[^/]+)\//.exec(path) ?? [])[1];

/** Source without comments, so that a comment may name what the code must not. Strings stay. */
function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`\\])\/\/[^\n]*/g, (comment) => comment.replace(/[^\n]/g, ' '));
}

export function checkLayers(root) {
  const problems = [];
  const files = readdirSync(root, { recursive: true })
    .map(slashed)
    .filter((path) => path.endsWith('.ts'));
  for (const file of files) {
    const from = roomOf(file);
    const test = file.endsWith('.test.ts');
    const node = test || folderOf(file, NODE_FOLDERS) !== undefined;
    const folder = neighbourOf(file);
    const text = withoutComments(readFileSync(join(root, file), 'utf8'));
    const report = (message) => problems.push(`src/${file}: ${message}`);
    if (folder !== undefined && NEIGHBOURS[folder] === undefined)
      report(`folder "${folder}" is not in NEIGHBOURS (tools/check-layers.mjs)`);
    if (!rank.has(from)) report(`room "${from}" is not in LAYERS (tools/check-layers.mjs)`);
    for (const [, spec] of text.matchAll(/\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)) {
      if (spec.startsWith('.') || spec in ALIASES) {
        const target = ALIASES[spec] ?? slashed(relative(root, resolve(root, dirname(file), spec)));
        const to = roomOf(target);
        if (target.startsWith('..')) {
          if (!test) report(`imports ${spec}, outside of src/`);
        } else if (to !== from && !(rank.get(to) < rank.get(from)))
          report(`"${from}" must not import "${to}" (${spec})`);
        if (!test && DOES_WITHOUT[from]?.includes(to)) report(`"${from}" does without "${to}" (${spec})`);
        const known = KNOWN_TO[target.replace(/\.ts$/, '')];
        if (!test && known !== undefined && folderOf(file, known) === undefined)
          report(`must not know ${target}: only ${known.join(', ')} may`);
        const other = neighbourOf(target);
        if (!test && folder !== undefined && other !== undefined && other !== folder) {
          if (!NEIGHBOURS[folder]?.includes(other)) report(`"${folder}" must not import "${other}" (${spec})`);
        }
      } else if (spec.startsWith('node:')) {
        if (!node) report(`${spec} outside of ${NODE_FOLDERS.join(', ')}`);
      } else if (!test) report(`imports the package ${spec}; src/ has no dependencies`);
    }
    const error = /\bclass \w+ extends \w*Error\b/.exec(text);
    if (!test && error && !['errors', 'compat'].includes(from))
      report(`${error[0]}: classes of error live in errors.ts`);
    const sniffed = SNIFFING.exec(text);
    if (!test && from !== 'platform' && sniffed) report(`asks where it runs (${sniffed[0]}); only platform/ may`);
    const partial = NOT_EVERYWHERE.exec(text);
    if (!node && partial) report(`uses ${partial[0]}, which browsers lack; ask the platform`);
  }
  return { problems, count: files.length };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { problems, count } = checkLayers(
    resolve(process.argv[2] ?? fileURLToPath(new URL('../src', import.meta.url))),
  );
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`layers: ${count} files keep the order`);
}
