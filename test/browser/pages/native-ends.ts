// The ends of threads that no shared memory reaches, and that say nothing: Web Locks tell (decision 0059).
import { channel, features, type Port, pair, type Remote, spawn } from '../../../src/index.ts';
import { afterwards, check, equal, figure, ok, rest, within } from './checks.ts';
import { next } from './thread.ts';

const script = new URL('./native-worker.js', import.meta.url);
const isFirefox = navigator.userAgent.includes('Firefox');
/** It loses what is posted to its page for good once a frame that has a native port, or shares a SharedWorker, is removed, navigated or its tab closed. */
const fallsSilent = !isFirefox && !navigator.userAgent.includes('Chrome');

interface Line {
  postMessage(message: unknown, transfer: Transferable[]): void;
}
/** What came back over the native way, and what is told that way. */
class Helper {
  readonly #line: Line;
  readonly #said: unknown[] = [];
  #heard: (() => void) | undefined;

  constructor(line: Line, source: EventTarget) {
    this.#line = line;
    source.addEventListener('message', (event) => {
      this.#said.push((event as MessageEvent).data);
      this.#heard?.();
    });
  }
  tell(what: unknown): void {
    this.#line.postMessage(what, []);
  }
  hand(remote: Remote, more: object = {}): void {
    this.#line.postMessage({ remote, ...more }, remote.transfer);
  }
  next(what: string): Promise<unknown> {
    const said = async (): Promise<unknown> => {
      while (this.#said.length === 0) await new Promise<void>((resolve) => (this.#heard = resolve));
      return this.#said.shift();
    };
    return within(what, said());
  }
  /** The names of the locks that its thread had, once its port was ready. */
  async up(): Promise<string[]> {
    return ((await this.next('the port to be ready')) as { up: string[] }).up;
  }
  async reason(): Promise<unknown> {
    return ((await this.next('its port.closed')) as { reason: unknown }).reason;
  }
}

function dedicated(): { readonly helper: Helper; readonly worker: Worker } {
  const worker = new Worker(script, { type: 'module' });
  afterwards(() => worker.terminate());
  return { helper: new Helper(worker, worker), worker };
}
let shares = 0;
function shared(): Helper {
  const { port } = new SharedWorker(script, { type: 'module', name: `native-ends ${++shares} ${Math.random()}` });
  port.start();
  return new Helper(port, port);
}

async function locks(): Promise<{ readonly held: string[]; readonly pending: string[] }> {
  const { held = [], pending = [] } = await navigator.locks.query();
  const ours = (infos: LockInfo[]): string[] =>
    infos.map(({ name = '' }) => name).filter((name) => name.startsWith('millrace/native/'));
  return { held: ours(held), pending: ours(pending) };
}

async function talkTo(helper: Helper): Promise<Port> {
  const { port, remote } = channel({ memory: false });
  afterwards(() => port.close());
  helper.hand(remote);
  port.postMessage('there?');
  equal(await next(port), ['there?']);
  return port;
}
async function told(what: string, port: Port): Promise<unknown> {
  const started = performance.now();
  const reason = await within(`${what}: port.closed`, port.closed);
  figure(`native: ${what}`, performance.now() - started, 'ms', 600);
  return reason;
}

check('features() says that ends are heard of', () => equal(features().hearsEnds, true));

check('port.ready waits on both sides until each would hear of the other end', async () => {
  const { helper } = dedicated();
  const port = await talkTo(helper);
  await within('port.ready', port.ready);
  const { pending } = await locks();
  const held = await helper.up();
  equal(held.length, 1);
  equal(pending, held);
});

check('a worker whose both ends are its own holds no lock', async () => {
  const { helper } = dedicated();
  helper.tell({ ask: 'here' });
  equal(((await helper.next('the answer')) as { here: string[] }).here, []);
});

check('terminate() of an idle worker, which this page has not spawned', async () => {
  const { helper, worker } = dedicated();
  const port = await talkTo(helper);
  await helper.up();
  worker.terminate();
  equal(await told('terminate() of an idle worker', port), 'terminated');
  await within('the request to be taken back', nobodyWaits());
});
async function nobodyHolds(): Promise<void> {
  while ((await locks()).held.length > 0);
}
async function nobodyWaits(): Promise<void> {
  while ((await locks()).pending.length > 0);
}

check('a worker is terminated before its lock is asked for', async () => {
  const { helper, worker } = dedicated();
  const { port, remote } = channel({ memory: false });
  afterwards(() => port.close());
  const asksLater = locksAnswerLater();
  helper.hand(remote);
  await helper.up();
  worker.terminate();
  await asksLater.now();
  equal(await told('terminate() before its lock is asked for', port), 'terminated');
});
/** What this page asks from here on is asked `now`, as if it was busy until then; but first whatever it has asked is answered, and what a thread held that is gone is free. */
function locksAnswerLater(): { now(): Promise<void> } {
  const { locks } = navigator;
  const { query, request } = locks;
  let now!: () => void;
  const until = new Promise<void>((resolve) => (now = resolve));
  const later =
    <F extends (...args: never[]) => Promise<unknown>>(ask: F) =>
    async (...args: Parameters<F>): Promise<unknown> => {
      await until;
      return ask.apply(locks, args);
    };
  Object.assign(locks, { query: later(query), request: later(request as never) });
  afterwards(() => now());
  return {
    async now() {
      Object.assign(locks, { query, request });
      await within('its lock to be free', nobodyHolds());
      now();
    },
  };
}

// Firefox drops what a worker has posted to a port that nobody has opened yet when it is terminated: the other one waits as for somebody who never comes.
if (!isFirefox) {
  check('one of two workers is terminated before the other one has opened its end', async () => {
    const [one, other] = [dedicated(), dedicated()];
    const [left, right] = pair({ memory: false });
    one.helper.hand(left);
    // There is nobody yet whom its port.ready could wait for. A turn of its event loop later it has said so.
    await within('a lock to be held', somebodyHolds());
    one.helper.tell({ ask: 'here' });
    await one.helper.next('the answer');
    one.worker.terminate();
    await within('its lock to be free', nobodyHolds());
    other.helper.hand(right);
    await other.helper.up();
    equal(await other.helper.reason(), 'terminated');
  });
}
async function somebodyHolds(): Promise<void> {
  while ((await locks()).held.length === 0);
}

check('a page shows for a while which locks are its own, and no longer', async () => {
  channel({ memory: false }).port.close();
  const shown = async (): Promise<boolean> => {
    const { held = [] } = await navigator.locks.query();
    return held.some(({ name = '' }) => name.startsWith('millrace/space/'));
  };
  ok(await shown(), 'it does not');
  const hidden = async (): Promise<void> => {
    while (await shown()) await rest(100);
  };
  await within('it to stop', hidden(), 12);
});

check('one of two idle workers is terminated, and the other one hears of it', async () => {
  const [one, other] = [dedicated(), dedicated()];
  const [left, right] = pair({ memory: false });
  one.helper.hand(left);
  other.helper.hand(right);
  await Promise.all([one.helper.up(), other.helper.up()]);
  one.worker.terminate();
  equal(await other.helper.reason(), 'terminated');
});

check('self.close() of a worker says exit', async () => {
  const { helper } = dedicated();
  const port = await talkTo(helper);
  await helper.up();
  helper.tell({ close: true });
  equal(await told('self.close() of an idle worker', port), 'exit');
});

check('what a worker has said before it is terminated comes before its end', async () => {
  const { helper, worker } = dedicated();
  const port = await talkTo(helper);
  await helper.up();
  for (let i = 0; i < 400; i++) port.postMessage(i);
  // They are answered in order, so that the others are on their way.
  for (let i = 0; i < 400; i++) {
    if (i === 100) await within('all to be taken', port.flush());
    if (i === 101) worker.terminate();
    equal(await next(port), [i]);
  }
  equal(await told('terminate() behind messages', port), 'terminated');
});

check('a lock is given back with the last channel, while its worker lives', async () => {
  const { helper } = dedicated();
  const port = await talkTo(helper);
  const [name] = await helper.up();
  ok((await locks()).held.includes(name as string), 'it is not held');
  port.close();
  equal(await helper.reason(), 'closed');
  const free = async (): Promise<void> => {
    while ((await locks()).held.includes(name as string));
  };
  await within('the lock to be given back', free());
  await talkTo(helper);
  const [second] = await helper.up();
  ok(second !== name && (await locks()).held.includes(second as string), 'the next one is not held');
});

check('self.close() of a SharedWorker says exit', async () => {
  const helper = shared();
  const port = await talkTo(helper);
  await helper.up();
  helper.tell({ close: true });
  equal(await told('self.close() of a SharedWorker', port), 'exit');
});

check('this page holds a lock for a SharedWorker, and none for a dedicated worker', async () => {
  // Threads of other checks are gone by now, or about to be.
  await within('no lock to be held', nobodyHolds());
  const { helper } = dedicated();
  await talkTo(helper);
  equal((await helper.up()).length, 1);
  const far = shared();
  const port = await talkTo(far);
  // That of the SharedWorker and this page's own.
  equal((await far.up()).length, 3);
  port.close();
});

check('a worker is terminated that has a channel with a SharedWorker', async () => {
  const { helper, worker } = dedicated();
  const far = shared();
  const [left, right] = pair({ memory: false });
  helper.hand(left);
  far.hand(right);
  await Promise.all([helper.up(), far.up()]);
  worker.terminate();
  equal(await far.reason(), 'terminated');
});

check('a data: worker has no locks, and port.ready does not wait for any', async () => {
  const library = await (await fetch('/iife/millrace.global.js')).text();
  const body = `const port = Millrace.parentPort(); port.ready.then(() => port.postMessage(Millrace.features().hearsEnds));`;
  const { port, worker } = spawn(
    () => new Worker(`data:text/javascript,${encodeURIComponent(`${library}\n${body}`)}`),
    {
      memory: false,
    },
  );
  afterwards(() => worker.terminate());
  equal(await next(port), false);
  await within('port.ready', port.ready, 2);
  worker.terminate();
  equal(await within('port.closed', port.closed), 'terminated');
});

/** A document that ends without a word, in a frame or a tab. */
async function silent(where: 'frame' | 'tab'): Promise<{ readonly helper: Helper; readonly leave: () => void }> {
  const address = '/page/frame-silent';
  let target: Window | null;
  let leave: () => void;
  const element = document.createElement('iframe');
  const up = new Promise<void>((resolve) => {
    addEventListener('message', ({ source, data }) => source === target && data === 'up' && resolve());
  });
  if (where === 'tab') {
    const tab = open(address, '_blank') as Window;
    ok(tab !== null, 'this browser opens no tab without a click');
    target = tab;
    leave = () => tab.close();
  } else {
    element.src = address;
    document.body.append(element);
    target = element.contentWindow;
    leave = () => element.remove();
  }
  afterwards(leave);
  await within('the document', up);
  const line = {
    postMessage: (message: unknown, transfer: Transferable[]) =>
      (target as Window).postMessage(message, location.origin, transfer),
  };
  return { helper: new Helper(line, new EventTarget()), leave };
}

for (const where of fallsSilent ? [] : (['frame', 'tab'] as const)) {
  check(`a ${where} ends without a word that has a channel with a SharedWorker`, async () => {
    const { helper, leave } = await silent(where);
    const far = shared();
    const [left, right] = pair({ memory: false });
    far.hand(right);
    helper.hand(left);
    await far.up();
    leave();
    equal(await far.reason(), 'terminated');
  });

  check(`a ${where} ends, and with it a SharedWorker that has a channel with this page`, async () => {
    const { helper, leave } = await silent(where);
    const { port, remote } = channel({ memory: false });
    helper.hand(remote, { name: `native-ends ${where} ${Math.random()}` });
    port.postMessage('there?');
    equal(await next(port), ['there?']);
    await within('port.ready', port.ready);
    leave();
    equal(await told(`the ${where} of a SharedWorker`, port), 'terminated');
  });
}
