// What this browser has of what Millrace uses, and what `features()` makes of it.
import { features } from '../../src/index.ts';
import { byId, duration, make } from './dom.ts';
import type { Findings } from './support-worker.ts';

interface Fact {
  readonly id: string;
  readonly title: string;
  readonly there: boolean | string;
  readonly use: string;
}

/** The headers that isolate a page. */
export const HEADERS: readonly string[] = [
  'Cross-Origin-Opener-Policy: same-origin',
  'Cross-Origin-Embedder-Policy: require-corp',
];

/** The smallest step of this page's clock, in milliseconds. */
function clockStepMs(): number {
  let step = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 20; i++) {
    const from = performance.now();
    let to = from;
    while (to === from) to = performance.now();
    step = Math.min(step, to - from);
  }
  return step;
}

function inWorker(): Promise<Findings> {
  const worker = new Worker(new URL('./support-worker.js', import.meta.url), { type: 'module' });
  return new Promise<Findings>((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(`the worker that looks at itself: ${event.message}`));
  }).finally(() => worker.terminate());
}

const has = (name: string, of: object = globalThis): boolean => name in of;

/** Looks, here and in a worker. */
export async function facts(): Promise<Fact[]> {
  const there = await inWorker();
  const here = features();
  const atomics = (name: string): boolean => has(name, Atomics);
  return [
    {
      id: 'secure',
      title: 'secure context',
      there: isSecureContext,
      use: 'https or localhost: what isolation and locks need',
    },
    { id: 'isolated', title: 'cross-origin isolated', there: crossOriginIsolated, use: 'the two headers arrived' },
    { id: 'memory', title: 'SharedArrayBuffer', there: here.memory, use: 'the ring; else native ports carry' },
    { id: 'blocking', title: 'Atomics.wait in workers', there: there.blocking, use: 'receive, send, select, wrapSync' },
    {
      id: 'page-blocking',
      title: 'Atomics.wait in the page',
      there: here.blocking,
      use: 'no browser lets its page block',
    },
    { id: 'wait-async', title: 'Atomics.waitAsync', there: atomics('waitAsync'), use: 'event loops asleep on memory' },
    { id: 'page-wait', title: 'how the page sleeps', there: here.eventLoopWait, use: 'features().eventLoopWait' },
    {
      id: 'worker-wait',
      title: 'how a worker sleeps',
      there: there.eventLoopWait,
      use: 'WebKit’s workers lose wake-ups of waitAsync',
    },
    { id: 'pause', title: 'Atomics.pause', there: atomics('pause'), use: 'kinder spinning' },
    { id: 'locks', title: 'Web Locks', there: has('locks', navigator), use: 'to hear of a thread that was killed' },
    { id: 'post-task', title: 'scheduler.postTask', there: has('scheduler'), use: 'a quick turn of the event loop' },
    { id: 'module-workers', title: 'module workers', there: true, use: 'one looked at itself just now' },
    { id: 'nested', title: 'workers of workers', there: there.nested, use: 'spawn in a worker' },
    { id: 'shared-worker', title: 'SharedWorker', there: has('SharedWorker'), use: 'ports without memory reach it' },
    {
      id: 'service-worker',
      title: 'service workers',
      there: has('serviceWorker', navigator),
      use: 'isolation on static hosts',
    },
    {
      id: 'close-event',
      title: 'close event of MessagePort',
      there: has('onclose', MessagePort.prototype),
      use: 'what a native port could tell',
    },
    {
      id: 'clock',
      title: 'step of the clock',
      there: duration(clockStepMs()),
      use: 'how finely anything here is timed',
    },
    {
      id: 'cores',
      title: 'threads at once',
      there: String(navigator.hardwareConcurrency ?? 'unknown'),
      use: 'navigator.hardwareConcurrency',
    },
  ];
}

/** What stands between this page and shared memory, and what would bring it; undefined where it is there. */
export function missing(): string | undefined {
  if (features().memory) return undefined;
  if (!isSecureContext) {
    return `This address (${location.origin}) is no secure context, so the browser gives it no shared memory, whatever the headers say. Open the page as https:// or on localhost.`;
  }
  if (crossOriginIsolated) {
    return 'The page is isolated, and yet this browser has no SharedArrayBuffer (WebKitGTK wants JSC_useSharedArrayBuffer=1).';
  }
  return `This page came without ${HEADERS.join(' and ')}, so this browser gives it no SharedArrayBuffer.`;
}

/** Fills the table. */
export async function support(): Promise<void> {
  const body = byId('facts');
  for (const { id, title, there, use } of await facts()) {
    const mark = typeof there === 'string' ? there : there ? 'yes' : 'no';
    body.append(
      make(
        'tr',
        { id: `fact-${id}` },
        make('th', { scope: 'row' }, title),
        make('td', { class: typeof there === 'string' ? 'value' : mark }, mark),
        make('td', { class: 'soft' }, use),
      ),
    );
  }
  body.dataset['done'] = 'true';
}
