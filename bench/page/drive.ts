// Uses the page as its reader would: presses what there is to press, and waits for what it then shows. For pictures and checks.
import { byId } from './dom.ts';

/** Milliseconds that any one step may take: a watchdog. */
const STEP_MS = 30_000;
const MEASURE_MS = 120_000;

/** Waits until `holds`, looking whenever something of the page has changed. */
export function until(what: string, holds: () => boolean, limitMs: number = STEP_MS): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      observer.disconnect();
      clearTimeout(timer);
    };
    const look = (): void => {
      if (!holds()) return;
      done();
      resolve();
    };
    const observer = new MutationObserver(look);
    const timer = setTimeout(() => {
      done();
      reject(new Error(`hang: waited ${limitMs / 1000} s for ${what}`));
    }, limitMs);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    look();
  });
}

const press = (id: string): void => byId(id).click();
const says = (id: string): string => byId(id).textContent ?? '';

/** The table of what this browser has. */
export const lookedAt = (): Promise<void> => until('the table', () => byId('facts').dataset['done'] === 'true');

/** Runs a program without end, asks natively for its end, then interrupts it. */
export async function interrupted(): Promise<void> {
  press('run');
  await until('the program to run', () => /running: .*steps/.test(says('state')));
  press('native-stop');
  press('interrupt');
  await until('the interrupt', () => says('state').startsWith('interrupted'));
}

/** Ends all workers. */
export async function ended(): Promise<void> {
  press('end-all');
  await until('all to have ended', () => byId('end-all').dataset['done'] === 'true');
}

/** Begins to measure, as short as can be; of these contenders, or of those that are chosen already. */
export async function measure(names?: readonly string[]): Promise<void> {
  await until('the contenders', () => byId('measuring').dataset['ready'] === 'true');
  byId<HTMLSelectElement>('pace').value = '2';
  for (const box of names ? document.querySelectorAll<HTMLInputElement>('#chosen input') : [])
    box.checked = names!.includes(box.value);
  press('measure');
}

/** Stops what is being measured, and answers what the page says then. */
export async function stopped(): Promise<string> {
  press('stop');
  await until('the end of the turn', () => !byId<HTMLButtonElement>('measure').disabled);
  return says('measure-state');
}

/** Waits for the figures of a part, `trips` or `stream`, and answers how many contenders have some. */
export async function figuresOf(part: string): Promise<number> {
  const rows = (): number => byId(`${part}-table`).querySelectorAll('[data-subject]').length;
  await until(`the figures of ${part}`, () => rows() > 0, MEASURE_MS);
  return rows();
}

/** Whether each chart is drawn: the colours on its canvas. */
export function coloursOfCharts(): number[] {
  return [...document.querySelectorAll<HTMLCanvasElement>('.chart canvas')].map((canvas) => {
    if (canvas.width === 0 || canvas.height === 0) return 0;
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
}

/** Presses Save, and answers the file in place of keeping it. */
export async function saved(): Promise<{ readonly name: string; readonly text: string }> {
  await until('the results', () => !byId<HTMLButtonElement>('save').disabled);
  const { createObjectURL } = URL;
  const { click } = HTMLAnchorElement.prototype;
  let blob: Blob | undefined;
  let name = '';
  URL.createObjectURL = (given: Blob) => {
    blob = given;
    return createObjectURL(given);
  };
  HTMLAnchorElement.prototype.click = function () {
    name = this.download;
  };
  try {
    press('save');
  } finally {
    URL.createObjectURL = createObjectURL;
    HTMLAnchorElement.prototype.click = click;
  }
  return { name, text: (await blob?.text()) ?? '' };
}

/** All of it, one after the other. */
export async function all(): Promise<void> {
  await lookedAt();
  await interrupted();
  await ended();
  await measure();
  await figuresOf('trips');
  await figuresOf('stream');
  await saved();
}
