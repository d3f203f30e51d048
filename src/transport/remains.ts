// What stays of an end when nobody holds its port any more, and who holds a port that nobody else does.
//
// A port that is dropped without close() is garbage like any other object, and its peer is told: `dropped`. So nothing
// that lives as long as the thread may lead to a port: not the listeners of native ports or sockets, not a pending wait, not
// the list of what ends with the thread. They lead to this record at the most, which holds the port exactly while it has
// something to do: somebody listens or waits, or something has still to go out.
//
// What the registry watches is a sign that the end holds, and not the end: V8's collector of young objects keeps whatever is
// registered, with all it leads to, for the other collector, at ten times the cost. For the same reason an end that is closed
// leaves nothing here but this record.
import type { EndReason } from '../outcome.ts';
import type { ThreadEnd } from '../platform/contract.ts';
import type { EndTeller } from './ring/end-teller.ts';
import { endWithThread, forgetThreadEnd } from './thread-end.ts';

const droppedEnds = new FinalizationRegistry<Remains>((remains) => remains.end('dropped'));

export class Remains {
  #teller: EndTeller | undefined;
  #living: WeakRef<{ endThread(how: ThreadEnd): void }> | undefined;
  #kept: object | undefined;
  #over = false;

  constructor(teller: EndTeller) {
    this.#teller = teller;
  }

  /** From now on this end is over when `sign` is garbage, or with its thread, which `living` is told of. */
  watch(sign: object, living: { endThread(how: ThreadEnd): void }): void {
    this.#living = new WeakRef(living);
    droppedEnds.register(sign, this);
    endWithThread(this);
  }

  /** Keeps `port` though nobody else may hold it; `undefined` lets it go. */
  keep(port: object | undefined): void {
    this.#kept = port;
    if (this.#over && port === undefined) forgetThreadEnd(this);
  }

  /** The end is over, and whoever knew why has told. */
  over(): void {
    this.#over = true;
    if (this.#kept === undefined) forgetThreadEnd(this);
  }

  endThread(how: ThreadEnd): void {
    const living = this.#living?.deref();
    if (living !== undefined) living.endThread(how);
    else this.end(how);
  }

  /** Ends this side in the stead of a port that is gone. What it had sent is published, and nothing waited. */
  end(reason: EndReason): void {
    if (!this.#over) this.#teller?.tell(reason, 0);
    this.over();
    this.#teller?.closeLines();
  }

  /** The lines are closed: there is nothing more to be done for this end. */
  closed(): void {
    this.#teller = undefined;
    this.#living = undefined;
  }
}
