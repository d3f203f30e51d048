// The browsers that the pages run in: where they are, and how one is started on an address with a profile of its own.
// No driver: a page tells the server what it found. So any browser can open one, also by hand, and nothing need be installed
// beside the browser itself.
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
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
  // Nobody clicks before sound is made, or a tab opened.
  '--autoplay-policy=no-user-gesture-required',
  '--disable-popup-blocking',
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
  'dom.disable_open_during_load': false,
  'datareporting.healthreport.uploadEnabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'dom.push.enabled': false,
  'extensions.update.enabled': false,
  'media.autoplay.blocking_policy': 0,
  'media.autoplay.default': 0,
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
    packages: 'firefox-esr pulseaudio',
    // Without a device that takes it, sound does not even begin in it, nor in WebKit.
    sound: true,
    arguments: (profile, url) => {
      const lines = Object.entries(FIREFOX_PREFERENCES).map(
        ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
      );
      writeFileSync(join(profile, 'user.js'), lines.join(''));
      return ['--headless', '--no-remote', '--new-instance', '--profile', profile, url];
    },
  },
  {
    // WebKitGTK's small shell around the engine. It knows no mode without a screen, and gets one that nobody sees.
    name: 'webkit',
    variable: 'MINIBROWSER',
    commands: ['MiniBrowser'],
    folders: miniBrowserFolders,
    packages: 'libwebkit2gtk-4.1-0 xvfb pulseaudio',
    screen: true,
    sound: true,
    environment: {
      GDK_BACKEND: 'x11',
      LIBGL_ALWAYS_SOFTWARE: '1',
      WEBKIT_DISABLE_COMPOSITING_MODE: '1',
      // A container's root cannot have the sandbox either.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
      NO_AT_BRIDGE: '1',
      // It makes "en-US" of C, and of C.UTF-8 the language "C", which Intl refuses.
      LC_ALL: 'C',
      NO_PROXY: '127.0.0.1',
      no_proxy: '127.0.0.1',
    },
    // Without it an isolated page has no SharedArrayBuffer; with it one that is not isolated has it, too.
    isolatedEnvironment: { JSC_useSharedArrayBuffer: '1' },
    arguments: (_profile, url) => [
      '--private',
      '--autoplay-policy=allow',
      '--javascript-can-open-windows-automatically=true',
      url,
    ],
  },
];

/** Distributions keep the shell beside the library's own programs, which are on nobody's path. */
function miniBrowserFolders() {
  const under = (folder) => {
    try {
      return readdirSync(folder).map((name) => join(folder, name));
    } catch {
      return [];
    }
  };
  return ['/usr/lib', '/usr/lib64', '/usr/libexec']
    .flatMap((folder) => [folder, ...under(folder)])
    .flatMap(under)
    .filter((folder) => /\/webkit2?gtk-[\d.]+$/.test(folder));
}

/** The engine's program: what its variable names, or the first of its commands that is here. */
export function programOf({ variable, commands, folders: others }) {
  const named = process.env[variable];
  if (named !== undefined) return existsSync(named) ? named : undefined;
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...(others?.() ?? [])];
  return commands.flatMap((command) => folders.map((folder) => join(folder, command))).find((path) => existsSync(path));
}

/** What it says of itself; '' if it does not run. */
export function versionOf(program, screen) {
  const environment = { ...process.env, ...screen?.environment };
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 30_000, env: environment });
  return stdout?.trim() ?? '';
}

/** Milliseconds between two tries, and how many there are: processes of a browser that was killed may still write. */
const REMOVE_AGAIN_MS = 100;
const REMOVE_TRIES = 50;
/** Removes the folder of a browser that has ended. */
export async function removeProfile(folder) {
  for (let tries = 1; ; tries++) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (tries === REMOVE_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, REMOVE_AGAIN_MS));
    }
  }
}

/** How much of a browser's last words is told. */
const LAST_WORDS_CHARACTERS = 300;
/** Seconds that a screen or a sound device may take to be there. */
const READY_SECONDS = 20;

/**
 * A program that is there until `close`, once `ready(child)` has resolved: to an environment for those who use it.
 * @param debian the package that has it
 */
async function running(program, args, { debian, ready, ...options }) {
  const child = spawn(program, args, options);
  const gone = new Promise((resolve) => child.on('exit', resolve));
  const environment = await new Promise((resolve, reject) => {
    const failed = (why) => {
      clearTimeout(late);
      child.kill('SIGKILL');
      reject(new Error(`${program}: ${why} (Debian: apt-get install ${debian})`));
    };
    const late = setTimeout(failed, READY_SECONDS * 1000, `not there after ${READY_SECONDS} s`);
    child.on('error', (error) => failed(error.message));
    child.on('exit', (status, signal) => failed(`exit ${status ?? signal}`));
    ready(child).then((environment) => {
      clearTimeout(late);
      resolve(environment);
    });
  });
  return {
    environment,
    close: async () => {
      // Not SIGKILL: it takes away what it has made, Xvfb the lock of its number.
      child.kill('SIGTERM');
      await gone;
    },
  };
}

/** A screen that nobody sees. */
const screen = () =>
  // It takes a number that is free, and says which. Without -noreset it begins anew when the last program has gone, and turns down who
  // comes meanwhile: the next browser ends with status 1.
  running('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp', '-noreset'], {
    debian: 'xvfb',
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    ready: async (child) => {
      let text = '';
      for await (const part of child.stdio[3].setEncoding('utf8')) {
        text += part;
        if (text.includes('\n')) break;
      }
      return { DISPLAY: `:${text.trim()}` };
    },
  });

/** A sound device that nobody hears, and that takes sound at the pace of a real one. */
async function sound() {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-sound-'));
  const socket = join(folder, 'socket');
  const modules = ['module-null-sink', `module-native-protocol-unix auth-anonymous=1 socket=${socket}`];
  const args = ['-n', '--daemonize=no', '--exit-idle-time=-1', '--use-pid-file=no', '--disable-shm=yes'];
  const server = await running('pulseaudio', [...args, ...modules.flatMap((it) => ['-L', it])], {
    debian: 'pulseaudio',
    stdio: 'ignore',
    env: { ...process.env, HOME: folder, XDG_RUNTIME_DIR: folder },
    ready: async () => {
      while (!existsSync(socket)) await new Promise((resolve) => setTimeout(resolve, 20));
      return { PULSE_SERVER: `unix:${socket}` };
    },
  });
  const close = async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...server, close };
}

/** A screen that nobody sees and a sound device that nobody hears, for an engine that needs them. They are there until `close`. */
export async function screenFor(engine) {
  const devices = [];
  if (engine.screen) devices.push(await screen());
  if (engine.sound) devices.push(await sound());
  return {
    environment: Object.assign({}, ...devices.map(({ environment }) => environment)),
    close: async () => {
      for (const device of devices) await device.close();
    },
  };
}

/** The last that a browser has said of what it did not like. */
const lastWords = (file) => readFileSync(file, 'utf8').trim().slice(-LAST_WORDS_CHARACTERS) || 'it said nothing';

/**
 * Opens `url`. `ended` resolves when the browser has gone by itself; `close` ends it and what it started, and nothing else.
 * @param isolated whether the page comes with the headers that isolate it
 */
export function open(engine, program, url, { screen, isolated = true } = {}) {
  const profile = mkdtempSync(join(tmpdir(), `millrace-${engine.name}-`));
  const homes = ['HOME', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_RUNTIME_DIR'].map((name) => [name, profile]);
  const said = join(profile, 'millrace-said.txt');
  const errors = openSync(said, 'a');
  const child = spawn(program, engine.arguments(profile, url), {
    env: {
      ...process.env,
      ...Object.fromEntries(homes),
      MOZ_CRASHREPORTER_DISABLE: '1',
      ...engine.environment,
      ...(isolated && engine.isolatedEnvironment),
      ...screen?.environment,
    },
    stdio: ['ignore', 'ignore', errors],
    detached: true,
  });
  closeSync(errors);
  const ended = new Promise((resolve) => {
    child.on('exit', (status, signal) => resolve(`exit ${status ?? signal}: ${lastWords(said)}`));
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
    await removeProfile(profile);
  };
  return { ended, close };
}
