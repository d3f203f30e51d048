// One actor of a model as an automaton, built lazily by running its real code.
//
// JavaScript cannot suspend a synchronous function, so an actor is suspended by throwing and resumed by running it again
// from the start with its earlier accesses answered from a log. The log is all that an actor can know, hence a tree of
// logs is the actor's complete behaviour: a node is "what it does next after these answers". The explorer walks these
// trees and runs code only to find a node for the first time; states are then cheap numbers.
//
// `checkpoint(...state)` turns the tree into a graph: the model's author promises that the actor's future depends on
// nothing but the given state (dumped in depth), its pending waits, and the shared memory: not on what the clock says, only on
// how long something takes.
//
// An actor must be deterministic given the answers. Time is: `performance.now()` stands still and moves on by a wait's
// timeout when that wait times out.
import type { Access, Answer, WaitAsyncAnswer } from './explore-memory.ts';
import { answerTo, bytesView, isPlain, isView, modelAtomics, valueAfter, wordsView } from './explore-memory.ts';

/** What an actor's code is given. */
export interface Kit {
  /** Int32 elements of the block; offsets are bytes, lengths count elements. */
  words(offset?: number, length?: number): Int32Array;
  bytes(offset?: number, length?: number): Uint8Array;
  /** Declares that from here on the actor depends on nothing but `state` and the shared memory. */
  checkpoint(...state: unknown[]): void;
  /**
   * Calls `hook` where the shipped code passes by inside its loops: when it reads the clock and before it copies bytes in
   * bulk. For checkpoints there. `where` is the stack of calls, which such a checkpoint must tell apart.
   */
  watch(hook: (where: string) => void): void;
}

export interface Actor {
  readonly name: string;
  /** The code: synchronous, or async for an actor that lives on an event loop. Its result goes to `final`. */
  run(kit: Kit): unknown;
  /** The thread may be killed before any of its accesses, and while it sleeps. */
  readonly killable?: boolean;
  /** Starts only when the named actor has been killed: what the survivors' side does about it. */
  readonly afterKill?: string;
  /** Starts only when the named actor has returned by itself. */
  readonly afterEnd?: string;
}

/** Something an event loop gets while it is idle: a wait that ended, or a timer. */
export interface LoopEvent {
  readonly slot: number;
  readonly result: string;
}

type LogEntry = Answer | LoopEvent;

export type Stop =
  | { readonly kind: 'access'; readonly access: Access; readonly slot: number }
  | { readonly kind: 'idle'; readonly timers: readonly number[] }
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown };

export class Node {
  readonly id: number;
  parent: Node | null;
  readonly via: LogEntry | null;
  stop: Stop | null = null;
  /** Another node that stands for this one. */
  joined: Node | null = null;
  readonly children: Map<string | number, Node> = new Map();
  constructor(id: number, parent: Node | null, via: LogEntry | null) {
    this.id = id;
    this.parent = parent;
    this.via = via;
  }
}

export const eventKey = (event: LoopEvent): string => `!${event.slot}:${event.result}`;
const keyOf = (entry: LogEntry): string | number => (typeof entry === 'object' ? eventKey(entry) : entry);

/** Thrown to suspend an actor. Code that catches everything must let it pass, and can know it by this property. */
const SUSPEND = { suspension: true };
const REAL_ATOMICS = globalThis.Atomics;
const realTimeout = globalThis.setTimeout;
const realClear = globalThis.clearTimeout;
const realImmediate = globalThis.setImmediate;
const realMicrotask = globalThis.queueMicrotask;

/** Lets every pending microtask run. */
const turn = (): Promise<void> => new Promise((resolve) => realImmediate(resolve));

/** How the answers of a fresh access to shared memory are found while code runs ahead through plain accesses. */
export type Peek = (word: number) => number;

export class Automaton {
  readonly actor: Actor;
  readonly root: Node;
  readonly nodes: Node[] = [];
  runs = 0;
  readonly #memoryWords: number;
  readonly #ignored: readonly string[];
  readonly #overtaken: ((word: number) => boolean) | undefined;
  readonly #checkpoints: Map<string, Node> = new Map();

  /** @param overtaken as in the model: words of which each plain access is a step of its own */
  constructor(
    actor: Actor,
    memoryWords: number,
    ignored: readonly string[] = [],
    overtaken: ((word: number) => boolean) | undefined = undefined,
  ) {
    this.actor = actor;
    this.#overtaken = overtaken;
    this.#ignored = ignored;
    this.#memoryWords = memoryWords;
    this.root = this.#node(null, null);
  }

  /** The node after `entry`; a promise when finding it out needs an event loop. */
  child(node: Node, entry: LogEntry, peek: Peek): Node | Promise<Node> {
    const key = keyOf(entry);
    const known = node.children.get(key);
    if (known !== undefined) return known;
    const child = this.#node(node, entry);
    node.children.set(key, child);
    const found = new Run(this, child, peek).go();
    return found instanceof Promise
      ? found.then(() => node.children.get(key) as Node)
      : (node.children.get(key) as Node);
  }

  start(peek: Peek): Node | Promise<Node> {
    if (this.root.stop !== null) return this.root;
    const found = new Run(this, this.root, peek).go();
    return found instanceof Promise ? found.then(() => this.root) : this.root;
  }

  /** @internal */
  extend(node: Node, entry: LogEntry): Node {
    const child = this.#node(node, entry);
    node.children.set(keyOf(entry), child);
    return child;
  }

  /**
   * The node from which the actor goes on, if it has been in this state before: `node` is replaced by it then.
   * @internal
   */
  join(node: Node, state: readonly unknown[]): Node | undefined {
    const key = dump(state, this.#ignored);
    let known = this.#checkpoints.get(key);
    while (known?.joined) known = known.joined;
    if (known === undefined) this.#checkpoints.set(key, node);
    if (known === undefined || known === node || node.parent === null) return undefined;
    node.parent.children.set(keyOf(node.via as LogEntry), known);
    node.joined = known;
    return known;
  }

  get blocks(): boolean {
    return Object.prototype.toString.call(this.actor.run) !== '[object AsyncFunction]';
  }

  /** Whether an actor goes on through this access without being suspended. */
  runsThrough(access: Access): boolean {
    return isPlain(access) && this.#overtaken?.(access.word) !== true;
  }

  get memoryWords(): number {
    return this.#memoryWords;
  }

  #node(parent: Node | null, via: LogEntry | null): Node {
    const node = new Node(this.nodes.length, parent, via);
    this.nodes.push(node);
    return node;
  }
}

/** One execution of the actor's code, from its start to the first thing that a log has no answer for. */
class Run {
  readonly #owner: Automaton;
  readonly #peek: Peek;
  readonly #log: Node[] = [];
  readonly #written: Map<number, number> = new Map();
  readonly #pending: Map<number, (result: string) => void> = new Map();
  readonly #timers: Map<number, () => void> = new Map();
  #leaf: Node;
  #at = 0;
  #nowMs = 0;
  #suspended = false;
  /** The node that a checkpoint found to be the same as this run's; what comes next must be the same too. */
  #twin: Node | undefined;
  #hook: ((where: string) => void) | undefined;

  constructor(owner: Automaton, leaf: Node, peek: Peek) {
    this.#owner = owner;
    this.#leaf = leaf;
    this.#peek = peek;
    for (let node: Node | null = leaf; node?.parent; node = node.parent) this.#log.unshift(node);
  }

  go(): void | Promise<void> {
    this.#owner.runs++;
    const restore = this.#install();
    let result: unknown;
    try {
      result = this.#owner.actor.run(this.#kit());
    } catch (error) {
      this.#settle({ kind: 'threw', error });
      restore();
      return;
    }
    if (!(result instanceof Promise)) {
      this.#settle({ kind: 'done', value: result });
      restore();
      return;
    }
    return this.#loop(result).finally(restore);
  }

  async #loop(result: Promise<unknown>): Promise<void> {
    let end: Stop | null = null;
    result.then(
      (value) => (end = { kind: 'done', value }),
      (error) => (end = { kind: 'threw', error }),
    );
    for (;;) {
      await turn();
      if (this.#suspended) return;
      if (end !== null) return this.#settle(end);
      const next = this.#log[this.#at];
      if (next === undefined) return this.#settle({ kind: 'idle', timers: [...this.#timers.keys()] });
      if (typeof next.via !== 'object' || next.via === null)
        throw new Error(`${this.#name}: idle where it had an access before`);
      this.#at++;
      const { slot, result: how } = next.via;
      const timer = this.#timers.get(slot);
      if (timer !== undefined) {
        this.#timers.delete(slot);
        timer();
      } else {
        const resolve = this.#pending.get(slot);
        this.#pending.delete(slot);
        resolve?.(how);
      }
    }
  }

  get #name(): string {
    return this.#owner.actor.name;
  }

  #settle(stop: Stop): void {
    if (this.#suspended) return;
    this.#suspended = true;
    if (this.#at < this.#log.length)
      throw new Error(`${this.#name} is not deterministic: it stopped early (${stop.kind})`, { cause: stop });
    this.#stopAt(stop);
  }

  #stopAt(stop: Stop): void {
    const there = this.#twin?.stop;
    if (this.#twin === undefined) this.#leaf.stop = stop;
    else if (!there || dump(there) !== dump(stop)) {
      throw new Error(`${this.#name}: a checkpoint took two states for one: ${dump(there)} and ${dump(stop)} follow`);
    }
  }

  #answer(access: Access): Answer | WaitAsyncAnswer {
    if (this.#suspended) throw SUSPEND;
    const isAsync = access.kind === 'waitAsync';
    const slot = isAsync ? this.#freeSlot() : -1;
    let answer: LogEntry;
    const past = this.#log[this.#at];
    if (past !== undefined) {
      const then = past.parent?.stop;
      if (
        then?.kind !== 'access' ||
        then.access.kind !== access.kind ||
        then.access.word !== access.word ||
        then.access.a !== access.a
      ) {
        throw new Error(`${this.#name} is not deterministic: it made another access than before at step ${this.#at}`);
      }
      this.#at++;
      answer = past.via as LogEntry;
    } else {
      this.#stopAt({ kind: 'access', access, slot });
      if (!this.#owner.runsThrough(access) || this.#twin !== undefined) {
        this.#suspended = true;
        throw SUSPEND;
      }
      const old = this.#written.get(access.word) ?? this.#peek(access.word);
      this.#written.set(access.word, valueAfter(access, old));
      answer = answerTo(access, old);
      this.#leaf = this.#owner.extend(this.#leaf, answer);
      this.#log.push(this.#leaf);
      this.#at++;
    }
    if (typeof answer === 'object') throw new Error(`${this.#name}: an access where it was idle before`);
    if (access.kind === 'wait' && answer === 'timed-out') this.#nowMs += access.b;
    if (!isAsync) return answer;
    if (answer !== 'parked') return { async: false, value: answer };
    return {
      async: true,
      value: new Promise<string>((resolve) => {
        this.#pending.set(slot, (result) => {
          if (result === 'timed-out') this.#nowMs += access.b;
          resolve(result);
        });
      }),
    };
  }

  /** Numbers are used again, so that histories that differ in their past waits only can be one. */
  #freeSlot(): number {
    for (let slot = 0; ; slot++) if (!this.#pending.has(slot) && !this.#timers.has(slot)) return slot;
  }

  #now(): number {
    this.#pass();
    return this.#nowMs;
  }

  #pass(): void {
    if (this.#hook === undefined || this.#suspended || this.#at < this.#log.length) return;
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 40;
    const stack = new Error().stack ?? '';
    Error.stackTraceLimit = stackTraceLimit;
    const frames = stack.split('\n').filter((line) => line.includes('.shipped-') || line.includes('.model.js'));
    this.#hook(frames.join());
  }

  #kit(): Kit {
    const answer = (access: Access): Answer | WaitAsyncAnswer => this.#answer(access);
    const bytes = this.#owner.memoryWords * 4;
    return {
      words: (offset = 0, length = (bytes - offset) >> 2) => wordsView(offset, length, answer),
      bytes: (offset = 0, length = bytes - offset) => bytesView(offset, length, answer, () => this.#pass()),
      checkpoint: (...state) => {
        if (this.#suspended) throw SUSPEND;
        if (this.#at < this.#log.length || this.#twin !== undefined) return;
        const waits = [...this.#pending.keys(), '|', ...this.#timers.keys()];
        this.#twin = this.#owner.join(this.#leaf, [...waits, state]);
      },
      watch: (hook) => {
        this.#hook = hook;
      },
    };
  }

  /** A microtask: what suspends the actor in it, or behind it, is nobody's error. */
  #putOff(task: () => void): void {
    if (this.#suspended) return;
    try {
      task();
    } catch (error) {
      if (!isSuspension(error)) throw error;
    }
  }

  /** Puts the model's Atomics, clock and timers in place of the real ones; returns how to undo it. */
  #install(): () => void {
    const clock = Object.getOwnPropertyDescriptor(globalThis, 'performance') as PropertyDescriptor;
    globalThis.Atomics = modelAtomics(REAL_ATOMICS, (access) => this.#answer(access));
    Object.defineProperty(globalThis, 'performance', { configurable: true, value: { now: () => this.#now() } });
    const setTimer = (task: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]): object => {
      const slot = this.#freeSlot();
      this.#timers.set(slot, () => {
        this.#nowMs += delayMs;
        task(...args);
      });
      const timer = { slot, ref: () => timer, unref: () => timer, hasRef: () => true };
      return timer;
    };
    // A thread that blocks never comes back to its microtasks, and one that is suspended does no more in those that it had put off.
    globalThis.queueMicrotask = this.#owner.blocks
      ? () => undefined
      : (task) => realMicrotask(() => this.#putOff(task));
    globalThis.setTimeout = setTimer as unknown as typeof setTimeout;
    globalThis.clearTimeout = ((timer: { slot: number } | undefined) =>
      timer && this.#timers.delete(timer.slot)) as unknown as typeof clearTimeout;
    return () => {
      globalThis.Atomics = REAL_ATOMICS;
      Object.defineProperty(globalThis, 'performance', clock);
      globalThis.queueMicrotask = realMicrotask;
      globalThis.setTimeout = realTimeout;
      globalThis.clearTimeout = realClear;
    };
  }
}

/** A suspended async actor leaves rejected promises behind; nobody shall report those. */
export function isSuspension(error: unknown): boolean {
  return error === SUSPEND;
}

/** The value in depth, as text: equal text means equal behaviour of everything that is not a function or `ignored`. */
export function dump(value: unknown, ignored: readonly string[] = []): string {
  return new Dump(ignored).write(value);
}

/** One text, put together piece by piece: explorers spend much of their time here. */
class Dump {
  readonly #ignored: ReadonlySet<string>;
  readonly #seen: Map<object, number> = new Map();

  constructor(ignored: readonly string[]) {
    this.#ignored = new Set(ignored);
  }

  write(v: unknown): string {
    switch (typeof v) {
      case 'string':
        return JSON.stringify(v);
      case 'object':
        return v === null ? 'null' : this.#object(v);
      case 'function':
        return 'f';
      case 'bigint':
        return `${v}n`;
      default:
        return Object.is(v, -0) ? '-0' : String(v);
    }
  }

  #object(v: object): string {
    if (isView(v)) return 'view';
    const before = this.#seen.get(v);
    if (before !== undefined) return `^${before}`;
    this.#seen.set(v, this.#seen.size);
    if (Array.isArray(v)) return `[${this.#list(v)}]`;
    if (v instanceof Map || v instanceof Set) return `${v.constructor.name}(${this.#list(v)})`;
    if (ArrayBuffer.isView(v)) return `${v.constructor.name}(${withoutZeros(v as Uint8Array)})`;
    let text = `${v.constructor?.name ?? ''}{`;
    let comma = '';
    // In the order in which they were put there: what is made in one place has one order, and to sort costs more than that.
    for (const key of Object.keys(v)) {
      if (this.#ignored.has(key)) continue;
      text += `${comma}${key}:${this.write((v as Record<string, unknown>)[key])}`;
      comma = ',';
    }
    return `${text}}`;
  }

  #list(values: Iterable<unknown>): string {
    let text = '';
    let comma = '';
    for (const value of values) {
      text += comma + this.write(value);
      comma = ',';
    }
    return text;
  }
}

function withoutZeros(array: Uint8Array): string {
  let text = `${array.length}:`;
  for (let at = 0; at < array.length; at++) if (array[at] !== 0) text += ` ${at}=${array[at]}`;
  return text;
}
