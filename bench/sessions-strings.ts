// Seed 002's question: what does one postMessage(string) cost the thread that calls it, and what until it is there?
import type { Contestant, Sample, Session } from './contest.ts';
import { withDeadline } from './deadline.ts';
import { stream } from './drivers.ts';
import { expected } from './loads.ts';
import { openHost, type Parts, ROUND_DEADLINE_MS, same, verify } from './sessions.ts';
import { labelOf } from './subject.ts';
import type { ThreadChannel, ThreadHost } from './thread-host.ts';

/** Characters per burst: enough calls to time, little enough that nobody runs into its own back-pressure. */
const BURST_CHARACTERS = 8 << 20;
const BURST_MAX = 64;

class PostSession implements Session {
  readonly #host: ThreadHost;
  readonly #channel: ThreadChannel;
  readonly #burst: number;
  #warm = false;

  constructor(host: ThreadHost, channel: ThreadChannel) {
    this.#host = host;
    this.#channel = channel;
    const size = channel.load.sizeBytes;
    this.#burst = Math.max(2, Math.min(BURST_MAX, Math.floor(BURST_CHARACTERS / size)));
  }

  async round(ms: number): Promise<Sample> {
    if (!this.#warm) await verify(this.#channel);
    this.#warm = true;
    const began = performance.now();
    let postMs = 0;
    let deliveredMs = 0;
    let messages = 0;
    let checked = true;
    while (messages === 0 || performance.now() - began < ms) {
      const burst = await this.#sendBurst();
      postMs += burst.postMs;
      deliveredMs += burst.deliveredMs;
      messages += this.#burst;
      checked &&= burst.checked;
    }
    const delivered = (deliveredMs * 1e6) / messages;
    return { value: (postMs * 1e6) / messages, checked, extra: { delivered } };
  }

  async #sendBurst(): Promise<{ postMs: number; deliveredMs: number; checked: boolean }> {
    const { end, load, progress, order } = this.#channel;
    const { done } = await order('receive', this.#burst);
    const start = performance.now();
    const sending = stream(end, load, this.#burst, progress);
    // Up to here everything was synchronous for those who post at once; the others have their batch to wait for.
    await sending;
    const postMs = performance.now() - start;
    const tally = await withDeadline(done, ROUND_DEADLINE_MS, 'the burst did not arrive');
    const deliveredMs = performance.now() - start;
    return { postMs, deliveredMs, checked: same(tally, expected(load, this.#burst)) };
  }

  async stop(): Promise<void> {
    await this.#channel.close();
    await this.#host.stop();
  }
}

/** A contestant that posts bursts of strings; nanoseconds per call, delivery beside it. */
export function posts(parts: Parts): Contestant {
  return {
    subject: parts.subject.name,
    label: labelOf(parts.subject, parts.options),
    wait: parts.wait,
    start: async () => {
      const { host, channel } = await openHost(parts);
      return new PostSession(host, channel);
    },
  };
}
