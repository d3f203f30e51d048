// The page of docs/guides/browser.md in a frame of its own, as each bundler has built it (../bundles.mjs), unbundled, and by script tags.
import { check, equal } from './checks.ts';
import { linesOf } from './documents.ts';

const BLOCKING = ['isolated: true', 'What is your name?', 'How old are you, Ada?', 'Ada will be 37.', 'closed'];
const CALLS = ['1 + 2 = 3', 'ERR_CLOSED, terminated'];

for (const [name, lines] of Object.entries({
  vite: [...BLOCKING, ...CALLS],
  webpack: [...BLOCKING, ...CALLS],
  rollup: [...BLOCKING, ...CALLS],
  esbuild: [...BLOCKING, ...CALLS],
  unbundled: [...BLOCKING, ...CALLS],
  'script-tag': ['4 letters', '1 + 2 = 3'],
  'script-tag-sab': ['4 letters'],
})) {
  // The two scripts of the page say their lines at the same time.
  check(name, async () => {
    equal((await linesOf(`/bundle/${name}/index.html`, lines.length)).sort(), [...lines].sort());
  });
}
