// The page of docs/guides/browser.md in a frame of its own, as each bundler has built it (../bundles.mjs), unbundled, and by script tags.
import { afterwards, check, equal, rest } from './checks.ts';

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
  check(name, async () => {
    const frame = document.createElement('iframe');
    afterwards(() => frame.remove());
    frame.src = `/bundle/${name}/index.html`;
    document.body.append(frame);
    const view = frame.contentWindow as Window;
    const said = (): string[] => view.document.querySelector('pre')?.textContent?.match(/.+/g) ?? [];
    const end = performance.now() + 15_000;
    while (said().length < lines.length && performance.now() < end) await rest(20);
    // The two scripts of the page say their lines at the same time.
    equal(said().sort(), [...lines].sort());
  });
}
