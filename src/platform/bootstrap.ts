// What runs in a thread that `spawn` starts from a URL, before the user's module: it keeps the start data for
// `parentPort()`, and tells a parent that may be blocked when the thread ends without having opened its end of the
// channel, because the module is not there, does not parse, lacks an import, throws, or never asks. The event loop of the
// parent would hear that from the Worker; a blocked one hears no event. docs/decisions/0016 has what else was tried.
//
// It is source text, because a bundle or an executable has no place for one more file. The user's module must not notice:
// `workerData`, `process.argv` and the rest are put as they would be without it, and errors stay uncaught.
import { STDIO_WAIT_MS } from '../limits.ts';

/** The property of `process` under which the start data waits for `parentPort()`, whichever copy of this library asks. */
export const START_KEY: unique symbol = Symbol.for('millrace.start');

/** How the bootstrap says that the thread has ended: numbers of src/memory, which this room does not know. */
export interface EndWords {
  /** The channel's memory and the page of the thread's life. */
  readonly memory: SharedArrayBuffer;
  readonly page: SharedArrayBuffer;
  /** Word indexes in `memory`: whether the thread has opened its end; how it ended; how the parent sleeps. */
  readonly attached: number;
  readonly closed: number;
  readonly park: number;
  /** Codes for `closed`. */
  readonly exit: number;
  readonly crash: number;
  /** Where the error stands in `page`: word index of its length, byte of its text, characters there is room for. */
  readonly errorLength: number;
  readonly errorText: number;
  readonly errorMax: number;
}

/** What stands in the new thread's workerData until the bootstrap has taken it out. */
export interface BootData {
  readonly url: string;
  readonly start: unknown;
  readonly end: EndWords;
  /** The caller's own. */
  readonly workerData: unknown;
}

/** As `writeError` in src/memory/life-page.ts does it; a test holds the two equal. */
const COMMON = `
const threads = process.getBuiltinModule('node:worker_threads');
const Module = process.getBuiltinModule('node:module');
const { url, start, end, workerData } = threads.workerData;
threads.workerData = workerData;
Module.syncBuiltinESMExports?.();
Object.defineProperty(process, Symbol.for('millrace.start'), { value: start });

const words = new Int32Array(end.memory);
const page = new Int32Array(end.page);
let how = end.exit;
const textOf = (error) => {
  const part = (key, max) => (typeof error[key] === 'string' ? error[key].slice(0, max) : undefined);
  for (let max = end.errorMax / 2; ; max >>= 1) {
    let told;
    try {
      if (typeof error === 'object' && error !== null && 'message' in error) {
        told = { name: part('name', 64), message: part('message', max), stack: part('stack', max), code: part('code', 64) };
      } else told = { value: ['number', 'boolean'].includes(typeof error) ? error : String(error).slice(0, max) };
    } catch {
      told = { value: 'an error that cannot be told' };
    }
    const text = JSON.stringify(told);
    if (text.length <= end.errorMax) return text;
  }
};
const died = (error) => {
  how = end.crash;
  if (Atomics.load(page, end.errorLength) !== 0) return;
  const text = textOf(error);
  const units = new Uint16Array(end.page, end.errorText, text.length);
  for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
  // SYNC death: pairs with readError.
  Atomics.store(page, end.errorLength, text.length);
};
process.on('exit', (code) => {
  if (code === 0 && trustsCode) how = end.exit;
  // SYNC attach-once: whoever opened the end tells of it, and of what it has sent; 2 is nobody; pairs with openHandle.
  if (Atomics.compareExchange(words, end.attached, 0, 2) !== 0) return;
  // SYNC closed: pairs with Life.over.
  Atomics.store(words, end.closed, how);
  // SYNC awake: rings for a parent that is blocked; its event loop hears of the Worker's end; pairs with announce.
  if (Atomics.exchange(words, end.park, 0) !== 0) Atomics.notify(words, end.park);
});

const file = url.startsWith('file:') ? process.getBuiltinModule('node:url').fileURLToPath(url) : url;
process.argv[1] = file;
`;

const MONITOR = `
const trustsCode = true;
process.on('uncaughtExceptionMonitor', (error) => {
  // Somebody who handles it keeps the thread going.
  if (process.listenerCount('uncaughtException') === 0) died(error);
});
`;

/**
 * What a worker writes to its console is posted to the parent's event loop, and Node and Bun keep the worker's loop alive
 * until that acknowledges. A blocked parent never does: a worker with nothing more to do would not end, and its parent would
 * wait for that end. So the worker gives itself the acknowledgement that is late, as both do when the thread exits. The
 * chunks are posted by then, and what waits behind them follows: nothing is lost, callbacks and `drain` come. The
 * timer holds nothing. A runtime without these names is left as it is.
 */
const STDIO = `
const { clearTimeout, setTimeout } = process.getBuiltinModule('node:timers');
for (const stream of [process.stdout, process.stderr]) {
  const { _writev } = stream;
  const symbols = [stream, Object.getPrototypeOf(stream)].flatMap((it) => Object.getOwnPropertySymbols(it));
  const acknowledged = symbols.find((it) => ['kStdioWantsMoreDataCallback', 'kFlushSync'].includes(it.description));
  if (typeof stream[acknowledged] !== 'function' || typeof _writev !== 'function') continue;
  let timer;
  const late = () => stream[acknowledged]();
  const value = function (chunks, done) {
    clearTimeout(timer);
    timer = setTimeout(late, ${STDIO_WAIT_MS}).unref();
    return _writev.call(this, chunks, (error) => {
      clearTimeout(timer);
      done(error);
    });
  };
  Object.defineProperty(stream, '_writev', { value, configurable: true, writable: true });
}
`;

/**
 * Source for `eval: true`, a module or a script, whichever --input-type makes of it. `runMain` is what Node's own start of
 * a worker calls: `require.main` and `import.meta.main` are right, and loaders see nothing but the module. In a later
 * tick, for the stack of an error would show this source. Of CommonJS's five names, eval makes globals.
 */
export const NODE_BOOTSTRAP: string = `{${MONITOR}${COMMON}${STDIO}
delete process._eval;
for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) delete globalThis[name];
process.nextTick(() => (file === url ? import(url) : Module.runMain(file)));
}`;

/**
 * Source for `eval: true`. The exit code does not tell here, see bun.ts. A CommonJS module is `require.main` as soon as
 * argv says so.
 */
export const BUN_BOOTSTRAP: string = `{
const trustsCode = false;
globalThis.addEventListener('error', (event) => died(event.error ?? event.message));
${COMMON}${STDIO}
try {
  Bun.main = file;
} catch {}
await import(url);
}`;

/** Source for a data: URL, whose module sees no more globals than any other. `import.meta.main` is false in the module. */
export const DENO_BOOTSTRAP: string = `{${MONITOR}${COMMON}
try {
  if (file.endsWith('.cjs')) Module.runMain(file);
  else await import(url);
} catch (error) {
  // As it was thrown: what is no Error reaches the monitor wrapped.
  died(error);
  throw error;
}
}`;
