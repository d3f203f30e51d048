// What a thread dies of goes to those that it answers as errors of calls do, with class, fields and cause: the runtimes and the end of a port tell a text of it, and no more.
import { platform } from '#platform';
import { DataCloneError } from '../errors.ts';
import type { Connection } from './connection.ts';
import type { Outgoing } from './envelopes.ts';
import { failureOf } from './failures.ts';
import type { Message } from './messages.ts';
import * as kinds from './messages.ts';

class Crashed implements Outgoing {
  message: Message;
  readonly transfer = undefined;
  readonly #error: unknown;
  readonly #stacks: boolean;
  #tried = false;

  constructor(error: unknown, stacks: boolean) {
    this.#error = error;
    this.#stacks = stacks;
    this.message = [kinds.CRASHED, failureOf(error, false, stacks)];
  }
  /** Its fields hold what cannot be cloned: it goes without them, or not at all. */
  refused(error: unknown): boolean {
    if (this.#tried || !(error instanceof DataCloneError)) return false;
    this.#tried = true;
    this.message = [kinds.CRASHED, failureOf(this.#error, true, this.#stacks)];
    return true;
  }
}

/** Tells the other sides of these connections what this thread dies of: of those at which it exposes something, for nobody else has asked for what goes on here. */
export function tellCrash(open: Iterable<WeakRef<Connection>>): void {
  platform.onCrash((error) => {
    for (const each of open) {
      const connection = each.deref();
      if (connection?.ended !== undefined || connection?.serving.exposes !== true) continue;
      // At once: no microtask runs any more. What is still to be sent stays behind, for none of it is answered.
      connection.out.postNow(new Crashed(error, connection.options.stacks));
    }
  });
}
