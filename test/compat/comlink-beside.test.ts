// The same program over Comlink 4.4 and over millrace/compat/comlink: line by line what each of its cases comes to. Where the two differ, it is meant so, and
// docs/guides/moving-from-comlink.md says it.
// needs: packages
// watchdog: 180 s
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Endpoint, NodeEndpoint } from '../../src/compat/comlink.ts';
import { attach, channel, features } from '../../src/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import { within } from '../kit/watchdog.ts';
import type { WorkerMessage, WorkerTask } from './comlink-beside-worker.ts';
import { type Library, type LibraryName, library } from './comlink-libraries.ts';
import { type Api, type Case, cases, makeApi, setHandlers, stage } from './comlink-program.ts';

const WORKER = inOneFile(new URL('./comlink-beside-worker.js', import.meta.url));
const GUIDE = new URL('../../../docs/guides/moving-from-comlink.md', import.meta.url);
const libraries: Record<LibraryName, Library> = {
  comlink: await library('comlink'),
  millrace: await library('millrace'),
};
for (const { C } of Object.values(libraries)) setHandlers(C);

interface Difference {
  /** `undefined`: it never settles. */
  readonly comlink: unknown;
  readonly millrace: unknown;
  /** The guide's words. */
  readonly guide: string;
}

const CLONES = 'functions, async generators and streams are refused';
const RELEASED = 'A released proxy throws a `ClosedError`';
const differences: Record<string, Difference> = {
  'reads what holds functions': { comlink: 'thrown: TypeError', millrace: 'object', guide: CLONES },
  'reads a function': { comlink: 'thrown: TypeError', millrace: 'function', guide: CLONES },
  'functions without proxy': { comlink: ['thrown: DataCloneError'], millrace: [undefined], guide: CLONES },
  'functions without proxy within an argument': {
    comlink: ['thrown: DataCloneError'],
    millrace: [undefined],
    guide: CLONES,
  },
  generators: { comlink: 'thrown: TypeError', millrace: 'object', guide: CLONES },
  'refuses what cannot be cloned, as a result': {
    comlink: 'thrown: TypeError',
    millrace: 'thrown: DataCloneError',
    guide: 'A result that cannot be cloned',
  },
  'calls of one turn, and what an async function does behind its first await': {
    comlink: [[1, 2, 3], 4],
    millrace: [[1, 2, 3, 4], 4],
    guide: 'What is called in one turn runs in one turn',
  },
  'handlers that throw': {
    comlink: ['thrown at once: RangeError', 1],
    millrace: ['thrown: RangeError', 1],
    guide: 'A handler that throws',
  },
  'a proxy of the other side goes back': {
    comlink: ['thrown: DataCloneError', 1, 1],
    millrace: [6, 6, 6],
    guide: 'Sent back, it is the value itself',
  },
  'what was marked here comes back': {
    comlink: [false, 1],
    millrace: [true, 1],
    guide: 'Sent back, it is the value itself',
  },
  'errors: their class, code and cause': {
    comlink: [false, undefined, undefined],
    millrace: [true, 'E_FAILING', 5],
    guide: 'as one of its class, with `code`, `cause` and its own fields',
  },
  'constructs and releases, and constructs again': {
    comlink: [3, 'thrown at once: Error'],
    millrace: [3, 'thrown at once: ClosedError'],
    guide: RELEASED,
  },
  'releases: it cannot be used any more': {
    comlink: 'thrown at once: Error',
    millrace: 'thrown at once: ClosedError',
    guide: RELEASED,
  },
  'releases: what is pending': {
    comlink: undefined,
    millrace: 'thrown: ClosedError',
    guide: 'leaves calls in flight pending for ever',
  },
  'releases twice': { comlink: 'thrown at once: Error', millrace: undefined, guide: RELEASED },
};

/** Over a Port, which delivers several messages in one turn and is closed by nobody, Comlink itself does otherwise: what ours comes to, as it does over others. */
const overPort: Record<string, unknown> = {
  'copies results before the next call': [[1, 2, 3], 4, [1, 2, 3, 4, 5], [1, 2, 3, 4], 5, [1, 2, 3, 4, 5]],
  'calls of one turn, and what an async function does behind its first await': [[1, 2, 3, 4], 4],
  'releases: the finalizer, of several wraps': 1,
};

// What Comlink makes for callbacks and endpoints it never closes, and on Node that keeps the process.
const made: MessagePort[] = [];
const { MessageChannel: NativeChannel } = globalThis;
globalThis.MessageChannel = class extends NativeChannel {
  constructor() {
    super();
    made.push(this.port1, this.port2);
  }
};
after(() => {
  for (const port of made) port.close();
});

interface Opened {
  readonly endpoint: Endpoint;
  readonly api?: Api;
  /** Those that nobody else closes. */
  readonly ports?: readonly { close(): unknown }[];
}
interface World {
  readonly name: string;
  readonly overPort?: true;
  /** Which of the cases, for each of them costs a thread. */
  readonly only?: RegExp;
  open(library: LibraryName): Opened | Promise<Opened>;
  close(): unknown;
}

/** One for each library that takes ports, or one for each case. */
class Workers {
  readonly #workers: Map<LibraryName, Worker> = new Map();
  readonly #all: Worker[] = [];

  start(library: LibraryName, itself: boolean): Worker {
    const known = itself ? undefined : this.#workers.get(library);
    if (known !== undefined) return known;
    const workerData: WorkerTask = { library, itself };
    const worker = new Worker(WORKER, { workerData });
    this.#workers.set(library, worker);
    this.#all.push(worker);
    return worker;
  }
  async end(): Promise<void> {
    for (const worker of this.#all.splice(0)) await worker.terminate();
    this.#workers.clear();
  }
}
const workers = new Workers();

const worlds: World[] = [
  {
    name: 'MessagePorts of one thread',
    open(name) {
      const { port1, port2 } = new MessageChannel();
      const { C } = libraries[name];
      const api = makeApi(C);
      C.expose(api, port1 as unknown as Endpoint);
      return { endpoint: port2 as unknown as Endpoint, api };
    },
    close: () => {},
  },
  {
    name: 'Ports of one thread',
    overPort: true,
    open(name) {
      const { port, remote } = channel();
      const { C } = libraries[name];
      const api = makeApi(C);
      C.expose(api, attach(remote) as unknown as Endpoint);
      return { endpoint: port as unknown as Endpoint, api, ports: [port] };
    },
    close: () => {},
  },
  {
    name: 'a MessagePort to a worker',
    open(name) {
      const { port1, port2 } = new MessageChannel();
      const message: WorkerMessage = { port: port2 };
      workers.start(name, false).postMessage(message, [port2 as never]);
      return { endpoint: port1 as unknown as Endpoint };
    },
    close: () => workers.end(),
  },
  {
    name: 'a Port to a worker',
    overPort: true,
    open(name) {
      const { port, remote } = channel();
      const message: WorkerMessage = { remote };
      workers.start(name, false).postMessage(message, remote.transfer as never);
      return { endpoint: port as unknown as Endpoint, ports: [port] };
    },
    close: () => workers.end(),
  },
  {
    name: 'a Worker',
    only: /^(reads values|sets|copies arguments|calls back|constructs|moves arguments|handlers|errors|releases: it)/,
    open: (name) => ({
      endpoint: libraries[name].nodeEndpoint(workers.start(name, true) as unknown as NodeEndpoint),
    }),
    close: () => workers.end(),
  },
];

async function lineOf(world: World, each: Case, by: LibraryName): Promise<string> {
  const { endpoint, api, ports = [] } = await world.open(by);
  try {
    return await resultOf(world, each, by, endpoint, api);
  } finally {
    for (const port of ports) port.close();
  }
}
async function resultOf(
  world: World,
  { name, run }: Case,
  by: LibraryName,
  endpoint: Endpoint,
  api: Api | undefined,
): Promise<string> {
  const came = Promise.resolve(run(stage(libraries[by].C, endpoint, api)));
  const pends = name in differences && by === 'comlink' && differences[name]!.comlink === undefined;
  // Of what is known to pend for ever it is enough to have waited for a while.
  if (pends) return show(await Promise.race([came, new Promise((resolve) => setTimeout(resolve, 100, undefined))]));
  return show(await within(`${by}, ${world.name}: ${name}`, came));
}

function plain(value: unknown): unknown {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || !('thrown' in value)) return value;
  return { thrown: plain(value.thrown) };
}
function show(value: unknown): string {
  return inspect(plain(value), { depth: 9, breakLength: Number.POSITIVE_INFINITY, compact: true });
}

for (const world of worlds) {
  // On Deno one of Comlink's messages over a native port to a worker is lost now and then.
  if (features().runtime === 'deno' && world.name === 'a MessagePort to a worker') continue;
  test(`over ${world.name}, all comes to the same`, async () => {
    const got: string[] = [];
    const expected: string[] = [];
    try {
      for (const each of cases) {
        if (world.only?.test(each.name) === false) continue;
        const [comlink, millrace] = [await lineOf(world, each, 'comlink'), await lineOf(world, each, 'millrace')];
        const difference = differences[each.name];
        const own = world.overPort === true ? overPort[each.name] : undefined;
        got.push(`${each.name}: ${comlink} | ${millrace}`);
        expected.push(
          own !== undefined && millrace !== 'undefined'
            ? `${each.name}: ${comlink} | ${show(own)}`
            : difference === undefined
              ? `${each.name}: ${comlink} | ${comlink}`
              : `${each.name}: ${show(difference.comlink)} | ${show(difference.millrace)}`,
        );
      }
    } finally {
      await world.close();
    }
    assert.ok(got.length > 5);
    const differs = (_: string, i: number): boolean => got[i] !== expected[i];
    assert.deepEqual(got.filter(differs), expected.filter(differs));
  });
}

test('what differs is a case, and stands in the guide', () => {
  const guide = readFileSync(GUIDE, 'utf8');
  for (const [name, { guide: words }] of Object.entries(differences)) {
    assert.ok(
      cases.some((it) => it.name === name),
      `no case is called "${name}"`,
    );
    assert.ok(guide.includes(words), `the guide does not say "${words}" (${name})`);
  }
});
