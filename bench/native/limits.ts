// Physical limits: the same work in C++, so that every table shows how far away the floor is.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Contestant, Sample, Session, Setting } from '../contest.ts';
import { withDeadline } from '../deadline.ts';
import { expected, type LoadSpec, makeLoad } from '../loads.ts';
import { Pacer } from '../pacer.ts';
import { type Gauge, messagesPerSecond, microsecondsEach } from '../sessions.ts';
import { absentees, isWanted } from '../subjects/list.ts';
import { limitsProgram } from './compile.ts';

interface Answer {
  readonly seconds: number;
  readonly sum: number;
}

/** The program, answering one order after the other. */
class LimitsProcess {
  readonly #child: ChildProcess;
  #take: ((line: string) => void) | undefined;
  #text = '';

  constructor(program: string) {
    this.#child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdout!.setEncoding('utf8');
    this.#child.stdout!.on('data', (text: string) => {
      this.#text += text;
      const end = this.#text.indexOf('\n');
      if (end === -1) return;
      const line = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 1);
      this.#take?.(line);
    });
  }

  async order(text: string): Promise<Answer> {
    const line = new Promise<string>((resolve) => {
      this.#take = resolve;
    });
    this.#child.stdin!.write(`${text}\n`);
    const [seconds, sum] = (await withDeadline(line, 30_000, 'the C++ program did not answer')).split(' ');
    if (sum === undefined) throw new Error('the C++ program did not understand');
    return { seconds: Number(seconds), sum: Number(sum) };
  }

  stop(): void {
    this.#child.stdin!.end();
    this.#child.kill();
  }
}

class LimitSession implements Session {
  readonly #process: LimitsProcess;
  readonly #gauge: (count: number, answer: Answer) => number;
  readonly #sum: (count: number) => number;
  readonly #pacer: Pacer<Answer>;

  constructor(
    program: string,
    order: (count: number) => string,
    gauge: (count: number, answer: Answer) => number,
    sum: (count: number) => number,
  ) {
    this.#process = new LimitsProcess(program);
    this.#pacer = new Pacer((count) => this.#process.order(order(count)));
    this.#gauge = gauge;
    this.#sum = sum;
  }

  async round(ms: number): Promise<Sample> {
    const answer = await this.#pacer.fill(ms);
    const { count } = answer;
    return {
      value: this.#gauge(count, answer),
      checked: answer.sum === this.#sum(count),
      messages: count,
      wallMs: answer.seconds * 1000,
    };
  }

  stop(): void {
    this.#process.stop();
  }
}

function program(setting: Setting, subject: string): string | undefined {
  if (!isWanted(setting, subject) || setting.size === 'smoke') return undefined;
  const found = limitsProgram();
  if (typeof found === 'string') return found;
  absentees.set('cpp', { subject: 'cpp', ...found });
  return undefined;
}

/** Bytes one way: a ring of our design, and memcpy alone. */
export function limitBytes(setting: Setting, spec: LoadSpec, gauge: Gauge = messagesPerSecond): Contestant[] {
  const contestants: Contestant[] = [];
  const kinds = [
    ['cpp-ring', 'C++ ring of our design', 'ring'],
    ['cpp-memcpy', 'C++ memcpy, one thread', 'memcpy'],
  ] as const;
  for (const [subject, label, order] of kinds) {
    const path = program(setting, subject);
    if (!path) continue;
    contestants.push({
      subject,
      label,
      start: async () => {
        const load = makeLoad(spec);
        return new LimitSession(
          path,
          (count) => `${order} ${spec.size} ${load.stride} ${count}`,
          (count, { seconds }) => gauge(count, seconds, load),
          (count) => expected(load, count).sum,
        );
      },
    });
  }
  return contestants;
}

/** One word there and back: spinning, and sleeping in the kernel. */
export function limitTrips(setting: Setting): Contestant[] {
  const contestants: Contestant[] = [];
  const kinds = [
    ['cpp-spin', 'C++ threads, one word, spinning', 'spin'],
    ['cpp-futex', 'C++ threads, one word, futex', 'futex'],
  ] as const;
  for (const [subject, label, order] of kinds) {
    const path = program(setting, subject);
    if (!path || (order === 'futex' && process.platform !== 'linux')) continue;
    const load = makeLoad({ form: 'bytes', size: 4 });
    contestants.push({
      subject,
      label,
      start: async () =>
        new LimitSession(
          path,
          (count) => `${order} ${count}`,
          (count, { seconds }) => microsecondsEach(count, seconds, load),
          () => 0,
        ),
    });
  }
  return contestants;
}

/** Requests a second of one worker process with one stream, if a request were a word. */
export function limitRequests(setting: Setting): Contestant[] {
  const contestants: Contestant[] = [];
  const kinds = [
    ['cpp-shared', 'C++ processes, one word, spinning', 'shared'],
    ['cpp-eventfd', 'C++ processes, one word, asleep in read() on eventfds', 'eventfd'],
  ] as const;
  for (const [subject, label, order] of kinds) {
    const path = process.platform === 'linux' ? program(setting, subject) : undefined;
    if (!path) continue;
    const load = makeLoad({ form: 'bytes', size: 4 });
    contestants.push({
      subject,
      label,
      start: async () =>
        new LimitSession(
          path,
          (count) => `${order} ${count}`,
          (count, { seconds }) => messagesPerSecond(count, seconds, load),
          () => 0,
        ),
    });
  }
  return contestants;
}
