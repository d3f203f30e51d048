// One kill: a process that writes, reads or does both is killed with SIGKILL at a random moment, and all that this side has had of it is compared
// with what it had said by then. It may have a connection over each of several transports, each with a role of its own: that is a kill over each.
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

export interface Line {
  readonly meets: 'socket' | 'tcp' | 'pipe';
  /** What `port.stats().way.name` is to be; a process has one line of each. */
  readonly way: string;
  readonly role: Role;
  readonly meeting: Meeting;
}
export interface Kill {
  readonly lines: readonly Line[];
  /** It is killed while it begins. */
  readonly early: boolean;
  readonly waitMs: number;
  readonly turns: number;
}

export interface Played {
  /** Milliseconds from the kill until everybody who waited here for a line was told, and all that had come was read; none of who was killed early. */
  readonly settleMs: readonly number[];
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

/** @param ways of each line, with its transport; over a pipe one of them */
export function drawKill(ways: readonly (readonly [transport: string, way: string])[], random: Random): Kill {
  const lines: Line[] = [];
  const taken = ways.some(([transport]) => transport === 'pipe');
  for (const [transport, way] of ways) {
    const all = TRANSPORTS[transport] as (typeof TRANSPORTS)[string];
    const meets = random.pick(taken && all.length > 1 ? all.filter((each) => each !== 'pipe') : all);
    const meeting = meets === 'pipe' ? 'child' : random.chance(0.25) ? 'listen' : 'connect';
    lines.push({ meets, way, role: random.pick(['writes', 'reads', 'both'] as const), meeting });
  }
  return {
    lines,
    early: lines.every(({ meeting }) => meeting !== 'listen') && random.chance(0.05),
    waitMs: random.skewed(150),
    turns: random.skewed(20),
  };
}

/** The process that is killed, and what it has said on its standard output: of each line, by its way. */
class Witness {
  readonly child: ChildProcess;
  /** It has ended, and all that it has said was read. */
  readonly gone: Promise<unknown>;
  readonly said = new Map<string, string>();
  #open = '';

  constructor(child: ChildProcess) {
    this.child = child;
    this.gone = new Promise((resolve) => child.once('close', resolve));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#hear(text));
  }
  #hear(text: string): void {
    const lines = (this.#open + text).split('\n');
    this.#open = lines.pop() as string;
    for (const line of lines) {
      const [way = '', kind = '', word = ''] = line.split(' ');
      this.said.set(`${way} ${kind}`, word);
    }
  }
}

/** The two have met over a line, or the victim has gone before that. */
interface Met {
  readonly line: Line;
  readonly ledger: Ledger;
  readonly port: Promise<Port | undefined>;
  readonly server: Listener | undefined;
}

/** Where a kill has its sockets: of those with one job one is played at a time. */
export interface Site {
  readonly sockets: string;
  readonly ledgers: string;
  readonly index: number;
  readonly job: number;
}
/** What listens under it is killed; who comes next takes it over. */
export const deadName = (job: number, way: string): string => `dead${job}-${way}`;

/** @throws Wrong */
export async function playKill(kill: Kill, site: Site, random: Random): Promise<Played> {
  const { witness, mets } = await meet(kill, site);
  try {
    return await within('the end', kill.early ? killEarly(witness, mets, random) : killAtWork(kill, witness, mets));
  } catch (error) {
    if (error instanceof Wrong) throw error;
    const { message } = error as Error;
    throw new Wrong(
      message.startsWith('hang:') ? 'hung' : 'broken',
      `${message}; it had said ${JSON.stringify([...witness.said])}`,
    );
  } finally {
    witness.child.kill('SIGKILL');
    for (const { port, server } of mets) {
      port.then(
        (port) => port?.link?.close(),
        () => {},
      );
      await server?.close();
    }
    await witness.gone;
  }
}

/** On both sides: what is asked for is taken, or else it is told. */
export const choiceOf = (way: string): { memory: boolean } => ({ memory: !SOCKETS.includes(way) });

async function meet(
  { lines }: Kill,
  { sockets, ledgers, index, job }: Site,
): Promise<{ witness: Witness; mets: Met[] }> {
  const places = await Promise.all(
    lines.map(async (line) => {
      const { meets, way, meeting } = line;
      const name = meeting === 'listen' ? deadName(job, way) : `${index}-${way}`;
      const address = meets === 'tcp' ? 'tcp:127.0.0.1:0' : join(sockets, name);
      const server = meeting === 'connect' ? await listen(address, choiceOf(way)) : undefined;
      return { line, path: join(ledgers, `${index}-${way}`), server, address: server?.address ?? address };
    }),
  );
  const args = [JSON.stringify(places.map(({ line, path, address }) => ({ ...line, path, address })))];
  const child = lines.find(({ meeting }) => meeting === 'child');
  const forked =
    child && fork(VICTIM, { ...choiceOf(child.way), args, child: { stdio: ['ignore', 'pipe', 'inherit'] } });
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const witness = new Witness(
    forked?.child ?? spawn(process.execPath, [...RUN, VICTIM, ...args], { stdio: [...stdio] }),
  );
  const mets = places.map(({ line, path, server }) => {
    const port =
      line.meeting === 'child'
        ? Promise.resolve(forked?.port)
        : server === undefined
          ? dialled(witness, line)
          : taken(server);
    port.catch(() => {});
    return { line, ledger: new Ledger(path), port, server };
  });
  return { witness, mets };
}
async function dialled({ said }: Witness, { way }: Line): Promise<Port> {
  await until('it listens', () => said.has(`${way} listens`));
  return connect(said.get(`${way} listens`) as string, choiceOf(way));
}
async function taken(server: Listener): Promise<Port | undefined> {
  for await (const port of server) return port;
  return undefined;
}

/** Nothing was said that could be lost; whoever waits is told all the same. */
async function killEarly(witness: Witness, mets: readonly Met[], random: Random): Promise<Played> {
  await new Promise((resolve) => setTimeout(resolve, random.int(0, 80)));
  witness.child.kill('SIGKILL');
  await witness.gone;
  for (const { line, port: given, server } of mets) {
    void server?.close();
    const port = await given;
    if (port !== undefined) checkReason(line, port, await port.closed);
  }
  return { settleMs: [], read: 0, posted: 0, certain: 0 };
}

async function killAtWork({ waitMs, turns: most }: Kill, witness: Witness, mets: readonly Met[]): Promise<Played> {
  const works = await Promise.all(mets.map(begin));
  await until('it works', () => mets.every(({ line }) => witness.said.has(`${line.way} way`)));
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  for (let turns = most; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));

  const killedAt = performance.now();
  witness.child.kill('SIGKILL');
  const ends = await Promise.all(
    works.map(({ all }) => all.then(([reason, wrong]) => ({ reason, wrong, settleMs: performance.now() - killedAt }))),
  );
  await witness.gone;
  const sums = { read: 0, posted: 0, certain: 0 };
  for (const [i, { line, port, reading, writing, ledger }] of works.entries()) {
    const { reason, wrong } = ends[i] as (typeof ends)[number];
    if (wrong !== undefined) throw new Wrong(wrong, `here, over ${line.way}`);
    checkReason(line, port, reason);
    const way = witness.said.get(`${line.way} way`);
    if (way !== line.way) throw new Wrong('way', `over there it goes by ${way}, not by ${line.way}`);
    compare(port, reading.count, writing, ledger, witness.said.get(`${line.way} wrong`));
    sums.read += reading.count;
    sums.posted += writing.posted;
    sums.certain += writing.acknowledged + ledger.read('certain');
  }
  return { settleMs: ends.map(({ settleMs }) => settleMs), ...sums };
}

interface Work {
  readonly line: Line;
  readonly port: Port;
  readonly ledger: Ledger;
  readonly reading: Reading;
  readonly writing: Writing;
  /** Why it has ended, and what was wrong with what came, once everybody has been told. */
  readonly all: Promise<readonly [string, Finding | undefined, ...unknown[]]>;
}
async function begin({ line, port: given, ledger }: Met): Promise<Work> {
  const port = (await given) as Port;
  await port.ready;
  const way = port.stats().way?.name;
  if (way !== line.way) throw new Wrong('way', `it goes by ${way}, not by ${line.way}`);
  const reading = new Reading();
  const read = readAll(port, reading);
  const writing = new Writing(port);
  const written = line.role === 'writes' ? port.flush().catch(() => {}) : writing.run();
  const all = Promise.all([port.closed, read, written, port.link?.closed] as const);
  all.catch(() => {});
  return { line, port, ledger, reading, writing, all };
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

function checkReason({ meeting, way }: Line, port: Port, reason: string): void {
  const exit = port.link?.exit;
  // Of a stranger nobody knows more than that it has gone.
  const fits =
    meeting === 'child'
      ? reason === 'terminated' && exit?.signal === 'SIGKILL'
      : reason === 'lost' && exit === undefined;
  if (!fits)
    throw new Wrong('reason', `over ${way} it was told as ${reason}, ${JSON.stringify(exit)}: ${String(port.error)}`);
}

function compare(
  port: Port,
  read: number,
  { posted, acknowledged }: Writing,
  ledger: Ledger,
  wrong: string | undefined,
): void {
  if (wrong !== undefined) throw new Wrong(wrong as Finding, 'over there');
  const said = ledger.read('certain');
  if (read < said) throw new Wrong('lost', `${read} messages were read, of ${said} that were acknowledged`);
  if (posted === 0) return;
  const there = ledger.read('read');
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
