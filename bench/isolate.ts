// A contestant in a process of its own, so that its peak memory is its own. The child plans the same row, finds the
// same contestant, and runs it on orders from stdin: one line in, one line out.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Contestant, Sample, Session, Setting } from './contest.ts';
import { withDeadline } from './deadline.ts';
import { ownCommand } from './runtimes.ts';

/** Answers begin with this: runtimes print warnings of their own. */
export const MARK = '#millrace-bench ';

export interface IsolatedOrder {
  readonly scenario: string;
  readonly row: string;
  readonly subject: string;
  readonly setting: Setting;
}

class IsolatedSession implements Session {
  readonly #child: ChildProcess;
  #take: ((answer: { sample?: Sample; error?: string }) => void) | undefined;
  #text = '';

  constructor(order: IsolatedOrder) {
    const [executable, ...args] = ownCommand('isolated.js');
    this.#child = spawn(executable, [...args, JSON.stringify(order)], { stdio: ['pipe', 'pipe', 'inherit'] });
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

export function isolated(contestant: Contestant, order: Omit<IsolatedOrder, 'subject'>): Contestant {
  const { subject, label, wait } = contestant;
  return { subject, label, ...(wait && { wait }), start: async () => new IsolatedSession({ ...order, subject }) };
}
