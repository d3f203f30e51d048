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
    this.#wanted = wanted;
    this.#apply();
  }
  /** Whether that is a reason to keep the process alive; true at the start. */
  reference(referenced: boolean): void {
    if (referenced === this.#referenced) return;
    this.#referenced = referenced;
    this.#apply();
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
  #apply(): void {
    if (this.#ports === null) {
      if (!this.held) return;
      this.#ports = platform.messageChannel();
      platform.listen(this.#ports[0], { message(): void {}, closed(): void {} });
    }
    platform.hold(this.#ports[0], this.held);
  }
}
