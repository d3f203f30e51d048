// Where the modules of rivals are. The server of the benchmark has them here (bench/browser/rivals.ts); a page that brings its own
// says so.
import type { RivalName } from './subject.ts';

const urls: Record<RivalName, string> = {
  comlink: new URL('../rival/comlink.js', import.meta.url).href,
  'sab-message-port': new URL('../rival/sab-message-port.js', import.meta.url).href,
};

export function setRivalUrl(name: RivalName, url: string): void {
  urls[name] = new URL(url, location.href).href;
}

export function rivalUrl(name: RivalName | undefined): string {
  return name === undefined ? '' : urls[name];
}

/** Loads a rival in this thread. Rejects with the name of the package where the server has none. */
export async function loadRival<T>(url: string): Promise<T> {
  try {
    return (await import(/* @vite-ignore */ url)) as T;
  } catch (cause) {
    throw new Error(`no module at ${new URL(url).pathname}`, { cause });
  }
}

/** Why a rival cannot take part, or undefined when it can. Loads it. */
export async function missingRival(name: RivalName): Promise<string | undefined> {
  const found = await loadRival(urls[name]).catch((error: Error) => error);
  return found instanceof Error ? `${name} is not here: ${found.message}` : undefined;
}

/** Whether what has taken a rival's seat is ours. */
export async function isStandIn(name: RivalName): Promise<boolean> {
  const found = await loadRival<object>(urls[name]).catch(() => ({}));
  return 'StandInMessagePort' in found;
}
