// The browsers that the pages run in: where they are, and how one is started on an address with a profile of its own.
// No driver: a page tells the server what it found. So any browser can open one, also by hand, and nothing need be installed
// beside the browser itself.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';

/** Asks nothing at the first start, fetches nothing of its own, and lets no clock of a page in the background run slowly. */
const CHROMIUM_FLAGS = [
  '--headless',
  // A container's root cannot have Chromium's sandbox. It opens no page but ours.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-proxy-server',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-sync',
  '--disable-breakpad',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
  '--password-store=basic',
];

/** The same for Firefox. Port 9 of this machine answers nothing. */
const FIREFOX_PREFERENCES = {
  'app.normandy.enabled': false,
  'app.update.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.newtabpage.enabled': false,
  'browser.preonboarding.enabled': false,
  'browser.region.network.url': '',
  'browser.safebrowsing.downloads.remote.enabled': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.search.update': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'browser.startup.page': 0,
  'datareporting.healthreport.uploadEnabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'dom.push.enabled': false,
  'extensions.update.enabled': false,
  'media.gmp-manager.updateEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'network.proxy.type': 0,
  'network.trr.mode': 5,
  'services.settings.server': 'http://127.0.0.1:9/',
  'startup.homepage_welcome_url': 'about:blank',
  'toolkit.telemetry.server': 'http://127.0.0.1:9/',
};

export const ENGINES = [
  {
    name: 'chromium',
    variable: 'CHROMIUM',
    commands: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    packages: 'chromium',
    arguments: (profile, url) => [...CHROMIUM_FLAGS, `--user-data-dir=${profile}`, url],
  },
  {
    name: 'firefox',
    variable: 'FIREFOX',
    commands: ['firefox', 'firefox-esr'],
    packages: 'firefox-esr',
    arguments: (profile, url) => {
      const lines = Object.entries(FIREFOX_PREFERENCES).map(
        ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
      );
      writeFileSync(join(profile, 'user.js'), lines.join(''));
      return ['--headless', '--no-remote', '--new-instance', '--profile', profile, url];
    },
  },
];

/** The engine's program: what its variable names, or the first of its commands that is here. */
export function programOf({ variable, commands }) {
  const named = process.env[variable];
  if (named !== undefined) return existsSync(named) ? named : undefined;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return commands.flatMap((command) => folders.map((folder) => join(folder, command))).find((path) => existsSync(path));
}

/** What it says of itself; '' if it does not run. */
export function versionOf(program) {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 30_000 });
  return stdout?.trim() ?? '';
}

/** Opens `url`. `ended` resolves when the browser has gone by itself; `close` ends it and what it started, and nothing else. */
export function open(engine, program, url) {
  const profile = mkdtempSync(join(tmpdir(), `millrace-${engine.name}-`));
  const homes = ['HOME', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_RUNTIME_DIR'].map((name) => [name, profile]);
  const child = spawn(program, engine.arguments(profile, url), {
    env: { ...process.env, ...Object.fromEntries(homes), MOZ_CRASHREPORTER_DISABLE: '1' },
    stdio: 'ignore',
    detached: true,
  });
  const ended = new Promise((resolve) => {
    child.on('exit', (status, signal) => resolve(`exit ${status ?? signal}`));
    child.on('error', (error) => resolve(String(error)));
  });
  // Nothing of it is kept: it need not take its time to end.
  const close = async () => {
    try {
      // It leads a process group of its own.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Nobody of it is left.
    }
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  return { ended, close };
}
