// In the service worker. It keeps nothing between two events: the browser stops it when it likes and starts it again.
import { UnsupportedError, UsageError } from '../errors.ts';
import { ANSWER_HEADER, READ_PATH, SYNC_ANSWER_MS_MIN } from '../limits.ts';
import {
  type Asked,
  type FetchEventHere,
  type Hello,
  SPOKEN,
  type TakeOver,
  type Welcome,
  type WorkerFetchEvent,
  type WorkerScope,
} from './worker-types.ts';

export interface ServeOptions {
  /**
   * Whether documents and workers are given the two headers that isolate: `true` or `require-corp`, where what comes from other origins has to allow it (CORS, or
   * Cross-Origin-Resource-Policy); or `credentialless`, where it comes without cookies, which WebKit does not know. False by default: nothing is changed.
   */
  readonly isolate?: boolean | 'require-corp' | 'credentialless' | undefined;
  /** What answers documents and workers with `isolate`, in place of the network: a service worker that has them offline. The headers are added to what it answers. */
  readonly answer?: ((event: FetchEventHere) => Response | Promise<Response>) | undefined;
  /** Whether workers that block are answered, of pages that have called `enableBlocking`. False by default. */
  readonly blocking?: boolean | undefined;
}

type Answer = NonNullable<ServeOptions['answer']>;

const EMBEDDER_POLICIES: ReadonlyMap<unknown, string | undefined> = new Map<unknown, string | undefined>([
  [undefined, undefined],
  [false, undefined],
  [true, 'require-corp'],
  ['require-corp', 'require-corp'],
  ['credentialless', 'credentialless'],
]);

/** What has an embedder policy of its own. All else of the page goes as if there were no service worker. */
const ENVIRONMENTS: readonly string[] = ['worker', 'sharedworker'];

/**
 * Does in this service worker what pages ask of it by `isolate` and `enableBlocking`. Call it in the first turn of the service worker's script, before that adds
 * listeners of its own: only documents and workers are answered, with `isolate` (give what answered them as `answer`), and what this library asks for, with
 * `blocking`. Listeners that come later see all else.
 *
 * The script is a module, `import { serve } from 'millrace/browser/service-worker'` bundled or by its address; or a classic one, which calls
 * `importScripts('service-worker.global.js')` and `MillraceServiceWorker.serve`.
 *
 * @throws UnsupportedError in what is no service worker
 * @throws UsageError ERR_OPTION
 */
export function serve(options: ServeOptions = {}): void {
  const { isolate, blocking = false, answer = ({ request }) => fetch(request) } = options;
  if (!EMBEDDER_POLICIES.has(isolate)) {
    throw new UsageError(
      'ERR_OPTION',
      `Option isolate cannot be ${String(isolate)}: it takes true, false, 'require-corp' or 'credentialless'`,
      { option: 'isolate', value: isolate },
    );
  }
  const policy = EMBEDDER_POLICIES.get(isolate);
  const scope = globalThis as unknown as WorkerScope;
  if (!('ServiceWorkerGlobalScope' in globalThis)) {
    throw new UnsupportedError(
      'Cannot serve here: this is no service worker; call it in the script that a page hands to isolate()',
      { feature: 'ServiceWorkerGlobalScope' },
    );
  }
  scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()));
  scope.addEventListener('message', (event) => {
    const { type } = (event.data ?? {}) as Partial<Hello | TakeOver>;
    // Otherwise it waits until no page uses the older one: in Firefox a worker that stands still hears nothing of a new one.
    if (type === 'millrace-take-over') event.waitUntil(scope.skipWaiting());
    if (type !== 'millrace-hello') return;
    const client = event.source?.id ?? '';
    const welcome: Welcome = { spoken: SPOKEN, isolates: policy !== undefined, blocks: blocking, client };
    // A page that was loaded past the service worker is not its own: what such a page starts would not be, either.
    event.waitUntil(scope.clients.claim().then(() => event.ports[0]?.postMessage(welcome)));
  });
  // Only where it answers something: a listener makes each request of the page go by here.
  if (policy !== undefined) scope.addEventListener('fetch', (event) => answerIsolated(event, policy, answer));
  if (blocking) scope.addEventListener('fetch', (event) => answerRead(event, scope));
}

function answerIsolated(event: WorkerFetchEvent, policy: string, answer: Answer): void {
  const { request } = event;
  if (request.mode !== 'navigate' && !ENVIRONMENTS.includes(request.destination)) return;
  respond(event, withHeaders(event, answer, policy));
}

/** Those who listen behind us would answer it once more, and throw. */
function respond(event: WorkerFetchEvent, response: Promise<Response>): void {
  event.respondWith(response);
  event.stopImmediatePropagation();
}

async function withHeaders(event: FetchEventHere, answer: Answer, policy: string): Promise<Response> {
  const response = await answer(event);
  // A redirect is followed by who asked; of another origin's answers nothing may be seen. `default` is what a script has made.
  if (response.type !== 'basic' && response.type !== 'default') return response;
  const headers = new Headers(response.headers);
  headers.set('Cross-Origin-Opener-Policy', 'same-origin');
  headers.set('Cross-Origin-Embedder-Policy', policy);
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

function answerRead(event: WorkerFetchEvent, scope: WorkerScope): void {
  const { origin, pathname, searchParams } = new URL(event.request.url);
  if (`${origin}${pathname}` !== `${scope.registration.scope}${READ_PATH}`) return;
  respond(event, read(scope.clients, searchParams, event.request.signal));
}

const NOTHING_YET = new Uint8Array(0);

async function read(clients: WorkerScope['clients'], query: URLSearchParams, gone: AbortSignal): Promise<Response> {
  const first = Number(query.get('first'));
  const waitMs = Number(query.get('wait'));
  const client = await clients.get(query.get('client') ?? '');
  const { port1, port2 } = new MessageChannel();
  let limit: ReturnType<typeof setTimeout> | undefined;
  const bytes = await new Promise<Uint8Array<ArrayBuffer> | null>((resolve) => {
    if (client === undefined) return resolve(null);
    // It is the page that says that nothing has come in time; a page that is busy says nothing.
    limit = setTimeout(() => resolve(NOTHING_YET), first < 0 ? waitMs : Math.max(waitMs, SYNC_ANSWER_MS_MIN));
    // Nobody waits any more: the service worker may rest, or be replaced.
    gone.addEventListener('abort', () => resolve(null));
    if (first < 0) return undefined;
    port1.onmessage = ({ data }) => resolve(data as Uint8Array<ArrayBuffer> | null);
    const request: Asked = { type: 'millrace-read', channel: query.get('channel') ?? '', from: first, waitMs };
    return client.postMessage(request, [port2]);
  });
  clearTimeout(limit);
  port1.close();
  const headers = { 'Cache-Control': 'no-store', [ANSWER_HEADER]: '1' };
  return bytes === null ? new Response(null, { status: 410, headers }) : new Response(bytes, { headers });
}
