// In a page: brings a service worker that calls `serve` to be there, and says why where it cannot be.
import { TimeoutError, UnsupportedError, UsageError } from '../errors.ts';
import { SERVICE_WORKER_MS_DEFAULT, SERVICE_WORKER_OLD_MS, TIMEOUT_MS_MAX } from '../limits.ts';
import { type Hello, SPOKEN, type TakeOver, type Welcome } from './worker-types.ts';

export interface RegisterOptions {
  /** The pages it is for; default: the folder of its script. More than that takes the header `Service-Worker-Allowed`. */
  readonly scope?: string | URL | undefined;
  /** `classic` for a script that calls `importScripts`; default `module`. */
  readonly type?: 'module' | 'classic' | undefined;
  /** Milliseconds in which it has to be there; default 10,000. */
  readonly timeoutMs?: number | undefined;
}

/** A service worker that has answered. */
export interface Registered {
  readonly scope: string;
  readonly welcome: Welcome;
}

/**
 * Resolves once the service worker runs and controls this page. One that is there already stays, if it does what is wanted.
 * @throws as `isolate`
 */
export async function register(
  script: string | URL,
  options: RegisterOptions,
  wanted: (welcome: Welcome) => boolean,
): Promise<Registered> {
  const timeoutMs = timeOf(options.timeoutMs);
  const container = containerHere();
  const url = addressOf(script);
  const registration = await registered(container, url, options);
  if (!location.href.startsWith(registration.scope)) throw notCovered(registration.scope);
  const fits = (welcome: Welcome | undefined): boolean => welcome?.spoken === SPOKEN && wanted(welcome);
  const welcome = await inTime(timeoutMs, url, welcomed(registration, url, fits));
  if (welcome.spoken !== SPOKEN) {
    throw new UnsupportedError(
      `Cannot use the service worker ${url}: it is of another release of millrace (protocol ${welcome.spoken}, here ${SPOKEN}); serve the script of this one`,
      { feature: 'serviceWorker', value: welcome.spoken, limit: SPOKEN },
    );
  }
  return { scope: registration.scope, welcome };
}

function timeOf(timeoutMs: number = SERVICE_WORKER_MS_DEFAULT): number {
  if (timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX) return timeoutMs;
  throw new UsageError('ERR_OPTION', `Option timeoutMs cannot be ${timeoutMs}: it takes 1 to ${TIMEOUT_MS_MAX}`, {
    option: 'timeoutMs',
    value: timeoutMs,
  });
}

function containerHere(): ServiceWorkerContainer {
  if (!('document' in globalThis)) {
    throw new UnsupportedError(
      'Cannot register a service worker here: this is no page; call it in the page, before it starts workers',
      { feature: 'serviceWorker' },
    );
  }
  if (globalThis.origin === 'null') {
    throw new UnsupportedError(
      'Cannot register a service worker: this document has an origin of its own, as one in a sandboxed frame has; give the frame allow-same-origin',
      { feature: 'serviceWorker' },
    );
  }
  if (!isSecureContext) {
    throw new UnsupportedError(
      `Cannot register a service worker: ${location.origin} is no secure context; serve the page over https, or from localhost`,
      { feature: 'serviceWorker' },
    );
  }
  const container = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  if (container === undefined) {
    throw new UnsupportedError(
      'Cannot register a service worker: there are none in this browser or window; send the two headers that isolate from the server',
      { feature: 'serviceWorker' },
    );
  }
  return container;
}

function addressOf(script: string | URL): string {
  try {
    return new URL(script, document.baseURI).href;
  } catch (cause) {
    throw new UsageError('ERR_OPTION', `Cannot register the service worker ${String(script)}: it is no address`, {
      option: 'script',
      value: script,
      cause,
    });
  }
}

async function registered(
  container: ServiceWorkerContainer,
  url: string,
  { scope, type = 'module' }: RegisterOptions,
): Promise<ServiceWorkerRegistration> {
  try {
    return await container.register(url, { type, ...(scope !== undefined && { scope: String(scope) }) });
  } catch (cause) {
    throw new UsageError('ERR_OPTION', `Cannot register the service worker ${url}: ${await whyNot(url, cause)}`, {
      option: 'script',
      value: url,
      cause,
    });
  }
}

/** Browsers say it in many ways, and some not at all. */
async function whyNot(url: string, cause: unknown): Promise<string> {
  const said = cause instanceof Error ? cause.message : String(cause);
  const response = await fetch(url).catch(() => undefined);
  if (response === undefined) return `it cannot be loaded (${said})`;
  if (!response.ok) return `the server answers ${response.status}; is it at this address?`;
  const type = response.headers.get('Content-Type') ?? 'no type';
  if (!type.includes('javascript')) return `the server sends ${type}, and not text/javascript`;
  return said;
}

function notCovered(scope: string): UsageError {
  return new UsageError(
    'ERR_OPTION',
    `Cannot use the service worker: its scope ${scope} does not cover this page, ${location.href}; put its script into a folder above the page, or give \`scope\` and send the script with the header Service-Worker-Allowed`,
    { option: 'scope', value: scope },
  );
}

async function welcomed(
  registration: ServiceWorkerRegistration,
  url: string,
  fits: (welcome: Welcome | undefined) => boolean,
): Promise<Welcome> {
  const { active } = registration;
  const newerOne = (): ServiceWorker | null =>
    registration.installing ?? registration.waiting ?? (registration.active === active ? null : registration.active);
  let newer = newerOne();
  if (active !== null) {
    const known = greeting(active);
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, SERVICE_WORKER_OLD_MS));
    const welcome = await Promise.race([known, late]);
    if (welcome !== undefined && fits(welcome)) return welcome;
    // `register` asks for no script again that it has, by its address: what the server sends by now may do what is wanted.
    if (newer === null) await registration.update().catch(() => {});
    newer = newerOne();
    if (newer === null) return known;
  }
  const takeOver: TakeOver = { type: 'millrace-take-over' };
  newer?.postMessage(takeOver);
  return greeting(await started(newer as ServiceWorker, url));
}

function started(worker: ServiceWorker, url: string): Promise<ServiceWorker> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (worker.state === 'activated') resolve(worker);
      else if (worker.state === 'redundant') {
        reject(
          new UnsupportedError(`The service worker ${url} was given up while it was installed`, {
            feature: 'serviceWorker',
          }),
        );
      }
    };
    worker.addEventListener('statechange', look);
    look();
  });
}

function greeting(worker: ServiceWorker): Promise<Welcome> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    const hello: Hello = { type: 'millrace-hello' };
    port1.onmessage = ({ data }) => {
      port1.close();
      resolve(data as Welcome);
    };
    worker.postMessage(hello, [port2]);
  });
}

async function inTime<T>(timeoutMs: number, url: string, task: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `The service worker ${url} has not answered in ${timeoutMs} ms: does it call serve() of millrace/browser/service-worker?`;
    timer = setTimeout(() => reject(new TimeoutError(message, { timeoutMs })), timeoutMs);
  });
  try {
    return await Promise.race([task, late]);
  } finally {
    clearTimeout(timer);
  }
}
