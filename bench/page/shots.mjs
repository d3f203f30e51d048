// Pictures of the page, after a short run of all that it has: light and dark, wide and narrow, and as it is without isolation.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDevtools } from './devtools.mjs';
import { serve } from './server.mjs';

const WIDE = 1280;
const NARROW = 390;
const SCHEMES = ['light', 'dark'];
const PAGES = [
  { name: 'page', address: '/', widths: [WIDE, NARROW] },
  { name: 'plain', address: '/?plain', widths: [NARROW] },
];

/** Lets a new width and palette reach the screen. */
const SETTLED =
  'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))';
const RUN_ALL = "import('/bench/page/drive.js').then(({ all }) => all()).then(() => 'done')";

const COLOURS = "import('/bench/page/drive.js').then(({ coloursOfCharts }) => coloursOfCharts())";
/** What the page does on purpose. */
const MEANT = /a-file-that-is-not-there/;

async function evaluate(send, expression) {
  const { result, exceptionDetails } = await send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}

/**
 * Takes the pictures.
 * @param folder where `<page>-<width>-<scheme>.png` are written
 * @returns their paths
 */
export async function takeShots(folder) {
  mkdirSync(folder, { recursive: true });
  const server = await serve();
  const { send, problems, close } = await openDevtools();
  const written = [];
  try {
    for (const { name, address, widths } of PAGES) {
      await send('Page.navigate', { url: `${server.origin}${address}` });
      await evaluate(
        send,
        "new Promise((done) => { if (document.readyState === 'complete') done(); else addEventListener('load', done); })",
      );
      await evaluate(send, RUN_ALL).catch((error) => {
        throw new Error([error.message, ...problems].join('\n'));
      });
      for (const width of widths) {
        for (const scheme of SCHEMES) {
          await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
          const metrics = { width, deviceScaleFactor: width === NARROW ? 2 : 1, mobile: width === NARROW };
          await send('Emulation.setDeviceMetricsOverride', { ...metrics, height: 800 });
          await evaluate(send, SETTLED);
          // The whole page is the window, so that nothing of it waits for being scrolled to.
          const height = await evaluate(send, 'document.documentElement.scrollHeight');
          await send('Emulation.setDeviceMetricsOverride', { ...metrics, height });
          await evaluate(send, SETTLED);
          const colours = await evaluate(send, COLOURS);
          if (colours.length < 2 || colours.some((count) => count < 3))
            throw new Error(`${name} at ${width}, ${scheme}: a chart is empty (${colours} colours)`);
          const overflow = await evaluate(send, 'document.documentElement.scrollWidth - innerWidth');
          if (overflow > 0) throw new Error(`${name} at ${width} is ${overflow} pixels too wide`);
          const { data } = await send('Page.captureScreenshot', { format: 'png' });
          const path = join(folder, `${name}-${width}-${scheme}.png`);
          writeFileSync(path, Buffer.from(data, 'base64'));
          written.push(path);
        }
      }
    }
    const others = problems.filter((problem) => !MEANT.test(problem));
    if (others.length > 0) throw new Error(`The page has logged errors:\n${others.join('\n')}`);
  } finally {
    await close();
    server.close();
  }
  return written;
}
