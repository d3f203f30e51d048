// What the documents say about the code is what the code says.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as errors from '../src/errors.ts';
import * as header from '../src/frame/header.ts';
import { MEMORY_TICKET_BYTES } from '../src/limits.ts';
import * as linkLayout from '../src/link/layout.ts';
import * as layout from '../src/memory/layout.ts';
import * as topicLayout from '../src/topic/layout.ts';
import * as memoryLink from '../src/transport/process/memory-link.ts';
import * as meeting from '../src/transport/process/memory-meeting.ts';
import * as frames from '../src/transport/stream/frames.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

function markdownFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^(node_modules|dist|\..*)$/.test(entry.name) ? [] : markdownFiles(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}
const documents = markdownFiles('');
const withoutFences = (text: string): string => text.replace(/^(```|~~~)[^\n]*\n[\s\S]*?^\1[^\n]*$/gm, '');

// ---- errors -------------------------------------------------------------------------------------------------------

test('docs/errors.md lists every code with its meaning, and no other', () => {
  const rows = [...read('docs/errors.md').matchAll(/^\| `(ERR_\w+)` \| `(\w+)` \| (.+) \|$/gm)];
  assert.deepEqual(Object.fromEntries(rows.map(([, code, , meaning]) => [code, meaning])), { ...errors.ERROR_CODES });
});

test('docs/errors.md lists every class', () => {
  const exported = Object.entries(errors).filter(
    ([, it]) => typeof it === 'function' && Object.getPrototypeOf(it.prototype) instanceof errors.MillraceError,
  );
  const rows = [...read('docs/errors.md').matchAll(/^\| `([A-Z]\w+Error)` \| /gm)].map(([, name]) => name);
  assert.deepEqual(rows.sort(), exported.map(([name]) => name).sort());
});

test('docs/errors.md gives each code the class that src/errors.ts lists it under', () => {
  const source = read('src/errors.ts');
  const list = source.slice(source.indexOf('ERROR_CODES'), source.indexOf('as const'));
  let heading = '';
  for (const [, comment, code] of list.matchAll(/^ {2}(?:\/\/ (\w+)|(ERR_\w+):)/gm)) {
    if (comment !== undefined) heading = comment;
    else {
      const named = new RegExp(`^\\| \`${code}\` \\| \`(\\w+)\``, 'm').exec(read('docs/errors.md'))?.[1];
      const type = (errors as unknown as Record<string, { prototype: object }>)[named ?? ''];
      const base = (errors as unknown as Record<string, new () => object>)[heading];
      assert.ok(named === heading || type?.prototype instanceof (base as never), `${code}: ${named} is no ${heading}`);
    }
  }
});

if (process.versions['bun'] === undefined && process.versions['deno'] === undefined) {
  test("no code is one of Node's own", () => {
    const list = 'console.log(JSON.stringify(Object.keys(require("internal/errors").codes)))';
    const nodes = execFileSync(process.execPath, ['--expose-internals', '-e', list], { encoding: 'utf8' });
    const taken = new Set<string>(JSON.parse(nodes));
    assert.ok(taken.has('ERR_INVALID_ARG_TYPE'));
    assert.deepEqual(
      Object.keys(errors.ERROR_CODES).filter((code) => taken.has(code)),
      [],
    );
  });
}

// ---- layout -------------------------------------------------------------------------------------------------------

interface Row {
  readonly word: number;
  readonly byte: number;
  readonly name: string;
  readonly line: number;
}

/** The rows of every `word byte name written-by line meaning` table in a text, in comments or in Markdown. */
function layoutRows(text: string): Row[] {
  const row = /^[\s/*|]*(\d+)[\s|]+(\d+)[\s|]+`?([A-Z][A-Z_0-9]+)`?[\s|]+(.+?)[\s|]+(\d+)[\s|]+\S/gm;
  return [...text.matchAll(row)].map(([, word, byte, name, , line]) => ({
    word: Number(word),
    byte: Number(byte),
    name: name as string,
    line: Number(line),
  }));
}
for (const [file, constants] of [
  ['src/memory/layout.ts', layout],
  ['src/link/layout.ts', linkLayout],
  ['src/topic/layout.ts', topicLayout],
] as const) {
  test(`the tables in ${file} give the constants below them, each word its byte and line`, () => {
    const rows = layoutRows(read(file));
    for (const { word, byte, name, line } of rows) {
      assert.deepEqual({ name, byte, line }, { name, byte: word * 4, line: Math.floor(byte / 64) });
    }
    const words = Object.entries(constants).filter(
      ([name, value]) => typeof value === 'number' && !/^(LAYOUT_|.*_(BYTES|WORDS)$)/.test(name),
    );
    assert.deepEqual(Object.fromEntries(rows.map(({ name, word }) => [name, word])), Object.fromEntries(words));
  });
}

if (documents.includes('docs/protocol/memory-layout.md')) {
  test('the tables in docs/protocol/memory-layout.md are those of src/memory/layout.ts', () => {
    assert.deepEqual(layoutRows(read('docs/protocol/memory-layout.md')), layoutRows(read('src/memory/layout.ts')));
  });

  test('docs/protocol/memory-layout.md gives the magic number and the version', () => {
    const text = read('docs/protocol/memory-layout.md');
    assert.match(text, new RegExp(`0x${layout.LAYOUT_MAGIC.toString(16)}`, 'i'));
    assert.match(text, new RegExp(`version[^.\\n]{0,20}\\b${layout.LAYOUT_VERSION}\\b`, 'i'));
  });
}

test('docs/protocol/memory-of-processes.md lists what is said on the line of descriptors, the bits and the steps', () => {
  const text = read('docs/protocol/memory-of-processes.md');
  const kinds = [...text.matchAll(/^\| ([A-Z_]+) \| (\d) \|/gm)].map(([, name, kind]) => [name, Number(kind)]);
  const { PAGE, BELL, MEMORY, MEET, PLACE, CAME, SHARED, FAILED } = meeting;
  const { REGION, NO_REGION, LEFT, LENT, DONE, TOPIC, TETHER } = memoryLink;
  assert.deepEqual(Object.fromEntries(kinds), { PAGE, BELL, REGION, NO_REGION, LEFT, LENT, DONE, TOPIC, TETHER });
  for (const said of [
    `\`0x${MEMORY.toString(16)}\``,
    `type ${MEET} (MEET)`,
    `PLACE, kind ${PLACE}`,
    `${MEMORY_TICKET_BYTES} and a name`,
  ])
    assert.ok(text.includes(said), said);
  for (const [step, word] of [
    [CAME, 'came'],
    [SHARED, 'shared'],
    [FAILED, 'failed'],
  ])
    assert.ok(text.includes(`MEET ${step} (${word})`), `MEET ${step}`);
});

test('docs/protocol/topic.md has the tables of src/topic/layout.ts, the magic number and the version', () => {
  const text = read('docs/protocol/topic.md');
  assert.deepEqual(layoutRows(text), layoutRows(read('src/topic/layout.ts')));
  assert.match(text, new RegExp(`0x${topicLayout.LAYOUT_MAGIC.toString(16)}`));
  assert.match(text, new RegExp(`version ${topicLayout.LAYOUT_VERSION}\\b`));
});

test('docs/protocol/stream.md lists every frame with its body, every code of RESET, and the numbers of the greeting', () => {
  const text = read('docs/protocol/stream.md');
  const rows = [...text.matchAll(/^\| (\d+) \| ([A-Z]+) \| [^|]+ \| (?:(\d+)( and)?|whole records)/gm)];
  const types = Object.fromEntries(rows.map(([, type, name]) => [name, Number(type)]));
  const bodies = Object.fromEntries(
    rows.filter(([, , , words]) => words).map(([, type, , words]) => [type, 4 * Number(words)]),
  );
  const { HELLO, OPEN, ACCEPT, DATA, ACK, ASK, INTERRUPT, CLOSE, RESET, PING, PONG, GOODBYE, LEAVING } = frames;
  assert.deepEqual(types, {
    HELLO,
    OPEN,
    ACCEPT,
    DATA,
    ACK,
    ASK,
    INTERRUPT,
    CLOSE,
    RESET,
    PING,
    PONG,
    GOODBYE,
    LEAVING,
  });
  assert.deepEqual(bodies, frames.BODY_BYTES);
  const longer = rows.filter(([, , , , and]) => and).map(([, type]) => type);
  assert.deepEqual(longer, Object.keys(frames.BEHIND_BYTES_MAX));
  const codes = [...text.slice(text.indexOf('| CODE')).matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  const known = Object.entries(frames).flatMap(([name, code]) => (name.startsWith('CODE_') ? [code as number] : []));
  assert.deepEqual(
    [...codes, frames.CODE_OWN],
    known.sort((a, b) => a - b),
  );
  for (const bytes of Object.values(frames.BEHIND_BYTES_MAX)) assert.ok(text.includes(`${bytes} bytes`));
  assert.ok(text.includes(`From ${frames.CODE_OWN} on`));
  assert.ok(
    text.includes(`0x${frames.STREAM_MAGIC.toString(16)}`) && text.includes(`VERSION ${frames.STREAM_VERSION} `),
  );
});

if (documents.includes('docs/protocol/memory-layout.md')) {
  test('docs/protocol/memory-layout.md lists every kind of record, and no other', () => {
    const rows = [...read('docs/protocol/memory-layout.md').matchAll(/^\| (\d+) \| [^|]+ \|$/gm)].map(([, kind]) =>
      Number(kind),
    );
    const kinds = Object.entries(header).filter(([name]) => /^KIND_(?!MASK)/.test(name));
    assert.deepEqual(
      rows,
      kinds.map(([, kind]) => kind as number).sort((a, b) => a - b),
    );
  });

  test('docs/protocol/memory-layout.md gives the reasons that stand in CLOSED', () => {
    const [ending = ''] = /CLOSED is 1 [\s\S]+?\./.exec(read('docs/protocol/memory-layout.md')) ?? [];
    const numbers = [...ending.matchAll(/\b([1-9])\b/g)].map(([, code]) => Number(code));
    assert.deepEqual(numbers.sort(), Object.values(layout.CLOSE_CODES).sort());
  });
}

// ---- invariants ---------------------------------------------------------------------------------------------------

const sources = (readdirSync(join(root, 'src'), { recursive: true }) as string[])
  .filter((path) => path.endsWith('.ts'))
  .map((path) => `src/${path.replaceAll('\\', '/')}`);

/** Where each label is stated: `// X1. ` in a source, `- **X1** ` in a protocol page. */
function stated(): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  const note = (path: string, form: RegExp): void => {
    for (const [, label = ''] of read(path).matchAll(form)) places.set(label, [...(places.get(label) ?? []), path]);
  };
  for (const path of sources) note(path, /^\/\/ ([A-Z][1-9])\. /gm);
  for (const path of documents) if (path.startsWith('docs/protocol/')) note(path, /^- \*\*([A-Z][1-9])\*\* /gm);
  return places;
}

test('each invariant has a label of its own, ARCHITECTURE.md lists it, and what sources cite is stated (guarantees have a page of their own)', () => {
  const places = stated();
  for (const [label, paths] of places) assert.equal(paths.length, 1, `${label} is stated in ${paths.join(' and ')}`);
  const [, list = ''] = read('ARCHITECTURE.md').split(/^## Invariants$/m);
  const ranges = [...(list.split(/^## /m)[0] as string).matchAll(/([A-Z])([1-9])-\1([1-9])/g)];
  const listed = ranges.flatMap(([, letter, from, to]) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => `${letter}${Number(from) + i}`),
  );
  assert.deepEqual([...places.keys()].sort(), listed.sort());
  for (const path of sources) {
    for (const [, cited = ''] of read(path).matchAll(/\(([A-FH-Z][1-9](?:, [A-FH-Z][1-9])*)(?: in [\w.-]+)?\)/g)) {
      for (const label of cited.split(', ')) assert.ok(places.has(label), `${path} cites ${label}`);
    }
  }
});

// ---- guarantees ---------------------------------------------------------------------------------------------------

if (documents.includes('docs/guarantees.md')) {
  const rows = [...read('docs/guarantees.md').matchAll(/^\| (G\d+) \|.*\|([^|]*)\|$/gm)];

  test('docs/guarantees.md has a row for each of G1 to G11', () => {
    assert.deepEqual(
      rows.map(([, name]) => name),
      Array.from({ length: 11 }, (_, i) => `G${i + 1}`),
    );
  });

  test('each guarantee names tests that hold it, and they exist', () => {
    const held = rows.map(([, name, cell = '']) => ({
      name,
      files: [...cell.matchAll(/`([^`]+)`/g)].map(([, path]) => path as string),
    }));
    for (const { name, files } of held)
      for (const path of files) assert.ok(existsSync(join(root, path)), `${name}: ${path} is not there`);
    // Until the first one is filled in, the column waits for its tests.
    const without = held.filter(({ files }) => files.length === 0).map(({ name }) => name);
    assert.ok(without.length === 0 || without.length === held.length, `nothing holds ${without.join(', ')}`);
  });
}

// ---- links --------------------------------------------------------------------------------------------------------

/** GitHub's id for a heading. */
function slug(heading: string): string {
  const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

for (const document of documents) {
  const text = withoutFences(read(document));
  const links = [...text.matchAll(/\[[^\]]*\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].map(([, target]) => target as string);
  const internal = links.filter((target) => !/^[a-z][a-z+.-]*:/i.test(target));
  if (internal.length === 0) continue;
  test(`the links in ${document} lead somewhere`, () => {
    for (const target of internal) {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? document : join(dirname(document), decodeURIComponent(path));
      assert.ok(existsSync(join(root, file)), `${document} links to ${target}, which is not there`);
      if (anchor === undefined || !file.endsWith('.md')) continue;
      const headings = [...withoutFences(read(file)).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
        slug(heading as string),
      );
      assert.ok(headings.includes(anchor), `${document} links to ${target}; ${file} has no such heading`);
    }
  });
}

for (const document of ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/guarantees.md'].filter((it) =>
  documents.includes(it),
)) {
  test(`the paths that ${document} names exist`, () => {
    const named = [
      ...withoutFences(read(document)).matchAll(/`((?:src|test|tools|docs|bench|examples|\.ci)\/[\w./-]*)`/g),
    ];
    const missing = named.map(([, path]) => path as string).filter((path) => !existsSync(join(root, path)));
    assert.deepEqual(missing, []);
  });

  test(`the npm scripts that ${document} names exist`, () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = [...read(document).matchAll(/\bnpm run ([a-z][\w:-]*)/g)].map(([, script]) => script as string);
    assert.deepEqual(
      named.filter((script) => !(script in scripts)),
      [],
    );
  });
}
