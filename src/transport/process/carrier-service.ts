// A carrier from within, whatever lines it has: it hears what it is asked, and moves bytes between its lines and the thread's memory. It ends with the thread whose it is.
import { workerData } from 'node:worker_threads';
import { platform } from '#platform';
import { type Carried, Line } from './carrier-line.ts';
import type { AnyAsk, AnyNews, CarrierStart } from './carrier-words.ts';
import { toldError } from './told-error.ts';

const start = workerData as CarrierStart;
const { port } = start;
/** The module that packages are looked for from. */
export const from: string = start.from;

export const lines: Map<number, Line> = new Map();

export function tell(news: AnyNews): void {
  port.postMessage(news);
}

/**
 * From here on what comes over the line goes into memory, and what is put there goes out.
 * @param left told when it is over
 */
export function carry(of: number, memory: SharedArrayBuffer, stream: Carried, left?: () => void): void {
  const gone = (error: Error | undefined): void => {
    lines.delete(of);
    left?.();
    if (error !== undefined) tellFailure(of, 'broke', error);
  };
  lines.set(of, new Line(stream, memory, () => void port.postMessage(of), gone));
}
function tellFailure(of: number, news: 'broke' | 'failed', error: unknown): void {
  const told = { of, news, error: toldError(error) };
  tell(told);
}

/**
 * @param answer what it is asked; what that rejects with the thread is told as `failed`
 * @param closed the thread is gone; its lines were ended
 */
export function serve(answer: (ask: AnyAsk) => Promise<void>, closed: () => void): void {
  platform.listen(port, {
    message: (said) => {
      if (typeof said === 'number') lines.get(said)?.woken();
      else answer(said as AnyAsk).catch((error) => tellFailure((said as AnyAsk).of, 'failed', error));
    },
    closed: () => {
      for (const line of lines.values()) line.destroy();
      closed();
    },
  });
  platform.hold(port, true);
}
