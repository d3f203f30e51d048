// A picture of a page as PNG, by a Chromium that is already on this machine. None: the caller is told which would do.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome', 'msedge'];
const MAC = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
const TIMEOUT_MS = 60_000;

export function findChromium(): string | undefined {
  const asked = process.env['CHROMIUM'];
  if (asked) return asked;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const ends = process.platform === 'win32' ? ['.exe'] : [''];
  for (const name of NAMES) {
    for (const folder of folders) {
      for (const end of ends) {
        const path = join(folder, name + end);
        if (existsSync(path)) return path;
      }
    }
  }
  return existsSync(MAC) ? MAC : undefined;
}

/** Draws `svg`, `width` by `height` CSS pixels at twice the density, into `path`. Throws an `Error` saying what is missing. */
export function writePng(svg: string, width: number, height: number, path: string): void {
  const chromium = findChromium();
  if (!chromium) throw new Error('Cannot draw a PNG: no Chromium found; install one, or name it in CHROMIUM');
  const folder = mkdtempSync(join(tmpdir(), 'millrace-'));
  try {
    const html = join(folder, 'picture.html');
    writeFileSync(
      html,
      `<!doctype html><meta charset="utf-8"><style>html,body{margin:0}svg{display:block}</style>${svg}`,
    );
    const done = spawnSync(
      chromium,
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--hide-scrollbars',
        '--disable-background-networking',
        '--force-device-scale-factor=2',
        `--user-data-dir=${join(folder, 'profile')}`,
        `--window-size=${width},${height}`,
        `--screenshot=${resolve(path)}`,
        pathToFileURL(html).href,
      ],
      { timeout: TIMEOUT_MS, encoding: 'utf8' },
    );
    if (done.error) throw done.error;
    if (!existsSync(path)) throw new Error(`Cannot draw a PNG: ${chromium} ended with ${done.status}: ${done.stderr}`);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
