// What all workers of contenders have in common: they take orders over a port of their own, so that the worker's own channel stays
// free for the contender whose channel it is.
import { type LoadSpec, makeLoad } from '../../loads.ts';
import { type Done, Player, type Task } from './player.ts';
import type { Connected, Handed, Kit, Terms } from './subject.ts';

export type Order =
  /** Without `far` this worker makes the channel, and hands over the other end. */
  | { readonly open: { readonly spec: LoadSpec; readonly terms: Terms; readonly far: Handed | undefined } }
  | { readonly task: Task };

export type Reply =
  | { readonly re: 'opened'; readonly far?: Handed }
  | { readonly re: 'ready' }
  | { readonly re: 'done'; readonly done: Done }
  | { readonly re: 'failed'; readonly message: string };

/** What a worker says when it listens: what is posted before is lost where a module awaits something. */
export const HELLO = 'hello';

/** The library of a page's types has no DedicatedWorkerGlobalScope. */
const scope = globalThis as unknown as EventTarget & { postMessage(value: unknown): void };

/** Serves one contender in this worker: once, for one channel. */
export function takeOrders(kit: Kit): void {
  const begin = (event: Event): void => listen(kit, (event as MessageEvent<MessagePort>).data);
  scope.addEventListener('message', begin, { once: true });
  scope.postMessage(HELLO);
}

function listen(kit: Kit, control: MessagePort): void {
  let player: Player | undefined;
  const tell = (reply: Reply, transfer: readonly unknown[] = []): void =>
    control.postMessage(reply, transfer as Transferable[]);
  const obey = async (order: Order): Promise<void> => {
    if ('task' in order) {
      await player!.end.ready;
      tell({ re: 'ready' });
      tell({ re: 'done', done: await player!.play(order.task) });
      return;
    }
    const { spec, terms, far } = order.open;
    const opened: Partial<Connected> =
      far === undefined ? await kit.connect(terms) : { end: await kit.attach(far.data, terms) };
    player = new Player(opened.end!, makeLoad(spec), terms.blocks);
    tell({ re: 'opened', ...(opened.far && { far: opened.far }) }, opened.far?.transfer);
  };
  control.onmessage = ({ data }: MessageEvent<Order>) => {
    obey(data).catch((error: unknown) => {
      const message = error instanceof Error ? `${error.message}\n${error.stack ?? ''}` : String(error);
      tell({ re: 'failed', message });
    });
  };
}
