// A contestant in a process of its own, so that its memory, its handles and its compiled code are its own. The child plans
// the same row, finds the same contestant, and runs it on orders from stdin: one line in, one line out.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Contestant, Sample, Session, Setting } from './contest.ts';
import { withDeadline } from './deadline.ts';
import { ownCommand } from './runtimes.ts';

/** Answers begin with this: runtimes print warnings of their own. */
export const MARK = '#millrace-bench ';

/** Lets the child call its garbage collector; on Bun it always may. */
const COLLECTOR_FLAG = process.versions['bun']
  ? []
  : [process.versions['deno'] ? '--v8-flags=--expose-gc' : '--expose-gc'];

export interface IsolatedOrder {
  readonly scenario: string;
  readonly row: string;
  readonly subject: string;
  readonly setting: Setting;
}

/** Which rows were asked for is settled: the child has them all, for some are needed beside others. */
function whole(order: IsolatedOrder): IsolatedOrder {
  return { ...order, setting: { ...order.setting, payloads: [] } };
}

class IsolatedSession implements Session {
  readonly #child: ChildProcess;
  #take: ((answer: { sample?: Sample; error?: string }) => void) | undefined;
  #text = '';

  constructor(order: IsolatedOrder) {
    const [executable, ...args] = ownCommand('isolated.js', COLLECTOR_FLAG);
    this.#child = spawn(executable, [...args, JSON.stringify(whole(order))], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdout!.setEncoding('utf8');
    this.#child.stdout!.on('data', (text: string) => this.#read(text));
    this.#child.on('exit', () => this.#take?.({ error: 'the process of its own ended' }));
  }

  #read(text: string): void {
    this.#text += text;
    for (let end = this.#text.indexOf('\n'); end !== -1; end = this.#text.indexOf('\n')) {
      const line = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 1);
      if (line.startsWith(MARK)) this.#take?.(JSON.parse(line.slice(MARK.length)));
    }
  }

  async round(ms: number): Promise<Sample> {
    const answer = new Promise<{ sample?: Sample; error?: string }>((resolve) => {
      this.#take = resolve;
    });
    this.#child.stdin!.write(`${ms}\n`);
    const { sample, error } = await withDeadline(answer, 60_000, 'the process of its own did not answer');
    if (!sample) throw new Error(error ?? 'no sample');
    return sample;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin!.end();
    await withDeadline(ended, 3_000, 'the process of its own did not end').catch(() => this.#child.kill('SIGKILL'));
  }
}

type Order = Omit<IsolatedOrder, 'subject'>;

/** Who it is, for a contestant that runs elsewhere. */
function namesOf({ subject, label, note, wait }: Contestant): Omit<Contestant, 'start'> {
  return { subject, label, ...(note !== undefined && { note }), ...(wait && { wait }) };
}

/** The contestant in a process of its own, which lives for the whole row. */
export function isolated(contestant: Contestant, order: Order): Contestant {
  const start = async (): Promise<Session> => new IsolatedSession({ ...order, subject: contestant.subject });
  return { ...namesOf(contestant), start };
}

/** The contestant in a new process for each round, so that nothing is ever warm. */
export function isolatedEachRound(contestant: Contestant, order: Order): Contestant {
  const round = async (ms: number): Promise<Sample> => {
    const session = new IsolatedSession({ ...order, subject: contestant.subject });
    try {
      return await session.round(ms);
    } finally {
      await session.stop();
    }
  };
  return { ...namesOf(contestant), start: async () => ({ cold: true, round, stop: () => {} }) };
}

/**
 * The contestant, and in every round, just before or after, itself in another row: the figure of that row stands beside
 * its own as `name`.
 */
export function besideItself(contestant: Contestant, order: Order, row: string, name: string): Contestant {
  const start = async (): Promise<Session> => {
    const own = new IsolatedSession({ ...order, subject: contestant.subject });
    const other = new IsolatedSession({ ...order, row, subject: contestant.subject });
    let turn = 0;
    return {
      round: async (ms) => {
        const otherFirst = turn++ % 2 === 0;
        const before = otherFirst ? await other.round(ms) : undefined;
        const sample = await own.round(ms);
        const { value, checked } = before ?? (await other.round(ms));
        return { ...sample, checked: sample.checked && checked, extra: { ...sample.extra, [name]: value } };
      },
      stop: async () => {
        await own.stop();
        await other.stop();
      },
    };
  };
  return { ...namesOf(contestant), start };
}
