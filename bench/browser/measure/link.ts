// The page's hold on the workers of one contender: starts them, opens a channel, and has its ends do their tasks.
import { withDeadline } from '../../deadline.ts';
import { type Load, type LoadSpec, makeLoad } from '../../loads.ts';
import { type Done, Player, type Task } from './player.ts';
import { rivalUrl } from './rivals.ts';
import type { Handed, PageEnd, PageSubject, Place, Terms } from './subject.ts';
import { HELLO, type Order, type Reply } from './worker.ts';

const START_MS = 30_000;

/** An end and its thread. */
interface Hand {
  /** Resolves when the end is about to begin; `done` when it has done it. */
  begin(task: Task, load?: Load): Promise<{ readonly done: Promise<Done> }>;
}

class WorkerHand implements Hand {
  readonly worker: Worker;
  readonly #control: MessagePort;
  readonly #started: Promise<unknown>;
  readonly #waiting = new Map<Reply['re'], { resolve(reply: Reply): void; reject(error: Error): void }>();
  #broken: Error | undefined;

  constructor(subject: PageSubject) {
    const { port1, port2 } = new MessageChannel();
    this.#control = port1;
    this.worker = subject.worker();
    this.#started = new Promise<void>((resolve) => {
      const hear = ({ data }: MessageEvent): void => {
        if (data !== HELLO) return;
        this.worker.removeEventListener('message', hear);
        this.worker.postMessage(port2, [port2]);
        resolve();
      };
      this.worker.addEventListener('message', hear);
    });
    this.worker.addEventListener('error', ({ message }) =>
      this.#fail(new Error(message || 'the worker does not load')),
    );
    port1.onmessage = ({ data }: MessageEvent<Reply>) => {
      if (data.re === 'failed') return this.#fail(new Error(data.message));
      this.#waiting.get(data.re)?.resolve(data);
      this.#waiting.delete(data.re);
    };
  }

  /** @returns the other end, where this worker has made the channel */
  async open(spec: LoadSpec, terms: Terms, far: Handed | undefined): Promise<Handed | undefined> {
    const opened = this.#expect('opened');
    const failed = opened.catch((error: Error) => Promise.reject(error));
    await withDeadline(Promise.race([this.#started, failed]), START_MS, 'the worker did not start');
    this.#tell({ open: { spec, terms, far } }, far?.transfer);
    const reply = await withDeadline(opened, START_MS, 'the worker did not open its end');
    return (reply as { far?: Handed }).far;
  }

  async begin(task: Task): Promise<{ readonly done: Promise<Done> }> {
    const ready = this.#expect('ready');
    const done = this.#expect('done').then((reply) => (reply as { done: Done }).done);
    done.catch(() => {});
    this.#tell({ task });
    await ready;
    return { done };
  }

  stop(): void {
    this.#fail(new Error('stopped'));
    this.#control.close();
    this.worker.terminate();
  }

  #tell(order: Order, transfer: readonly unknown[] = []): void {
    this.#control.postMessage(order, transfer as Transferable[]);
  }

  #expect(what: Reply['re']): Promise<Reply> {
    if (this.#broken) return Promise.reject(this.#broken);
    return new Promise((resolve, reject) => this.#waiting.set(what, { resolve, reject }));
  }

  #fail(error: Error): void {
    this.#broken ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

class PageHand implements Hand {
  readonly #player: Player;

  constructor(player: Player) {
    this.#player = player;
  }

  async begin(task: Task, load?: Load): Promise<{ readonly done: Promise<Done> }> {
    return { done: this.#player.play(task, load) };
  }
}

/** An open channel of a contender. `near` is the page, or the worker that asks the other one. */
export interface Link {
  readonly near: Hand;
  readonly far: Hand;
  readonly load: Load;
  stop(): void;
}

/**
 * Starts a contender's worker, or two of them, and opens a channel.
 * @param spec the messages; a worker makes its own pool of them
 */
export async function openLink(subject: PageSubject, place: Place, spec: LoadSpec): Promise<Link> {
  const workers: WorkerHand[] = [];
  const ends: PageEnd[] = [];
  const stop = (): void => {
    for (const end of ends) void end.close();
    for (const hand of workers) hand.stop();
  };
  const start = (): WorkerHand => {
    const hand = new WorkerHand(subject);
    workers.push(hand);
    return hand;
  };
  const terms = (blocks: boolean): Terms => ({ blocks, way: subject.way, url: rivalUrl(subject.rival) });
  const [nearWay, farWay] = subject.wait[place].split('/');
  const load = makeLoad(spec);
  try {
    const far = start();
    const farTerms = terms(farWay === 'block');
    if (place === 'workers') {
      const near = start();
      await far.open(spec, farTerms, await near.open(spec, terms(nearWay === 'block'), undefined));
      return { near, far, load, stop };
    }
    const connected = await subject.kit.connect(terms(false), far.worker);
    ends.push(connected.end);
    await far.open(spec, farTerms, connected.far);
    return { near: new PageHand(new Player(connected.end, load, false)), far, load, stop };
  } catch (error) {
    stop();
    throw error;
  }
}
