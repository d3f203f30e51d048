// Uses the page as its reader would: presses what there is to press, and waits for what it then shows. For pictures and checks.
import { byId } from './dom.ts';

/** Milliseconds that any one step may take: a watchdog. */
const STEP_MS = 30_000;

/** Waits until `holds`, looking whenever something of the page has changed. */
export function until(what: string, holds: () => boolean): Promise<void> {
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
      reject(new Error(`hang: waited ${STEP_MS / 1000} s for ${what}`));
    }, STEP_MS);
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

/** All of it, one after the other. */
export async function all(): Promise<void> {
  await lookedAt();
  await interrupted();
  await ended();
}
