// The page of docs/guides/browser.md as Vite has built it for a folder of a host that sends no headers: a service worker lets its worker block.
import { check, equal } from './checks.ts';
import { linesOf } from './documents.ts';

const LINES = ['isolated: false', 'What is your name?', 'How old are you, Ada?', 'Ada will be 37.', 'closed'];

check('a worker blocks by the service worker that lies beside the page', async () => {
  equal(await linesOf('/bundle/plain/index.html?plain', LINES.length), LINES);
});
