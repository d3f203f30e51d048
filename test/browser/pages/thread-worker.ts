// The other thread of thread.ts: makes a function out of its name and calls it.
import * as millrace from '../../../src/index.ts';
import type { Casting, Role, Said, Stage } from './thread.ts';

/** The library of a page's types has no DedicatedWorkerGlobalScope. */
const scope = globalThis as unknown as EventTarget & {
  readonly name: string;
  postMessage(message: Said, transfer?: Transferable[]): void;
};

/** Shorter sleeps are between messages. */
const SOUNDLY_MS = 500;

const heard: unknown[] = [];
const listeners: ((value: unknown) => void)[] = [];
function hearing({ data }: MessageEvent<{ readonly told: unknown }>): void {
  const listener = listeners.shift();
  if (listener === undefined) heard.push(data.told);
  else listener(data.told);
}

const hear = (): Promise<unknown> =>
  heard.length > 0 ? Promise.resolve(heard.shift()) : new Promise((resolve) => listeners.push(resolve));

function play({ data, remote }: Casting, open: (options?: millrace.PortOptions) => millrace.Port): void {
  scope.addEventListener('message', hearing as EventListener);
  let port: millrace.Port | undefined;
  const still = typeof SharedArrayBuffer === 'function' ? new Int32Array(new SharedArrayBuffer(4)) : undefined;
  const stage: Stage = {
    data,
    remote: remote as millrace.Remote,
    millrace,
    port: (options) => {
      port ??= open(options);
      return port;
    },
    say: (value, transfer) => scope.postMessage({ said: value }, transfer ?? []),
    hear: <T>() => hear() as Promise<T>,
    rest: (ms) => void Atomics.wait(still as Int32Array, 0, 0, ms),
    sleepSoundly(asleep) {
      const { wait } = Atomics;
      Atomics.wait = ((words: Int32Array, index: number, value: number, ms = SOUNDLY_MS) => {
        if (ms < SOUNDLY_MS) return wait(words, index, value, ms);
        Atomics.add(asleep, 0, 1);
        return wait(words, index, value);
      }) as typeof wait;
    },
  };
  // An uncaught error inside a listener stays one; what the role itself throws is its result.
  const role = new Function(`return (${scope.name});`)() as Role;
  Promise.resolve()
    .then(() => role(stage))
    .then(
      (done) => scope.postMessage({ done }),
      (error) => scope.postMessage({ failed: `${error?.code ?? error?.name}: ${error?.message}\n${error?.stack}` }),
    );
}

if (new URL(import.meta.url).searchParams.has('spawned')) {
  play({ data: undefined, remote: undefined }, (options) => millrace.parentPort(options));
} else {
  const start = ({ data }: MessageEvent<Casting>): void =>
    play(data, (options) => millrace.attach(data.remote, options));
  scope.addEventListener('message', start as EventListener, { once: true });
}
