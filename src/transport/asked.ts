// A channel that is asked for in one call, over a connection, and of which both sides agree only later by what it goes: memory that is mapped
// by then, or the stream over which it was asked for. The port is there at once, and waits as `parentPort()` does (late.ts).
import type { Beside } from '../lane/beside.ts';
import type { EndReason } from '../outcome.ts';
import { type Coming, LateTransport } from './late.ts';
import type { Link, Snapshot, Transport, TransportEvents, Way } from './transport.ts';

/** Whom the channel is asked of. */
export interface Asking {
  readonly link?: Link | undefined;
  /** By what it will go, as far as that is known. */
  readonly way?: Way | undefined;
  /** Keeps the process alive, or lets it go, until there is a transport. */
  hold(held: boolean): void;
  /** Takes in what has come without the event loop, where there is a way. */
  readonly pull?: (() => void) | undefined;
  /** Whether all that is still missing comes that way; it does where nothing is said. */
  readonly canPull?: (() => boolean) | undefined;
  /** The port was closed, and nothing that was posted waits: nobody here wants the channel any more. */
  withdraw(reason: EndReason): void;
}

export class Asked implements Coming {
  readonly link: Link | undefined;
  readonly #asking: Asking;
  #arrived: (() => void) | undefined;
  #open: (() => Transport) | undefined;
  #failure: { readonly error: unknown } | undefined;
  #found: Transport | undefined;
  #over = false;
  #kept: object | undefined;
  /** The port wants the process to live; and so does what was posted before it was closed. */
  #held = false;
  #lingers = false;
  #holds = false;

  constructor(asking: Asking) {
    this.#asking = asking;
    this.link = asking.link;
  }
  get way(): Way | undefined {
    return this.#asking.way;
  }
  get canTake(): boolean {
    const { pull, canPull } = this.#asking;
    return pull !== undefined && canPull?.() !== false;
  }

  /** It goes by what `open` makes, also one that has ended already. Made when somebody looks: in a turn of its own at the latest. */
  settle(open: () => Transport): void {
    this.#open = open;
    queueMicrotask(() => this.#arrived?.());
  }
  /** There will be none: its port ends as `lost`, and whoever receives there is told why. */
  fail(error: Error): void {
    this.#failure = { error };
    queueMicrotask(() => this.#arrived?.());
  }

  take(): Transport | undefined {
    if (this.#open === undefined && this.#failure === undefined) this.#asking.pull?.();
    const open = this.#open;
    if (open === undefined && this.#failure === undefined) return undefined;
    this.#open = undefined;
    try {
      if (open === undefined) throw this.#failure?.error;
      const real = open();
      this.#found = real;
      if (this.#kept !== undefined) real.keep(this.#kept);
      return real;
    } finally {
      this.#over = true;
      this.#rehold();
    }
  }
  await(arrived: () => void): () => void {
    this.#arrived = arrived;
    return () => {
      this.#arrived = undefined;
    };
  }

  // ---- the port --------------------------------------------------------------------------------------------------

  hold(held: boolean): void {
    this.#held = held;
    this.#rehold();
  }
  keep(port: object | undefined): void {
    this.#kept = port;
    this.#found?.keep(port);
  }
  /** @param backlog messages that wait */
  closed(reason: EndReason, backlog: number): void {
    if (this.#over) return;
    if (backlog === 0) this.#asking.withdraw(reason);
    this.#lingers = backlog > 0;
    this.#rehold();
  }

  #rehold(): void {
    const holds = !this.#over && (this.#held || this.#lingers);
    if (holds === this.#holds) return;
    this.#asking.hold(holds);
    this.#holds = holds;
  }
}

export class AskedTransport extends LateTransport {
  readonly link: Link | undefined;
  readonly #asked: Asked;

  /**
   * @param beside what becomes of values that are posted before: as the transports do that it may get
   * @param bytesMax of them, each of which counts for what keeps it, too; without it their number is bounded
   */
  constructor(asked: Asked, beside: Pick<Beside, 'holdBack' | 'letGo'>, events: TransportEvents, bytesMax?: number) {
    super(asked, beside, events, bytesMax);
    this.link = asked.link;
    this.#asked = asked;
  }

  override inspect(): Snapshot {
    const { way } = this.#asked;
    const { way: own = way, stats, ...rest } = super.inspect();
    return { ...rest, way: own, stats: () => ({ way, ...stats() }) };
  }
  override hold(held: boolean): void {
    super.hold(held);
    this.#asked.hold(held);
  }
  override keep(port: object | undefined): void {
    this.#asked.keep(port);
  }
  override close(reason: EndReason): void {
    super.close(reason);
    this.#asked.closed(reason, this.out.backlog);
  }
}
