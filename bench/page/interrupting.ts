// The section in which an interpreter is interrupted: its worker is the same from the first program to the last.
import { features, type Port, spawn } from '../../src/index.ts';
import { byId, count, digits, duration, make } from './dom.ts';
import { PROGRAMS } from './interpreter.ts';
import type { Answer, Job, Stop } from './interpreter-worker.ts';

interface Running {
  readonly id: number;
  readonly started: number;
  interruptedAt?: number;
}

/** Wires the section; the worker starts with the first program. */
export function interrupting(): void {
  const program = byId<HTMLTextAreaElement>('program');
  const choice = byId<HTMLSelectElement>('programs');
  const run = byId<HTMLButtonElement>('run');
  const interrupt = byId<HTMLButtonElement>('interrupt');
  const nativeStop = byId<HTMLButtonElement>('native-stop');
  const [state, output, stopTime, jobsDone, unheard] = ['state', 'output', 'stop-time', 'jobs-done', 'unheard'].map(
    (id) => byId(id),
  );
  const { memory } = features();
  byId('interrupt-way').textContent = memory
    ? 'The worker runs its program in one go and never returns to its event loop, so no message reaches it. It looks at port.interrupted, one atomic load, after each loop of the program.'
    : 'Without shared memory there is no word to look at: here the worker interrupts itself every 10 ms to hear whether it is to stop, and the interpreter runs slower for it.';

  for (const { name, text } of PROGRAMS) choice.append(make('option', { value: text }, name));
  program.value = PROGRAMS[0].text;
  choice.addEventListener('change', () => {
    program.value = choice.value;
  });

  let worker: Worker | undefined;
  let port: Port | undefined;
  let running: Running | undefined;
  let jobs = 0;
  let sent = 0;

  const show = (): void => {
    run.disabled = running !== undefined;
    interrupt.disabled = running === undefined;
    nativeStop.disabled = running === undefined;
  };
  const onAnswer = ({ id, steps, output: text, outcome, failed, heard }: Answer): void => {
    if (running?.id !== id) return;
    const ms = performance.now() - running.started;
    output.textContent = text || '(nothing)';
    unheard.textContent = sent === 0 ? 'none sent' : `${sent} sent, ${heard} heard`;
    const rate = `${count(steps)} steps, ${digits(steps / ms / 1000)} million a second`;
    if (outcome === undefined && failed === undefined) {
      state.textContent = `running: ${rate}`;
      return;
    }
    const { interruptedAt } = running;
    running = undefined;
    state.textContent = failed ?? `${outcome?.stopped ? 'interrupted' : 'ended'} after ${rate}`;
    if (failed === undefined) jobsDone.textContent = String(++jobs);
    if (outcome?.stopped && interruptedAt !== undefined)
      stopTime.textContent = duration(performance.now() - interruptedAt);
    show();
  };
  const open = (): Port => {
    if (port !== undefined) return port;
    const spawned = spawn(
      () => new Worker(new URL('./interpreter-worker.js', import.meta.url), { type: 'module', name: 'interpreter' }),
    );
    worker = spawned.worker as Worker;
    spawned.port.onmessage = ({ data }) => onAnswer(data as Answer);
    spawned.port.closed.then((reason) => {
      state.textContent = `the worker has ended: ${reason}`;
      port = running = undefined;
      show();
    });
    port = spawned.port;
    return port;
  };

  let id = 0;
  run.addEventListener('click', async () => {
    run.disabled = true;
    state.textContent = 'starting';
    const here = open();
    try {
      await here.ready;
    } catch {
      // It has not started: `closed` above has said so.
      return show();
    }
    running = { id: ++id, started: performance.now() };
    sent = 0;
    unheard.textContent = 'none sent';
    stopTime.textContent = '–';
    here.postMessage({ id, program: program.value } satisfies Job);
    state.textContent = 'running';
    show();
  });
  interrupt.addEventListener('click', () => {
    if (running === undefined) return;
    running.interruptedAt ??= performance.now();
    if (memory) port?.interrupt(running.id);
    else port?.postMessage({ stop: running.id } satisfies Stop);
  });
  nativeStop.addEventListener('click', () => {
    worker?.postMessage('stop');
    unheard.textContent = `${++sent} sent, none heard so far`;
  });
  show();
}
