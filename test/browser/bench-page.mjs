// The page of `npm run page` with checks in it, and what becomes of the results that it saves.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pageFile } from '../../bench/page/server.mjs';
import { report } from '../../dist/bench/report/report.js';

/** Notes what a page logs as an error, from its first script on. */
const NOTING = `<script>
self.logged = [];
addEventListener('error', ({ message, target }) => logged.push(message ?? 'not loaded: ' + (target.src ?? target.href)), true);
addEventListener('unhandledrejection', ({ reason }) => logged.push(String(reason)));
console.error = (...all) => logged.push(all.join(' '));
</script>`;
const CHARSET = '<meta charset="utf-8">';

/** @param script the tag of the checks' script */
export async function benchPage(script) {
  const { body } = await pageFile('/');
  return body.toString().replace(CHARSET, () => `${CHARSET}${NOTING}`) + script;
}

/** What `millrace report` makes of a results file, as an answer; 422 if it cannot read it. */
export async function reported(text) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-results-'));
  try {
    const [file, page] = ['results.json', 'report.html'].map((name) => join(folder, name));
    writeFileSync(file, text);
    let said = '';
    const code = await report([file, '--out', page], { write: (part) => (said += part) });
    return code === 0 ? { body: readFileSync(page) } : { status: 422, body: said };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
