// Waiting for many ports at once, with the thread blocked or with the event loop.
import { platform } from '#platform';
import { UnsupportedError, UsageError } from '../errors.ts';
import { SELECT_COMPARED_MIN } from '../limits.ts';
import type { Watch } from '../link/selector.ts';
import { EMPTY } from '../outcome.ts';
import type { Selecting, SelectPlace, Transport } from '../transport/transport.ts';
import type { AbortSignalLike } from './events.ts';
import { timeoutOf } from './options.ts';
import { type Port, selectedPort } from './port.ts';
import type { SelectedPort } from './selecting.ts';
import { Waiters } from './waiters.ts';

export interface SelectOptions {
  /** Milliseconds; 0 looks once, Infinity (the default) waits for ever. */
  readonly timeoutMs?: number | undefined;
}
const SELECT_OPTIONS: readonly string[] = ['timeoutMs'];

export interface SelectAsyncOptions extends SelectOptions {
  /** Gives up: the promise rejects with the signal's reason. */
  readonly signal?: AbortSignalLike | undefined;
}
const SELECT_ASYNC_OPTIONS: readonly string[] = ['timeoutMs', 'signal'];

// biome-ignore lint/suspicious/noExplicitAny: whatever the ports carry
type AnyPort = Port<any, any>;

/** The ports of a call, and their watches in the same order. As long as they are the same, a call asks for none of them. */
class Prepared {
  readonly ports: readonly AnyPort[];
  readonly watches: readonly Watch[];
  /** Those whose other ends are to be opened in some time, and were not. */
  readonly unopened: readonly Selecting[];
  #compared = 0;

  constructor(ports: readonly AnyPort[], all: readonly Selecting[]) {
    this.ports = ports;
    this.watches = all.map(({ watch }) => watch);
    this.unopened = all.filter(({ startMs }) => startMs < Number.POSITIVE_INFINITY);
  }

  isOf(ports: readonly AnyPort[]): boolean {
    return ports.length === this.ports.length && equal(ports, this.ports, 0, ports.length);
  }
  /** The same for some of them, for the next ones in the next call: comparing a thousand takes longer than a message. */
  mayBeOf(ports: readonly AnyPort[]): boolean {
    const { length } = this.ports;
    if (ports.length !== length) return false;
    const from = this.#compared < length ? this.#compared : 0;
    this.#compared = Math.min(length, from + this.step);
    return equal(ports, this.ports, from, this.#compared);
  }
  get step(): number {
    return Math.max(SELECT_COMPARED_MIN, this.ports.length >> 3);
  }
}

function equal(ports: readonly AnyPort[], had: readonly AnyPort[], from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (ports[i] !== had[i]) return false;
  return true;
}

/**
 * Blocks this thread until one of the ports has something to receive, and returns that port: a message, or its end, of which
 * `receive` then tells `CLOSED`. `EMPTY` when the time limit passed first. Takes nothing off the port. Fair: a port that always
 * has something keeps no other one waiting for more than its turn. Take a port that has told `CLOSED` out of the list, it would
 * be returned again and again.
 *
 * Give the same list, or one with the same ports in the same order, and a call looks at those that have something, not at all. What has
 * changed in a long list is noticed by the time that nothing else is ready, or within eight calls.
 * Ports that are not linked yet, or no more (the first turns of both event loops), are looked at every 5 ms.
 * ```ts
 * import { attach, channel, CLOSED, EMPTY, select } from 'millrace';
 * const [a, b] = [channel(), channel()];
 * const [farA, farB] = [attach(a.remote), attach(b.remote)];   // in other threads, as they arrived
 * console.log(select([a.port, b.port], { timeoutMs: 10 }) === EMPTY);   // true
 * farB.postMessage('hello');
 * const port = select([a.port, b.port]);
 * console.log(port === b.port, port.receive());                         // true hello
 * farA.close();
 * console.log(select([a.port, b.port]).receive() === CLOSED);           // true
 * b.port.close();
 * ```
 * @throws UsageError ERR_OPTION for no ports, what is no port, a port twice; ClosedError if this end of one was closed; TimeoutError
 *   if the worker at the other end of one has not opened it for `startTimeoutMs` of this call, and no other port had anything;
 *   UnsupportedError where this thread may not block, or nothing would come over one of the ports then (the message names
 *   them): `selectAsync` does both
 */
export function select<P extends AnyPort>(ports: readonly P[]): P;
export function select<P extends AnyPort>(ports: readonly P[], options?: SelectOptions): P | typeof EMPTY;
export function select<P extends AnyPort>(ports: readonly P[], options?: SelectOptions): P | typeof EMPTY {
  const timeoutMs = timeoutOf(options, SELECT_OPTIONS);
  const first = Array.isArray(ports) ? selectedPort(ports[0])?.transport.selecting : undefined;
  const place = typeof first === 'object' ? first.place : undefined;
  const kept = place?.kept;
  let again = false;
  if (kept instanceof Prepared) {
    // Whoever waits compares all before it does, and looks in between: the others are as they were, or their turn is near.
    const { step, watches } = kept;
    let left = timeoutMs > 0 ? kept.ports.length : step;
    while (left > 0 && kept.mayBeOf(ports)) {
      const found = (place as SelectPlace).select(watches, 0, true);
      if (found === undefined) left -= step;
      else if (ports[found.index] === kept.ports[found.index]) return ports[found.index] as P;
      else break;
    }
    again = timeoutMs > 0 ? left <= 0 : kept.isOf(ports);
  }
  const prepared = again ? (kept as Prepared) : prepare(ports, place);
  if (!(prepared instanceof Prepared)) return prepared as P;
  // Looked at without blocking first: then it works where blocking does not.
  const mayBlock = platform.canBlock || timeoutMs === 0;
  const found = wait(place as SelectPlace, prepared, mayBlock ? timeoutMs : 0, again);
  if (found !== undefined) return ports[found.index] as P;
  if (!mayBlock) {
    throw new UnsupportedError('Cannot select here: this thread may not block; use selectAsync, or a worker');
  }
  return EMPTY;
}

/** @throws TimeoutError if a worker has not opened its end in time, as a blocked `receive` of its port does */
function wait(place: SelectPlace, prepared: Prepared, timeoutMs: number, again: boolean): Watch | undefined {
  const { watches, unopened } = prepared;
  for (let waited = 0, same = again; ; same = true) {
    const next = unopened.reduce((least, { startMs }) => Math.min(least, startMs), timeoutMs);
    const found = place.select(watches, next - waited, same);
    if (found !== undefined || next === timeoutMs) return found;
    waited = next;
    const late = unopened.find(({ startMs }) => startMs <= waited);
    if (late !== undefined) throw late.notOpened();
  }
}

/** @throws as select. A port with something to tell that its channel does not know of is returned itself. */
function prepare(ports: readonly AnyPort[], place: SelectPlace | undefined): Prepared | AnyPort {
  const all = insides(ports, 'select');
  const strangers = all.flatMap(({ transport }, i) => {
    const { selecting } = transport;
    return typeof selecting === 'object' && selecting.place === (place ?? selecting.place) ? [] : [{ i, transport }];
  });
  if (strangers.length > 0) throw notTogether(strangers);
  // What a batch has met and the next receive throws.
  const owing = all.findIndex(({ receiving }) => receiving.owes);
  if (owing >= 0) return ports[owing] as AnyPort;
  const selectings = all.map(({ transport }) => transport.selecting as Selecting);
  for (const [i, { watch }] of selectings.entries()) watch.index = i;
  const prepared = new Prepared([...ports], selectings);
  (place as SelectPlace).kept = prepared;
  return prepared;
}

/**
 * A promise of one of the ports, as soon as it has something to receive, or of `EMPTY` at the time limit. As `select`, without
 * blocking, over ports of every kind, on every thread. What it resolves with is there still if nobody else takes it: pending
 * `receiveAsync` calls and listeners of a port come first, and the port is told of for what they leave, or for its end.
 * ```ts
 * import { attach, channel, selectAsync } from 'millrace';
 * const [a, b] = [channel(), channel()];
 * const far = attach(b.remote);
 * setTimeout(() => far.postMessage('hello'), 1);
 * const port = await selectAsync([a.port, b.port], { signal: AbortSignal.timeout(60_000) });
 * console.log(port === b.port, port.tryReceive());   // true hello
 * a.port.close();
 * b.port.close();
 * ```
 * @throws (rejects) the signal's reason; UsageError and ClosedError as select
 */
export function selectAsync<P extends AnyPort>(
  ports: readonly P[],
  options?: SelectAsyncOptions,
): Promise<P | typeof EMPTY> {
  try {
    const timeoutMs = timeoutOf(options, SELECT_ASYNC_OPTIONS);
    options?.signal?.throwIfAborted();
    const all = insides(ports, 'selectAsync');
    const ready = readyInTurn(all);
    // A loop over ports that always have something would keep everybody else from running.
    if (ready >= 0 && (timeoutMs === 0 || !(all[ready] as SelectedPort).tire())) return Promise.resolve(handOut(ready));
    if (timeoutMs === 0) return Promise.resolve(EMPTY);
    const tells = all.map((_, i): (() => void) => () => {
      // Whose turn it is: this one was only the first to be told.
      const next = readyInTurn(all);
      const port = handOut(next >= 0 ? next : i);
      // In this order, as a call may run out of stack in either; then it is told again.
      if (waiters.length > 0) waiters.first().resolve(port);
      leave();
    });
    const leave = (): void => {
      for (const [i, port] of all.entries()) port.leave(tells[i] as () => void);
    };
    const waiters = new Waiters();
    const pending = waiters.add(timeoutMs, EMPTY, options?.signal, leave) as Promise<P | typeof EMPTY>;
    // Its signal may have spoken at once.
    if (waiters.length > 0) for (const [i, port] of all.entries()) port.whenReady(tells[i] as () => void);
    return pending;

    function handOut(index: number): P {
      (all[index] as SelectedPort).turn = ++turns;
      return ports[index] as P;
    }
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Ports that `selectAsync` has handed out in this thread. */
let turns = 0;

/** Which port has something now, the one that was handed out longest ago first; below 0 if none has. */
function readyInTurn(all: readonly SelectedPort[]): number {
  let found = -1;
  for (const [i, { ready, turn }] of all.entries()) {
    if (ready && (found < 0 || turn < (all[found] as SelectedPort).turn)) found = i;
  }
  return found;
}

/** @throws UsageError ERR_OPTION, ClosedError */
function insides(ports: readonly AnyPort[], action: string): SelectedPort[] {
  if (!Array.isArray(ports)) throw wrong(action, 'expected an array of ports', ports);
  if (ports.length === 0) throw wrong(action, 'there are no ports in the list, and nothing to wait for', ports);
  const met = new Set<SelectedPort>();
  return Array.from(ports, (port, i) => {
    const found = selectedPort(port);
    if (found === undefined) throw wrong(action, `number ${i} of the list is no Port`, port);
    if (met.has(found)) throw wrong(action, `number ${i} of the list stands there twice`, port);
    met.add(found);
    if (found.ending.shut) throw found.ending.refusal(action);
    found.receiving.checkUnclaimed(action);
    return found;
  });
}

function wrong(action: string, why: string, value: unknown): UsageError {
  return new UsageError('ERR_OPTION', `Cannot ${action}: ${why}`, { value });
}

function notTogether(strangers: readonly { readonly i: number; readonly transport: Transport }[]): UnsupportedError {
  const late = strangers.filter(({ transport }) => transport.selecting === 'later').map(({ i }) => i);
  if (late.length > 0) {
    return new UnsupportedError(
      `Cannot select with this thread blocked: number ${late.join(', ')} of the list has no channel yet, which takes the event loop here; \`await port.ready\` first, or use selectAsync`,
      { feature: 'ready', ports: late },
    );
  }
  const which = strangers.map(({ i }) => i);
  return new UnsupportedError(
    `Cannot select with this thread blocked: nothing would tell it of number ${which.join(', ')} of the list, which goes over a byte stream; use selectAsync`,
    { feature: 'blocking', ports: which },
  );
}
