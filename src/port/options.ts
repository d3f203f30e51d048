// Options are checked once, here, against one table, and frozen.
import { platform } from '#platform';
import { UsageError } from '../errors.ts';
import { OVERFLOW_POLICIES, type OverflowPolicy } from '../lane/outbox.ts';
import * as limits from '../limits.ts';
import type { LoopWay } from '../platform/contract.ts';

/** What one end of a channel can be told. Every bound has its reason in limits.ts. */
export interface PortOptions {
  /** What `postMessage` does when the outbox is full; default `wait`. */
  readonly overflow?: OverflowPolicy | undefined;
  /** Bytes in the outbox from which on `full` is true and `drained()` pending; default 256 KiB. */
  readonly highWaterMarkBytes?: number | undefined;
  /** Bytes the outbox holds at the most under `wait`; default 64 MiB. A message counts 256 beside its own. */
  readonly outboxBytes?: number | undefined;
  /** Microseconds of looking again before sleeping, while traffic flows; default 50. 0 or false: never. */
  readonly spinMicroseconds?: number | false | undefined;
  /** How values are written by this end; both ends read all of them. Default `packed`. */
  readonly codec?: 'packed' | 'json' | undefined;
  /**
   * Whose named properties travel: those of match results alone (`matches`, the default: arrays that have an `index` or
   * `groups`, as `exec`, `match` and their `indices` do), or those of every array (`always`), at up to 65 ns an element.
   */
  readonly arrayProperties?: 'matches' | 'always' | undefined;
}

/** What concerns both ends of a channel, and is decided when it is made. */
export interface PairOptions {
  /** Bytes of ring a direction, rounded up to a power of two; default 256 KiB. From 128 KiB on large messages have 4 MiB beside it. */
  readonly capacityBytes?: number | undefined;
  /** Bytes of the longest message, encoded; default 256 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Large strings that each side remembers a direction, so that a repeated one travels as a number; default 16. */
  readonly rememberedTexts?: number | undefined;
  /** Bytes of them; default 16 MiB. */
  readonly rememberedTextBytes?: number | undefined;
  /**
   * Whether messages go through memory that both threads share; default: where this thread has any. Without, all goes over a native MessagePort, which also reaches
   * a SharedWorker, a service worker and a frame of another origin, and only the event loop takes what comes.
   */
  readonly memory?: boolean | undefined;
}

/** What a channel can be told when it is made together with one of its ends. */
export interface ChannelOptions extends PortOptions, PairOptions {}

type Chosen = Required<{ [K in keyof ChannelOptions]: Exclude<ChannelOptions[K], undefined | false> }>;
export interface Resolved extends Omit<Chosen, 'memory'> {
  readonly memory: boolean;
  /** How the event loop of this end sleeps until its channel has joined a link, which decides for all that it carries. */
  readonly eventLoopWait: LoopWay;
}
/** It is nobody's option, so no string names it: tests go both ways on each runtime. */
const EVENT_LOOP_WAIT: unique symbol = Symbol.for('millrace.eventLoopWait');

export interface NumberRule {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}
interface NameRule {
  readonly fallback: string;
  readonly names: readonly string[];
}

export type Rule = NumberRule | NameRule;

const RULES: { readonly [K in Exclude<keyof Chosen, 'memory'>]: Rule } = {
  capacityBytes: {
    fallback: limits.CHANNEL_CAPACITY_DEFAULT,
    min: limits.CHANNEL_CAPACITY_MIN,
    max: limits.RING_CAPACITY_MAX / 2,
  },
  maxMessageBytes: { fallback: limits.MESSAGE_BYTES_DEFAULT, min: 64, max: limits.MESSAGE_BYTES_MAX },
  highWaterMarkBytes: { fallback: limits.HIGH_WATER_MARK_DEFAULT, min: 0, max: limits.MESSAGE_BYTES_MAX },
  outboxBytes: { fallback: limits.OUTBOX_BYTES_DEFAULT, min: 1, max: Number.MAX_SAFE_INTEGER },
  spinMicroseconds: { fallback: limits.SPIN_US_DEFAULT, min: 0, max: limits.SPIN_US_MAX },
  overflow: { fallback: 'wait', names: OVERFLOW_POLICIES },
  codec: { fallback: 'packed', names: ['packed', 'json'] },
  arrayProperties: { fallback: 'matches', names: ['matches', 'always'] },
  rememberedTexts: { fallback: limits.KNOWN_TEXTS_DEFAULT, min: 0, max: limits.KNOWN_TEXTS_MAX },
  rememberedTextBytes: { fallback: limits.KNOWN_TEXT_BYTES_DEFAULT, min: 0, max: limits.KNOWN_TEXT_BYTES_MAX },
};

/** Names of all options of a channel. */
export const CHANNEL_OPTIONS: readonly string[] = [...Object.keys(RULES), 'memory'];
/** What is decided when the channel is made, for both ends. */
const CHANNEL_ONLY: readonly string[] = [
  'capacityBytes',
  'maxMessageBytes',
  'rememberedTexts',
  'rememberedTextBytes',
  'memory',
];

/**
 * Fills in what is missing.
 * @throws UsageError ERR_OPTION naming the option, the value and what it may be
 */
export function resolveOptions(options: ChannelOptions = {}): Resolved {
  return resolve(options, CHANNEL_OPTIONS);
}

/**
 * The same for one end of a channel that is there already: what both ends share cannot be chosen any more.
 * @throws UsageError ERR_OPTION
 */
export function resolvePortOptions(options: PortOptions = {}): Resolved {
  return resolve(
    options,
    CHANNEL_OPTIONS.filter((name) => !CHANNEL_ONLY.includes(name)),
  );
}

/**
 * The same for a channel of which neither end is opened here: each end gives its own options to `attach`.
 * @throws UsageError ERR_OPTION
 */
export function resolvePairOptions(options: PairOptions = {}): Resolved {
  for (const name of Object.keys(Object(options))) {
    if (CHANNEL_OPTIONS.includes(name) && !CHANNEL_ONLY.includes(name)) {
      throw new UsageError('ERR_OPTION', `Option ${name} is for one end: give it to attach, not to pair`, {
        option: name,
      });
    }
  }
  return resolve(options, CHANNEL_ONLY);
}

/** Without what is decided when the channel is made. */
export function portOptionsOf(options: ChannelOptions): PortOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !CHANNEL_ONLY.includes(name)));
}

/** @throws UsageError ERR_OPTION for what is no object, or has an option that is not known */
export function checkNames(options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    throw new UsageError('ERR_OPTION', `Cannot use ${String(options)} as options: expected an object`);
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw new UsageError('ERR_OPTION', `Unknown option ${name}; known are ${known.join(', ')}`, { option: name });
    }
  }
}

function resolve(options: ChannelOptions, known: readonly string[]): Resolved {
  checkNames(options, known);
  const way = (options as { [EVENT_LOOP_WAIT]?: string })[EVENT_LOOP_WAIT];
  const { memory = typeof SharedArrayBuffer !== 'undefined' } = options;
  if (typeof memory !== 'boolean') throw wrong('memory', memory, 'true or false');
  const resolved: Record<string, number | string | boolean> = { eventLoopWait: way ?? platform.asyncPark, memory };
  for (const [name, rule] of Object.entries(RULES)) {
    const given = (options as Record<string, unknown>)[name];
    resolved[name] = checked(name, given === false && name === 'spinMicroseconds' ? 0 : given, rule);
  }
  return Object.freeze(resolved) as unknown as Resolved;
}

/**
 * What was given for an option, or what it is without.
 * @throws UsageError ERR_OPTION naming the option, the value, what it may be, and what may be done about it
 */
export function checked(name: string, given: unknown, rule: Rule, remedy = ''): number | string {
  const value = given ?? rule.fallback;
  if ('names' in rule ? rule.names.includes(value as string) : isWholeBetween(value, rule.min, rule.max))
    return value as number | string;
  const allowed = 'names' in rule ? rule.names.join(', ') : `a whole number from ${rule.min} to ${rule.max}`;
  throw wrong(name, value, `${allowed}${remedy}`);
}
function wrong(option: string, value: unknown, takes: string): UsageError {
  return new UsageError('ERR_OPTION', `Option ${option} cannot be ${show(value)}: it takes ${takes}`, {
    option,
    value,
  });
}

/**
 * The time limit in these options of a call, in milliseconds: 0 or more, Infinity (the default) for none.
 * @param known the options that the call takes
 * @throws UsageError ERR_OPTION for anything else, NaN and negative numbers included
 */
export function timeoutOf(
  options: { readonly timeoutMs?: number | undefined } | undefined,
  known: readonly string[],
  fallback: number = Number.POSITIVE_INFINITY,
): number {
  if (options === undefined) return fallback;
  if (typeof options !== 'object' || options === null) {
    throw new UsageError('ERR_OPTION', `Cannot use ${show(options)} as options: expected an object like { timeoutMs }`);
  }
  // `{ timeout: 100 }` would wait for ever.
  for (const name in options) {
    if (!known.includes(name) && (options as Record<string, unknown>)[name] !== undefined) throw unknown(name, known);
  }
  const { timeoutMs } = options;
  if (timeoutMs === undefined) return fallback;
  if (typeof timeoutMs === 'number' && timeoutMs >= 0) return timeoutMs;
  throw new UsageError('ERR_OPTION', `Option timeoutMs cannot be ${show(timeoutMs)}: it takes 0 or more, or Infinity`, {
    option: 'timeoutMs',
    value: timeoutMs,
  });
}

function unknown(name: string, known: readonly string[]): UsageError {
  const why =
    name === 'signal'
      ? 'Option signal is for receiveAsync and selectAsync: while a thread is blocked nothing can abort a signal'
      : `Unknown option ${name}; known are ${known.join(', ')}`;
  return new UsageError('ERR_OPTION', why, { option: name });
}

function isWholeBetween(value: unknown, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

/** As a message shows a value. */
export function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
