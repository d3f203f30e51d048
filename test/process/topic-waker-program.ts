// Has a topic whose readers are woken by a thread, made by the package as it is shipped: that thread is made of a text there. Says whether it runs.
import process from 'node:process';
import { KNOCK_WORDS, RUNS } from '../../src/wait/knocks.ts';
import { until } from '../kit/watchdog.ts';

const made: Int32Array[] = [];
globalThis.SharedArrayBuffer = new Proxy(SharedArrayBuffer, {
  construct(target, args: [number]) {
    const memory = new target(...args);
    made.push(new Int32Array(memory));
    return memory;
  },
});
const door = (name: string): Promise<unknown> => import(new URL(`../../lib/${name}.js`, import.meta.url).href);
const { processMemory } = (await door('process')) as typeof import('../../src/process/index.ts');
const { createTopic } = (await door('topic')) as typeof import('../../src/topic/index.ts');

const topic = createTopic({ memory: processMemory(), wakes: 'thread' });
await until('it runs', () => made.some((words) => words.length === KNOCK_WORDS && Atomics.load(words, RUNS) === 1), 20);
topic.close();
process.stdout.write('runs');
