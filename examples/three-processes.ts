// `npm run demo:processes`: three processes count primes, one of them is killed in the middle of a question, and the count goes on. Every question is
// answered once.
import { once } from 'node:events';
import process from 'node:process';
import { type Forked, fork, parentPort } from '../src/process/index.ts';
import { bold, dim, green, heading, red, say } from './screen.ts';

interface Question {
  readonly id: number;
  readonly below: number;
}
interface Answer extends Question {
  readonly primes: number;
}

const NAMES: readonly string[] = ['Ada', 'Bela', 'Cleo'];
const QUESTIONS = 12;
/** The one in whose middle its process is killed. */
const FATAL = 5;

// ---- a process that counts ---------------------------------------------------------------------------------------

function count(): void {
  const port = parentPort<Question, Answer | 'ready'>();
  port.postMessage('ready');
  port.onmessage = ({ data: { id, below } }) => port.postMessage({ id, below, primes: primesBelow(below) });
}

function primesBelow(below: number): number {
  const crossed = new Uint8Array(below);
  let primes = 0;
  for (let i = 2; i < below; i++) {
    if (crossed[i] === 1) continue;
    primes++;
    for (let j = i * i; j < below; j += i) crossed[j] = 1;
  }
  return primes;
}

// ---- the one that asks -------------------------------------------------------------------------------------------

const tell = (name: string, text: string): void => say(`${bold(name.padEnd(6))}${text}`);
const figure = (value: number): string => value.toLocaleString('en').padStart(9);
const since = (start: number): string => dim(`${(performance.now() - start).toFixed(1)} ms`);

async function started(name: string): Promise<Forked<Answer | 'ready', Question>> {
  const start = performance.now();
  const forked = fork<Answer | 'ready', Question>(new URL(import.meta.url), { args: ['count'] });
  await forked.port.receiveAsync();
  const { name: way, why } = forked.port.stats().way ?? {};
  tell(
    name,
    `is process ${forked.child.pid} and talks by ${way}${why === undefined ? '' : dim(` (${why})`)}  ${since(start)}`,
  );
  return forked;
}

/** Asks a process what is open; who dies over a question is followed by another one, which is asked that again. */
async function ask(name: string, open: Question[], answers: Answer[]): Promise<void> {
  let { port, child } = await started(name);
  let question = open.shift();
  while (question !== undefined) {
    port.postMessage(question);
    if (question.id === FATAL && !killed) {
      killed = true;
      await port.flush();
      tell(
        name,
        red(
          `has the primes below ${question.below.toLocaleString('en')} to count, and is killed: kill -9 ${child.pid}`,
        ),
      );
      child.kill('SIGKILL');
    }
    const start = performance.now();
    const answer = await port.receiveAsync();
    if (typeof answer === 'object') {
      answers.push(answer);
      tell(name, `${green(figure(answer.primes))} primes below ${figure(answer.below)}  ${since(start)}`);
      question = open.shift();
      continue;
    }
    tell(name, `${red(`is gone, says its port: ${port.reason}, ${port.link?.exit?.signal}`)}  ${since(start)}`);
    ({ port, child } = await started(name));
  }
  port.close();
  await once(child, 'exit');
}
let killed = false;

async function demo(): Promise<void> {
  heading(`Process ${process.pid} starts three more, and asks them how many primes there are`);
  const open = Array.from({ length: QUESTIONS }, (_, i) => ({ id: i + 1, below: 500_000 * (i + 1) }));
  const answers: Answer[] = [];
  await Promise.all(NAMES.map((name) => ask(name, open, answers)));
  const ids = new Set(answers.map(({ id }) => id));
  if (!killed || ids.size !== QUESTIONS || answers.length !== QUESTIONS)
    throw new Error(`${answers.length} answers to ${ids.size} of ${QUESTIONS} questions`);
  heading(
    `${QUESTIONS} questions, ${QUESTIONS} answers, each once; one process was killed, and nobody has waited for it`,
  );
}

if (process.argv[2] === 'count') count();
else await demo();
