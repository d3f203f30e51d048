// Holds the process while somebody waits for another thread. A pending Atomics.waitAsync does that on no runtime, but
// a native port with a listener does on all of them.
import { platform } from '#platform';
import type { NativePort } from './contract.ts';

export class KeepAlive {
  #ports: readonly [NativePort, NativePort] | null = null;
  #wanted = false;
  #referenced = true;

  /** Whether something is being waited for. */
  want(wanted: boolean): void {
    if (wanted === this.#wanted) return;
    // To hold it is tried once: where the stack ends in it, each try would leave a loop of Deno's own port behind, which rejects.
    if (wanted) this.#wanted = true;
    this.#apply(wanted && this.#referenced);
    // To let go is noted behind it: where the stack has ended on the way there, it is to be said again.
    this.#wanted = wanted;
  }
  /** Whether that is a reason to keep the process alive; true at the start. */
  reference(referenced: boolean): void {
    if (referenced === this.#referenced) return;
    this.#apply(this.#wanted && referenced);
    this.#referenced = referenced;
  }
  get held(): boolean {
    return this.#wanted && this.#referenced;
  }
  close(): void {
    this.#wanted = false;
    if (this.#ports === null) return;
    for (const port of this.#ports) port.close();
    this.#ports = null;
  }
  #apply(held: boolean): void {
    if (this.#ports === null) {
      if (!held) return;
      this.#ports = platform.messageChannel();
      platform.listen(this.#ports[0], { message(): void {}, closed(): void {} });
    }
    platform.hold(this.#ports[0], held);
  }
}
