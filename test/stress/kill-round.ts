// One kill: a process that writes, reads or does both is killed with SIGKILL at a random moment, and all that this side has had of it is compared
// with what it had said by then.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { connect, fork, type Listener, listen, type Port } from '../../src/process/index.ts';
import { inOneFile } from '../kit/in-one-file.ts';
import type { Random } from '../kit/prng.ts';
import { until, within } from '../kit/watchdog.ts';
import { runtimeKind } from '../runtimes/program.ts';
import { type Finding, Ledger, PUBLISHING, Reading, Writing } from './kill-load.ts';
import type { Meeting, Role } from './kill-victim.ts';

const VICTIM = fileURLToPath(inOneFile(new URL('./kill-victim.js', import.meta.url)));
const RUN: readonly string[] = runtimeKind === 'deno' ? ['run', '-A', '--no-lock'] : [];

/** How two processes meet, by the name of the way that they are to go. */
export const TRANSPORTS: Readonly<Record<string, readonly ('socket' | 'tcp' | 'pipe')[]>> = {
  unix: ['socket'],
  tcp: ['tcp'],
  pipe: ['pipe'],
  memory: ['socket', 'pipe'],
};
/** Those that need no addon. */
export const SOCKETS: readonly string[] = ['unix', 'tcp', 'pipe'];

export interface Kill {
  readonly meets: 'socket' | 'tcp' | 'pipe';
  /** What `port.stats().way.name` is to be. */
  readonly way: string;
  readonly role: Role;
  readonly meeting: Meeting;
  /** It is killed while it begins. */
  readonly early: boolean;
  readonly waitMs: number;
  readonly turns: number;
}

export interface Played {
  /** Milliseconds from the kill until everybody who waited here was told, and all that had come was read; not of who was killed early. */
  readonly settleMs: number | undefined;
  /** Messages that came here, and that were written here. */
  readonly read: number;
  readonly posted: number;
  /** Of both directions together, messages that could not be lost any more. */
  readonly certain: number;
}

export class Wrong extends Error {
  readonly finding: Finding;
  constructor(finding: Finding, text: string) {
    super(`${finding}: ${text}`);
    this.finding = finding;
  }
}

export function drawKill(transport: string, way: string, random: Random): Kill {
  const meets = random.pick(TRANSPORTS[transport] as (typeof TRANSPORTS)[string]);
  const meeting = meets === 'pipe' ? 'child' : random.chance(0.25) ? 'listen' : 'connect';
  return {
    meets,
    way,
    role: random.pick(['writes', 'reads', 'both'] as const),
    meeting,
    early: meeting !== 'listen' && random.chance(0.05),
    waitMs: random.skewed(150),
    turns: random.skewed(20),
  };
}

/** What the victim has said, on its standard output and in its ledger. */
class Witness {
  readonly child: ChildProcess;
  readonly ledger: Ledger;
  /** It has ended, and all that it has said was read. */
  readonly gone: Promise<unknown>;
  readonly said = new Map<string, string>();
  #open = '';

  constructor(child: ChildProcess, ledger: Ledger) {
    this.child = child;
    this.ledger = ledger;
    this.gone = new Promise((resolve) => child.once('close', resolve));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#hear(text));
  }
  #hear(text: string): void {
    const lines = (this.#open + text).split('\n');
    this.#open = lines.pop() as string;
    for (const line of lines) {
      const [kind = '', word = ''] = line.split(' ');
      this.said.set(kind, word);
    }
  }
}

/** The two have met, or the victim has gone before that. */
interface Met {
  readonly witness: Witness;
  readonly port: Promise<Port | undefined>;
  readonly server: Listener | undefined;
}

/** Where a kill has its socket: of those with one job one is played at a time. */
export interface Site {
  readonly sockets: string;
  readonly ledgers: string;
  readonly index: number;
  readonly job: number;
}
/** What listens under it is killed; who comes next takes it over. */
export const deadName = (job: number): string => `dead${job}`;

/** @throws Wrong */
export async function playKill(kill: Kill, site: Site, random: Random): Promise<Played> {
  const met = await meet(kill, site);
  try {
    return await within('the end', kill.early ? killEarly(kill, met, random) : killAtWork(kill, met));
  } catch (error) {
    if (error instanceof Wrong) throw error;
    const { message } = error as Error;
    throw new Wrong(
      message.startsWith('hang:') ? 'hung' : 'broken',
      `${message}; it had said ${JSON.stringify([...met.witness.said])}`,
    );
  } finally {
    met.witness.child.kill('SIGKILL');
    met.port.then(
      (port) => port?.link?.close(),
      () => {},
    );
    await met.server?.close();
    await met.witness.gone;
  }
}

async function meet({ meets, way, meeting, role }: Kill, { sockets, ledgers, index, job }: Site): Promise<Met> {
  const path = join(ledgers, `${index}`);
  // On both sides: what is asked for is taken, or else it is told.
  const choice = { memory: !SOCKETS.includes(way) };
  const args = [meeting, role, way, path];
  const ledger = new Ledger(path);
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  if (meets === 'pipe') {
    const { port, child } = fork(VICTIM, { ...choice, args, child: { stdio } });
    return { witness: new Witness(child, ledger), port: Promise.resolve(port), server: undefined };
  }
  const name = meeting === 'listen' ? deadName(job) : `${index}`;
  const address = meets === 'tcp' ? 'tcp:127.0.0.1:0' : join(sockets, name);
  const server = meeting === 'listen' ? undefined : await listen(address, choice);
  const child = spawn(process.execPath, [...RUN, VICTIM, ...args, server?.address ?? address], {
    stdio: [...stdio],
  });
  const witness = new Witness(child, ledger);
  const port = server === undefined ? dialled(witness, choice) : taken(server);
  port.catch(() => {});
  return { witness, port, server };
}
async function dialled({ said }: Witness, choice: { memory: boolean }): Promise<Port> {
  await until('it listens', () => said.has('listens'));
  return connect(said.get('listens') as string, choice);
}
async function taken(server: Listener): Promise<Port | undefined> {
  for await (const port of server) return port;
  return undefined;
}

/** Nothing was said that could be lost; whoever waits is told all the same. */
async function killEarly(kill: Kill, { witness, port: given, server }: Met, random: Random): Promise<Played> {
  await new Promise((resolve) => setTimeout(resolve, random.int(0, 80)));
  witness.child.kill('SIGKILL');
  await witness.gone;
  void server?.close();
  const port = await given;
  if (port !== undefined) checkReason(kill, port, await port.closed);
  return { settleMs: undefined, read: 0, posted: 0, certain: 0 };
}

async function killAtWork(kill: Kill, { witness, port: given }: Met): Promise<Played> {
  const port = (await given) as Port;
  await port.ready;
  const way = port.stats().way?.name;
  if (way !== kill.way) throw new Wrong('way', `it goes by ${way}, not by ${kill.way}`);
  const reading = new Reading();
  const read = readAll(port, reading);
  const writing = new Writing(port);
  const written = kill.role === 'writes' ? port.flush().catch(() => {}) : writing.run();
  const all = Promise.all([port.closed, read, written, port.link?.closed]);
  all.catch(() => {});
  await until('it works', () => witness.said.has('way'));
  await new Promise((resolve) => setTimeout(resolve, kill.waitMs));
  for (let turns = kill.turns; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));

  const killedAt = performance.now();
  witness.child.kill('SIGKILL');
  const [reason, wrong] = await all;
  const settleMs = performance.now() - killedAt;
  await witness.gone;
  if (wrong !== undefined) throw new Wrong(wrong, 'here');
  checkReason(kill, port, reason);
  if (witness.said.get('way') !== kill.way) throw new Wrong('way', `over there it goes by ${witness.said.get('way')}`);
  compare(port, reading.count, writing, witness);
  return {
    settleMs,
    read: reading.count,
    posted: writing.posted,
    certain: writing.acknowledged + witness.ledger.read('certain'),
  };
}

/** @returns what was wrong first */
async function readAll(port: Port, reading: Reading): Promise<Finding | undefined> {
  let first: Finding | undefined;
  for await (const value of port) {
    const wrong = reading.take(value);
    first ??= wrong;
  }
  return first;
}

function checkReason({ meeting }: Kill, port: Port, reason: string): void {
  const exit = port.link?.exit;
  // Of a stranger nobody knows more than that it has gone.
  const fits =
    meeting === 'child'
      ? reason === 'terminated' && exit?.signal === 'SIGKILL'
      : reason === 'lost' && exit === undefined;
  if (!fits) throw new Wrong('reason', `it was told as ${reason}, ${JSON.stringify(exit)}: ${String(port.error)}`);
}

function compare(port: Port, read: number, { posted, acknowledged }: Writing, witness: Witness): void {
  const wrong = witness.said.get('wrong');
  if (wrong !== undefined) throw new Wrong(wrong as Finding, 'over there');
  const said = witness.ledger.read('certain');
  if (read < said) throw new Wrong('lost', `${read} messages were read, of ${said} that were acknowledged`);
  if (posted === 0) return;
  const there = witness.ledger.read('read');
  if (there > posted) throw new Wrong('duplicated', `it has read ${there} of ${posted}`);
  // Through memory it is known to be taken while it is still being handed out, and not only behind that.
  const handed = there + (PUBLISHING.has(port.stats().way?.name ?? '') ? 1 : 0);
  if (handed < acknowledged)
    throw new Wrong('lost', `it has read ${there} messages, of ${acknowledged} that it had acknowledged`);
  // What counts as delivered was read, and what counts as undelivered was never acknowledged.
  const { undelivered } = port.stats();
  const delivered = posted - undelivered;
  if (delivered > handed || delivered < acknowledged) {
    const text = `${undelivered} of ${posted} count as undelivered: ${there} were read, ${acknowledged} acknowledged`;
    throw new Wrong('uncounted', text);
  }
}
