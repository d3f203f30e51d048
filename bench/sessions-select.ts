// A thread that blocks on many channels at once, of which one talks, beside one that blocks on that one alone.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Port } from '../src/index.ts';
import type { Contestant, Sample, Session } from './contest.ts';
import { CpuMeter } from './cpu.ts';
import { withDeadline } from './deadline.ts';
import { openDoor } from './doors.ts';
import { Pacer } from './pacer.ts';
import type { SelectOrder } from './selecting.ts';
import { ROUND_DEADLINE_MS } from './sessions.ts';

const { channel, select } = await openDoor<typeof import('../src/index.ts')>('.');

/** Longer than either way of waiting looks again before it sleeps. */
const REST_MS = 1;
/** Turns of both event loops after which all channels have come to their link. */
const SETTLING_MS = 300;
/** Far beyond any round: a peer that has failed must not leave this thread blocked for good. */
const PATIENCE = { timeoutMs: 20_000 };

export interface SelectOptions {
  readonly how: 'select' | 'receive';
  readonly ports: number;
  /** The worker rests before each message, so that this thread has gone to sleep. */
  readonly rests: boolean;
}

function taken(port: Port | symbol): Port {
  if (typeof port === 'symbol') throw new Error('the worker does not send');
  return port;
}

class SelectSession implements Session {
  readonly #worker: Worker;
  readonly #ports: readonly Port[];
  readonly #options: SelectOptions;
  readonly #pacer = new Pacer((count) => this.#run(count));

  constructor(worker: Worker, ports: readonly Port[], options: SelectOptions) {
    this.#worker = worker;
    this.#ports = ports;
    this.#options = options;
  }

  async round(ms: number): Promise<Sample> {
    const meter = new CpuMeter();
    const { seconds, us, checked, count } = await this.#pacer.fill(ms);
    return { value: us, checked, cpuUs: meter.stop(), messages: count, wallMs: seconds * 1000 };
  }

  async #run(count: number): Promise<{ seconds: number; us: number; checked: boolean }> {
    const { how, rests } = this.#options;
    const ports = this.#ports;
    const at = ports.length >> 1;
    const talks = ports[at]!;
    this.#worker.postMessage({ at, count, restMs: rests ? REST_MS : 0 } satisfies SelectOrder);
    let checked = true;
    let lateUs = 0;
    const start = performance.now();
    for (let i = 0; i < count; i++) {
      const port = how === 'select' ? taken(select(ports, PATIENCE)) : talks;
      const sent = port.receive(PATIENCE) as number;
      if (rests) lateUs += (performance.timeOrigin + performance.now() - sent) * 1000;
      checked &&= port === talks && typeof sent === 'number';
      port.send(i);
    }
    const seconds = (performance.now() - start) / 1000;
    return { seconds, us: (rests ? lateUs : seconds * 1e6) / count, checked };
  }

  async stop(): Promise<void> {
    for (const port of this.#ports) port.close();
    await this.#worker.terminate();
  }
}

export function selects(options: SelectOptions): Contestant {
  const { how, ports } = options;
  return {
    subject: `millrace-port:${how}`,
    label: how === 'select' ? `select over ${ports.toLocaleString('en-US')} ports` : 'receive on the one that talks',
    wait: 'block/block',
    start: async () => {
      const made = Array.from({ length: ports }, () => channel(ports > 10 ? { capacityBytes: 1024 } : {}));
      const worker = new Worker(new URL('./selecting.js', import.meta.url), {
        workerData: made.map(({ remote }) => remote),
        transferList: made.flatMap(({ remote }) => remote.transfer) as never,
      });
      await withDeadline(once(worker, 'message'), ROUND_DEADLINE_MS, 'the worker did not start');
      await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
      return new SelectSession(
        worker,
        made.map(({ port }) => port),
        options,
      );
    },
  };
}
