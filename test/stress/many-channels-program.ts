// Thousands of channels opened, used, dropped and closed in random order, to another thread and within this one, several times
// over: what they took is given back. Runs with a callable garbage collector. Arguments: channels a round, seed; prints `ok`.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import process from 'node:process';
import v8 from 'node:v8';
import { attach, channel, type Port, type Remote } from '../../src/index.ts';
import { ownAgent } from '../../src/link/own-agent.ts';
import { Random } from '../kit/prng.ts';
import { type Role, startThread } from '../kit/thread.ts';
import { STEP_MS, turn, within } from '../kit/watchdog.ts';

const [count, seed] = process.argv.slice(2).map(Number) as [number, number];
const ROUNDS = 4;
/** From so many open ones on, some end while others are opened. */
const OPEN_MANY = count / 2;
/** What a heap may breathe by, from the second round on. */
const HEAP_GROWTH_MAX = 4 * 2 ** 20;
const RSS_GROWTH_MAX = 96 * 2 ** 20;
/** Bun's collector takes what looks like a pointer on the stack for one: a few of many may stay for a while. */
const { Bun, gc } = globalThis as { Bun?: { gc(full: boolean): void }; gc?: () => void };
const STRAYS = Bun === undefined ? 0 : Math.ceil(count / 100);
const collect = (): void => (Bun === undefined ? gc?.() : Bun.gc(true));

interface LinkView {
  readonly members?: number;
}
const membersHere = (): number => ownAgent().links.reduce((sum, link) => sum + ((link as LinkView).members ?? 0), 0);

/** Has the other ends, does with them as it is told over the first channel, and echoes. */
const role: Role = async (stage) => {
  const { CLOSED, attach } = stage.millrace;
  const control = stage.port();
  const ports = new Map<number, Port>();
  const { Bun, gc } = globalThis as { Bun?: { gc(full: boolean): void }; gc?: () => void };
  // In a function of its own: a frame that waits may keep what its last turn had in hand.
  const obey = ({ do: what, id, remote }: { do: string; id: number; remote: unknown }): void => {
    const port = what === 'open' ? attach(remote) : ports.get(id);
    if (port === undefined) return;
    if (what === 'open') {
      ports.set(id, port);
      port.onmessage = ({ data }) => port.postMessage(data);
      return;
    }
    ports.delete(id);
    if (what === 'close') port.close();
    else port.onmessage = null;
  };
  for (;;) {
    const order = await control.receiveAsync();
    if (order === CLOSED) return;
    if (order !== 'count') {
      obey(order as Parameters<typeof obey>[0]);
      continue;
    }
    // What a weak reference has just given out stays until the turn is over.
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (Bun === undefined) gc?.();
    else Bun.gc(true);
    const symbol = Symbol.for('millrace.agent.agent/1');
    const agent = (globalThis as unknown as Record<symbol, { links: LinkView[] }>)[symbol]!;
    control.postMessage(agent.links.reduce((sum, { members }) => sum + (members ?? 0), 0));
  }
};

const control = channel();
const thread = startThread(role, { remote: control.remote });
await control.port.ready;
const order = (what: unknown, transfer: readonly unknown[] = []): void =>
  control.port.postMessage(what, transfer as never);

/** Turns with collections until both threads have as few channels as at the beginning. */
async function untilGone(): Promise<void> {
  const end = performance.now() + STEP_MS;
  for (;;) {
    await turn();
    collect();
    await turn();
    order('count');
    const there = (await within('the count', control.port.receiveAsync())) as number;
    // That of the control channel.
    if (membersHere() <= 1 + STRAYS && there <= 1 + STRAYS) return;
    if (performance.now() > end) throw new Error(`hang: ${membersHere()} channels here, ${there} there`);
  }
}

interface Taken {
  readonly descriptors: number;
  readonly heap: number;
  readonly rss: number;
  readonly natives: number;
}
function taken(): Taken {
  collect();
  const query = (v8 as { queryObjects?(of: unknown): number }).queryObjects;
  return {
    descriptors: existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0,
    heap: process.memoryUsage().heapUsed,
    rss: process.memoryUsage().rss,
    natives: Bun === undefined && query !== undefined && !('Deno' in globalThis) ? query(MessagePort) : 0,
  };
}

async function use(port: Port, value: unknown): Promise<void> {
  port.postMessage(value);
  assert.deepEqual(await within('the echo', port.receiveAsync()), value);
}

async function round(random: Random): Promise<void> {
  const open = new Map<number, { near: Port; far?: Port }>();
  const ids: number[] = [];
  const end = (id: number): void => {
    const { near, far } = open.get(id)!;
    open.delete(id);
    const there = random.pick(['close', 'drop', 'nothing']);
    if (far === undefined) {
      if (there !== 'nothing') order({ do: there, id });
      else order({ do: 'drop', id });
    } else if (there === 'close') far.close();
    if (random.chance(0.5)) near.close();
  };
  const work: Promise<void>[] = [];
  for (let id = 0; id < count; id++) {
    const { port, remote } = channel({ capacityBytes: 1024 });
    if (random.chance(0.7)) {
      open.set(id, { near: port });
      order({ do: 'open', id, remote }, remote.transfer);
    } else if (random.chance(0.9)) {
      const far = attach(remote as Remote);
      open.set(id, { near: port, far });
    }
    // Or its handle goes nowhere.
    else if (random.chance(0.5)) port.close();
    if (open.has(id)) ids.push(id);
    if (ids.length > 0 && random.chance(0.3)) {
      const { near, far } = open.get(random.pick(ids)) ?? {};
      if (near === undefined) continue;
      const value = random.pick([id, { id }, new Map([['id', id]])]);
      if (far === undefined) work.push(use(near, value));
      else {
        near.postMessage(value);
        assert.deepEqual(far.receive({ timeoutMs: STEP_MS }), value);
      }
    }
    if (work.length > 50) await Promise.all(work.splice(0));
    if (open.size > OPEN_MANY && random.chance(0.6)) {
      await Promise.all(work.splice(0));
      const at = random.int(0, ids.length - 1);
      end(ids[at]!);
      ids[at] = ids.at(-1)!;
      ids.pop();
    }
    if (id % 500 === 499) await turn();
  }
  await Promise.all(work);
  while (ids.length > 0) end(ids.splice(random.int(0, ids.length - 1), 1)[0]!);
}

const all: Taken[] = [];
for (let i = 0; i < ROUNDS; i++) {
  await round(new Random(seed, i));
  await untilGone();
  all.push(taken());
}
const [, second, , last] = all as [Taken, Taken, Taken, Taken];
const told = JSON.stringify(all);
assert.equal(last.descriptors, second.descriptors, told);
assert.ok(last.heap - second.heap < HEAP_GROWTH_MAX, told);
assert.ok(last.rss - second.rss < RSS_GROWTH_MAX, told);
assert.ok(last.natives <= second.natives, told);
control.port.close();
await thread.done();
console.log('ok');
process.exit(0);
