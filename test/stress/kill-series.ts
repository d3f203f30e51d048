// Many kills over a transport, or over several at once, some at a time, and what is left behind them all.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { listen } from '../../src/process/index.ts';
import { Random } from '../kit/prng.ts';
import { until } from '../kit/watchdog.ts';
import { belongings, collect, more } from './kill-left.ts';
import type { Finding } from './kill-load.ts';
import { deadName, drawKill, type Kill, playKill, Wrong } from './kill-round.ts';

export interface Series {
  /** Or several, with a `+` between them: then each process that was killed had a connection over each. */
  readonly transport: string;
  readonly way: string;
  readonly kills: number;
  /** Of these, what was killed writing, reading, doing both; and while it began. */
  readonly roles: Readonly<Record<string, number>>;
  readonly messages: { readonly read: number; readonly posted: number; readonly certain: number };
  readonly settleMs: { readonly median: number; readonly p99: number; readonly max: number };
  readonly found: Readonly<Record<Finding, number>>;
  /** What was found, in words, with the seed and the number that repeat it. */
  readonly texts: readonly string[];
}

export interface SeriesOptions {
  readonly transport: string;
  /** Which way each is to go; otherwise each its own. */
  readonly way?: string | undefined;
  readonly kills: number;
  readonly seed: number;
  /** At a time. */
  readonly jobs: number;
}

/** Never rejects for what it finds. */
export async function playSeries({ transport, way, kills, seed, jobs }: SeriesOptions): Promise<Series> {
  const transports = transport.split('+');
  const ways = transports.map((each) => [each, way ?? each] as const);
  const sockets = mkdtempSync(join(tmpdir(), 'millrace-kills-'));
  const ledgers = mkdtempSync(join(tmpdir(), 'millrace-ledgers-'));
  const found: Record<Finding, number> = {
    ...{ lost: 0, duplicated: 0, torn: 0, hung: 0, broken: 0, reason: 0, way: 0, left: 0, uncounted: 0 },
  };
  const texts: string[] = [];
  const note = (finding: Finding, text: string): void => {
    found[finding]++;
    texts.push(text);
  };
  const roles: Record<string, number> = {};
  const messages = { read: 0, posted: 0, certain: 0 };
  const times: number[] = [];
  const play = async (index: number, job: number): Promise<void> => {
    const random = new Random(seed, index);
    const kill = drawKill(ways, random);
    try {
      const { settleMs, ...counts } = await playKill(kill, { sockets, ledgers, index, job }, random);
      for (const kind of ['read', 'posted', 'certain'] as const) messages[kind] += counts[kind];
      for (const line of kill.lines) {
        const role = kill.early ? 'beginning' : line.role;
        roles[role] = (roles[role] ?? 0) + 1;
      }
      times.push(...settleMs);
    } catch (error) {
      note(error instanceof Wrong ? error.finding : 'broken', wordsOf(error as Error, kill, seed, index));
    }
  };

  // What a runtime opens once is none of a kill's.
  await play(Number(process.env['CASE'] ?? 0), 0);
  await freed(sockets, 0, ways);
  const before = belongings(sockets);
  let next = 1;
  const work = async (_: unknown, job: number): Promise<void> => {
    while (next < kills && process.env['CASE'] === undefined) await play(next++, job);
  };
  await Promise.all(Array.from({ length: jobs }, work));
  for (let job = 0; job < jobs; job++) await freed(sockets, job, ways);
  let left = more(before, belongings(sockets));
  const none = (): boolean => {
    collect();
    left = more(before, belongings(sockets));
    return left.descriptors <= 0 && left.segments <= 0 && left.files <= 0;
  };
  await until('all is given back', none, 10).catch(() =>
    note('left', `${transport}: left behind: ${JSON.stringify(left)}`),
  );
  for (const folder of [sockets, ledgers]) rmSync(folder, { recursive: true, force: true });
  return { transport, way: way ?? transport, kills, roles, messages, settleMs: figures(times), found, texts };
}

function wordsOf(error: Error, kill: Kill, seed: number, index: number): string {
  return `${error.message}\n  ${JSON.stringify(kill)}, repeat with SEED=${seed} CASE=${index}`;
}

/** The names of a job's last listeners that were killed are taken over, and go. */
async function freed(folder: string, job: number, ways: readonly (readonly [string, string])[]): Promise<void> {
  for (const [, way] of ways) await (await listen(join(folder, deadName(job, way)))).close();
}

function figures(times: number[]): Series['settleMs'] {
  const sorted = times.sort((a, b) => a - b);
  const at = (part: number): number =>
    Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1));
  return { median: at(0.5), p99: at(0.99), max: at(1) };
}
