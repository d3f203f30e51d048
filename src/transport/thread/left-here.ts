// Ends that have left this thread, until nothing more can come for them here. What does, the event loop sends on; while the thread is
// blocked nobody does but the one who blocks, and whoever it waits for may wait for just that. So it is asked for where a
// blocked thread asks after its peers, also in `select`, which takes it for one more link.
import type { AgentLink, OwnAgent } from '../../link/own-agent.ts';
import { endWithThread, forgetThreadEnd } from '../thread-end.ts';

interface Left {
  /** Takes in what waits, without the event loop, and sends it on. */
  pull(): void;
}

export class LeftHere implements AgentLink {
  readonly end: undefined;
  readonly #agent: OwnAgent;
  readonly #all = new Set<Left>();

  constructor(agent: OwnAgent) {
    this.#agent = agent;
  }
  add(left: Left): void {
    this.#all.add(left);
    this.#agent.add(this);
    endWithThread(this);
  }
  over(left: Left): void {
    this.#all.delete(left);
    if (this.#all.size > 0) return;
    this.#agent.remove(this);
    forgetThreadEnd(this);
  }
  sendOn(): void {
    for (const left of this.#all) left.pull();
  }
  /** This thread ends by itself: what has come by now is not lost with it. */
  endThread(): void {
    this.sendOn();
  }
  rest(): void {}
  peerGone(): undefined {
    this.sendOn();
  }
}
