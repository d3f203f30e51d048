// The section in which workers end: what `port.closed` says, after how long, and what a native port says beside it.
import { features, pair, type Remote, spawn } from '../../src/index.ts';
import { byId, duration, make, onPress } from './dom.ts';
import type { Role } from './ending-worker.ts';

interface Case {
  readonly id: string;
  readonly title: string;
  readonly role: Role;
  /** What the page does once the worker says that it is up; by default nothing. */
  readonly end?: (worker: Worker) => void;
  /** It never comes to its role. */
  readonly start?: () => Worker;
  /** Blocks its thread, which takes shared memory. */
  readonly blocks?: boolean;
}

const terminate = (worker: Worker): void => worker.terminate();
const workerFor = (role: Role): Worker =>
  new Worker(new URL('./ending-worker.js', import.meta.url), { type: 'module', name: role });
const missing = (): Worker => new Worker(new URL('./a-file-that-is-not-there.js', import.meta.url), { type: 'module' });
const throwing = (): Worker => new Worker(new URL('./throwing-worker.js', import.meta.url), { type: 'module' });

const CASES: readonly Case[] = [
  { id: 'close', title: 'it calls port.close()', role: 'close' },
  { id: 'exit', title: 'it calls self.close()', role: 'exit' },
  { id: 'missing', title: 'its script is not there', role: 'idle', start: missing },
  { id: 'throws', title: 'it throws while it starts', role: 'idle', start: throwing },
  { id: 'idle', title: 'terminate() while it is idle', role: 'idle', end: terminate },
  { id: 'computing', title: 'terminate() while it computes', role: 'compute', end: terminate },
  { id: 'blocked', title: 'terminate() while it is blocked in receive()', role: 'block', end: terminate, blocks: true },
];

/** How long the native port is given to say something once ours has: ten times what ours took, and at least this. */
const PATIENCE_MS = 500;
/** What ends a case that nobody tells of. */
const LIMIT_MS = 20_000;

const rest = (ms: number): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, ms, undefined));
export interface Ending {
  readonly reason: string;
  readonly ms: number;
  /** When the native port said something; 'silent' if it did not, '–' where there is none. The next case does not wait for it. */
  readonly native: Promise<number | 'silent' | '–'>;
}

/** Starts a worker, ends it as the case says, and waits for our port. */
async function endingOf({ role, end, start }: Case): Promise<Ending> {
  const { port, worker } = spawn(start ?? (() => workerFor(role)));
  const channel = new MessageChannel();
  const web = worker as Worker;
  web.addEventListener('error', (event) => event.preventDefault());
  let started = performance.now();
  const nativeEnd = new Promise<number>((resolve) =>
    channel.port1.addEventListener('close', () => resolve(performance.now() - started)),
  );
  channel.port1.start();
  web.postMessage({ native: channel.port2 }, [channel.port2]);
  if (start === undefined) {
    await port.receiveAsync({ timeoutMs: LIMIT_MS });
    started = performance.now();
    port.postMessage('go');
    end?.(web);
  }
  const reason = await Promise.race([port.closed, rest(LIMIT_MS)]);
  const ms = performance.now() - started;
  const patience = rest(Math.max(PATIENCE_MS, 10 * Math.min(ms, 100)));
  const native = Promise.race([nativeEnd, patience]).then((told) => {
    port.close();
    web.terminate();
    channel.port1.close();
    return told ?? 'silent';
  });
  return { reason: reason ?? 'nothing', ms, native };
}

/** One worker blocks in a read from another one, which is terminated: it has no event loop that could be told. */
async function orphaned(): Promise<Ending> {
  const waiting = spawn(() => workerFor('orphan'));
  const victim = spawn(() => workerFor('sibling'));
  const [one, other] = pair();
  const hand = (port: typeof waiting.port, remote: Remote): void => port.postMessage({ remote }, remote.transfer);
  try {
    hand(waiting.port, one);
    hand(victim.port, other);
    // Both are up, and the first one blocks from here on.
    await Promise.all([
      waiting.port.receiveAsync({ timeoutMs: LIMIT_MS }),
      victim.port.receiveAsync({ timeoutMs: LIMIT_MS }),
    ]);
    const started = performance.now();
    (victim.worker as Worker).terminate();
    const reason = await waiting.port.receiveAsync({ timeoutMs: LIMIT_MS });
    return {
      reason: typeof reason === 'string' ? reason : 'nothing',
      ms: performance.now() - started,
      native: Promise.resolve('–'),
    };
  } finally {
    for (const { port, worker } of [waiting, victim]) {
      port.close();
      (worker as Worker).terminate();
    }
  }
}

/** Wires the section. */
export function ending(): void {
  const { memory } = features();
  const body = byId('endings');
  const rows = new Map<string, readonly HTMLElement[]>();
  const cases = [
    ...CASES.filter(({ blocks }) => memory || blocks !== true).map((it) => ({ ...it, run: () => endingOf(it) })),
    ...(memory
      ? [{ id: 'orphan', title: 'a worker waits, blocked, for another one, which is terminated', run: orphaned }]
      : []),
  ];
  for (const { id, title } of cases) {
    const cells = [
      make('td', { class: 'reason' }, '–'),
      make('td', { class: 'number' }),
      make('td', { class: 'soft' }),
    ];
    rows.set(id, cells);
    body.append(make('tr', { id: `ending-${id}` }, make('th', { scope: 'row' }, title), ...cells));
  }
  if (!memory) byId('ending-way').textContent = 'Two cases are left out: no worker can block without shared memory.';
  const button = byId<HTMLButtonElement>('end-all');
  onPress(button, async () => {
    const natives: Promise<void>[] = [];
    for (const { id, run } of cases) {
      const [reason, took, native] = rows.get(id)!;
      reason.textContent = '…';
      took.textContent = native.textContent = '';
      const found = await run();
      reason.textContent = found.reason;
      took.textContent = duration(found.ms);
      natives.push(
        found.native.then((said) => {
          native.textContent = typeof said === 'number' ? duration(said) : said;
        }),
      );
    }
    await Promise.all(natives);
    button.dataset['done'] = 'true';
  });
}
