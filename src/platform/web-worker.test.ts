// The web's Worker as each runtime has it, played by an EventTarget: which of its signs count as the end of its thread.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START_WINDOW_MS } from '../limits.ts';
import { adoptWebWorker } from './web-worker.ts';

class FakeWorker extends EventTarget {
  readonly posted: unknown[] = [];
  terminated = 0;
  postMessage(message: unknown, transfer: readonly unknown[]): void {
    this.posted.push([message, transfer]);
  }
  terminate(): void {
    this.terminated++;
  }
  say(type: string, members: object = {}): void {
    this.dispatchEvent(Object.assign(new Event(type), members));
  }
}

function adopted(signs: { errorEnds: boolean; tellsClose: boolean }): { worker: FakeWorker; ended: unknown[][] } {
  const worker = new FakeWorker();
  const ended: unknown[][] = [];
  adoptWebWorker(worker, 'data', [], (how, error) => ended.push([how, error]), signs);
  assert.equal(worker.posted.length, 1, 'the start data');
  return { worker, ended };
}
const error = new Error('uncaught');

test('where a Worker tells of its end, that and no call is the end', () => {
  const { worker, ended } = adopted({ errorEnds: true, tellsClose: true });
  worker.terminate();
  assert.equal(worker.terminated, 1);
  assert.deepEqual(ended, []);
  worker.say('close', { code: 0 });
  assert.deepEqual(ended, [[undefined, undefined]]);
});

test('a close code above 1 is an exit, and one behind an error a crash by the first error', () => {
  for (const [code, how] of [
    [0, undefined],
    [1, undefined],
    [2, 'exit'],
  ] as const) {
    const { worker, ended } = adopted({ errorEnds: true, tellsClose: true });
    worker.say('close', { code });
    assert.deepEqual(ended, [[how, undefined]]);
  }
  const { worker, ended } = adopted({ errorEnds: true, tellsClose: true });
  worker.say('error', { error });
  worker.say('error', { error: new Error('a later one') });
  assert.deepEqual(ended, [], 'it has not ended yet');
  worker.say('close', { code: 1 });
  assert.deepEqual(ended, [['crash', error]]);
});

test('where it does not tell, terminate() is the end, and an error where that ends it', () => {
  const { worker, ended } = adopted({ errorEnds: false, tellsClose: false });
  worker.say('close', { code: 2 });
  worker.say('error', { error });
  assert.deepEqual(ended, []);
  worker.terminate();
  assert.equal(worker.terminated, 1);
  assert.deepEqual(ended, [[undefined, undefined]]);
  const other = adopted({ errorEnds: true, tellsClose: false });
  other.worker.say('error', { error });
  assert.deepEqual(other.ended, [['crash', error]]);
});

test('an error that came as a text only is made one', () => {
  const { worker, ended } = adopted({ errorEnds: true, tellsClose: false });
  worker.say('error', { error: null, message: 'Uncaught: boom' });
  assert.deepEqual(ended, [['crash', new Error('Uncaught: boom')]]);
});

/** One whose errors end no thread, but may say that it never began. */
function adoptedUnsure(opened: boolean): { worker: FakeWorker; ended: unknown[][]; asked: () => number } {
  const worker = new FakeWorker();
  const ended: unknown[][] = [];
  let asked = 0;
  const forsake = (): boolean => {
    asked++;
    return !opened;
  };
  const signs = { errorEnds: false, tellsClose: false };
  adoptWebWorker(worker, 'data', [], (how, thrown) => ended.push([how, thrown]), signs, forsake);
  return { worker, ended, asked: () => asked };
}

test('an error event without an error is of a script that did not load, unless the worker has opened its end', () => {
  const { worker, ended } = adoptedUnsure(false);
  worker.say('error');
  assert.equal(ended[0]?.[0], 'crash');
  assert.match(String(ended[0]?.[1]), /did not load/);
  const opened = adoptedUnsure(true);
  opened.worker.say('error');
  assert.deepEqual([opened.ended, opened.asked()], [[], 1]);
});

test('an uncaught error counts if the worker has not opened its end a while later, and said nothing', async () => {
  const spoken = adoptedUnsure(false);
  spoken.worker.say('message');
  spoken.worker.say('error', { error, message: 'uncaught' });
  const { worker, ended } = adoptedUnsure(false);
  worker.say('error', { error, message: 'uncaught' });
  assert.deepEqual(ended, []);
  // Behind the timers of both.
  await new Promise((resolve) => setTimeout(resolve, START_WINDOW_MS));
  assert.deepEqual(ended, [['crash', error]]);
  assert.deepEqual([spoken.ended, spoken.asked()], [[], 0]);
});
