// Runs a suite of the other runtimes in a worker of this page: each of its tests is a check. The worker asks for threads, which only
// the page can start while it blocks (stand-ins/threads.ts). One that hangs is put away, and the next check gets another one.
import type { FromPage, ToPage } from '../stand-ins/threads.ts';
import { NOT_IN_PAGES } from '../suites/not-in-pages.ts';
import type { Asked, Told } from '../suites/offer.ts';
import { check, within } from './checks.ts';

/** Less than what a check may take. */
const TEST_SECONDS = 18;
/** Hundreds of kilobytes, and four threads, where other browsers start as well. */
const LOAD_SECONDS = 40;

class Suite {
  readonly names: Promise<readonly string[]>;
  readonly #worker: Worker;
  readonly #thread: string;
  readonly #threads = new Map<number, Worker>();
  #number = 0;
  #ran: ((told: Told) => void) | undefined;

  /**
   * @param threads that stand ready for each of its tests: stand-ins/threads.ts
   * @param thread their script
   */
  constructor(name: string, threads: number, thread: string) {
    this.#thread = thread;
    this.#worker = new Worker(`/suites/${name}.js`, { type: 'module', name });
    this.names = new Promise((resolve, reject) => {
      this.#worker.onerror = (event) => reject(new Error(event.message ?? 'the suite does not load'));
      this.#worker.onmessage = ({ data }: MessageEvent<Told & ToPage>) => {
        if (data.names !== undefined) resolve(data.names);
        else if (data.end !== undefined) this.#end(data.end);
        else this.#ran?.(data);
      };
    });
    for (let i = 0; i < threads; i++) this.#start();
  }
  #start(): void {
    const id = this.#number++;
    const thread = new Worker(`/suites/${this.#thread}.js`, { type: 'module', name: `thread ${id}` });
    const { port1, port2 } = new MessageChannel();
    this.#threads.set(id, thread);
    thread.onerror = (event) => {
      event.preventDefault();
      this.#say({ failed: { thread: id, message: event.message } });
    };
    thread.postMessage('a port', [port1]);
    this.#say({ thread: id }, [port2]);
  }
  #say(message: FromPage | Asked, transfer: Transferable[] = []): void {
    this.#worker.postMessage(message, transfer);
  }
  #end(id: number): void {
    this.#threads.get(id)?.terminate();
    this.#threads.delete(id);
    this.#say({ gone: id });
    this.#start();
  }
  async run(index: number): Promise<void> {
    const ran = new Promise<Told>((resolve) => {
      this.#ran = resolve;
    });
    this.#say({ run: index });
    const error = (await within('the test', ran, TEST_SECONDS)).ran?.error;
    if (error !== undefined) throw new Error(error);
  }
  close(): void {
    for (const thread of this.#threads.values()) thread.terminate();
    this.#worker.terminate();
  }
}

/** Makes a check of each test of a suite that can run here. */
export async function checkSuite(name: string, threads: number, thread = 'thread'): Promise<void> {
  let suite: Suite | undefined = new Suite(name, threads, thread);
  const names = await within('the suite', suite.names, LOAD_SECONDS);
  const left = NOT_IN_PAGES.filter((it) => it.suite === name);
  for (const { test } of left) if (!names.some((it) => test.test(it))) throw new Error(`not-in-pages.ts: ${test}`);
  for (const [i, it] of names.entries()) {
    if (left.some(({ test }) => test.test(it))) continue;
    check(it, async () => {
      if (suite === undefined) {
        suite = new Suite(name, threads, thread);
        await within('the suite again', suite.names, TEST_SECONDS);
      }
      try {
        await suite.run(i);
      } catch (error) {
        // It may be in the middle of something.
        suite.close();
        suite = undefined;
        throw error;
      }
    });
  }
}
