// Shared memory is ordered by pairs of Atomics calls. Each such call that orders something carries a comment
//
//     // SYNC record-visible: publishes the plain writes above; pairs with Consumer.drain.
//
// on its own line, up to six lines above it, or right below it (there it covers two writes in a row), and the same name
// stands on the other side, in the place that "pairs with" names. A call that meets itself on the other side "pairs
// with the same ...". Every Atomics write in ring, wait, lane, transport and topic needs a name; partners may be anywhere.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const ROOMS = ['ring', 'wait', 'link', 'lane', 'transport', 'topic'];
const ORDERING = /\bAtomics\.(?:store|exchange|compareExchange|add|sub|or|and|xor)\(/;
const LINES_ABOVE_MAX = 6;

export function checkSyncPoints(root) {
  const problems = [];
  const places = new Map();
  let calls = 0;
  const files = readdirSync(root, { recursive: true })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'));
  for (const file of files) {
    const lines = readFileSync(join(root, file), 'utf8').split('\n');
    lines.forEach((line, i) => {
      const where = `src/${file}:${i + 1}`;
      const name = /\/\/ SYNC ([\w-]+)(:?)/.exec(line);
      if (name !== null) {
        if (name[2] !== ':') problems.push(`${where}: write "// SYNC ${name[1]}: what it orders; pairs with <place>"`);
        places.set(name[1], [...(places.get(name[1]) ?? []), { where, file, comment: comment(lines, i) }]);
      }
      if (ROOMS.includes(file.split('/')[0]) && ORDERING.test(line.replace(/\/\/.*/, '').replace(/^\s*\*.*/, ''))) {
        calls++;
        const near = lines.slice(Math.max(0, i - LINES_ABOVE_MAX), i + 2);
        if (!near.some((it) => it.includes('// SYNC ')))
          problems.push(`${where}: an Atomics write without a "// SYNC name:" comment`);
      }
    });
  }
  for (const [name, sides] of places) {
    if (sides.length < 2 && !/pairs with the same\b/.test(sides[0].comment))
      problems.push(`${sides[0].where}: SYNC ${name} has no partner with the same name`);
    for (const { where, comment: text } of sides) {
      if (!/pairs with/.test(text)) problems.push(`${where}: SYNC ${name} does not say what it "pairs with"`);
    }
  }
  return { problems, calls, names: places.size };
}

/** The comment that starts at line `i`, joined over the lines that continue it. */
function comment(lines, i) {
  let text = lines[i];
  for (let next = i + 1; /^\s*\/\/(?! SYNC )/.test(lines[next] ?? ''); next++)
    text += ` ${lines[next].trim().slice(2).trim()}`;
  return text;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const src = process.argv[2] ?? join(dirname(dirname(fileURLToPath(import.meta.url))), 'src');
  const { problems, calls, names } = checkSyncPoints(src);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`sync points: ${calls} atomic writes, ${names} named pairs`);
}
