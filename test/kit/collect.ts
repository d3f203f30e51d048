// The garbage collector, where it can be asked: no test may wait for when it comes by itself.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = () => void;

/** Collects all that is garbage; nothing where the runtime has no such call. */
export function collect(): void {
  const { gc, Bun } = globalThis as { gc?: Collect; Bun?: { gc(force: boolean): void } };
  if (Bun !== undefined) Bun.gc(true);
  else (gc ?? found())();
}

let made: Collect | undefined;
function found(): Collect {
  setFlagsFromString('--expose-gc');
  made ??= runInNewContext('typeof gc === "function" ? gc : () => {}') as Collect;
  return made;
}
