// A model checker for code written against Atomics and shared memory. It runs the shipped source, unmodified.
//
// Two or three actors (threads) share one block. Explored is every interleaving of their atomic operations, of sleeping
// and waking, of wait timeouts (which may fire at any time) and of one thread's death at any step, breadth first, so the
// trace of a failure is a shortest one. Plain accesses run together with the atomic one before them: without a data race
// that loses nothing, and a race is found and reported (explore-clocks.ts). So do atomic accesses to words that nobody
// else uses (explore-sharing.ts).
//
// Found are: data races, exceptions, deadlocks and lost wake-ups (also those that a timeout would hide), endless loops
// without a way out, broken invariants and wrong final results.
//
// How actors are suspended and resumed is told in explore-actor.ts.
import type { Actor, LoopEvent, Node, Stop } from './explore-actor.ts';
import { Automaton, dump, eventKey, isSuspension } from './explore-actor.ts';
import type { Race } from './explore-clocks.ts';
import { RaceDetector } from './explore-clocks.ts';
import type { Access, Answer } from './explore-memory.ts';
import { answerTo, describeAccess, isPlain, isWrite, valueAfter } from './explore-memory.ts';
import { Sharing, StartOver } from './explore-sharing.ts';
import { Contents, Interned, RowTable } from './explore-state.ts';

export type { Actor, Kit } from './explore-actor.ts';

/** Reads a word of the block, as it is in one state. */
export type Look = (word: number) => number;

export interface Ending {
  /** What each actor returned; absent when it was killed or never started. */
  readonly results: Readonly<Record<string, unknown>>;
  readonly killed: string | undefined;
  readonly look: Look;
}

export interface Model {
  /** Size of the block in Int32 elements. */
  readonly words: number;
  readonly actors: readonly Actor[];
  /** Fills the block before anyone starts. */
  init?(words: Int32Array): void;
  /** Says what is wrong with an ending, or nothing. */
  final?(ending: Ending): string | undefined;
  /** Says what is wrong with a state, or nothing. */
  invariant?(look: Look): string | undefined;
  readonly names?: Readonly<Record<number, string>>;
  /** Words that only count, for people: they stay as they are, so that states do not differ by them. */
  readonly counters?: readonly number[];
  /**
   * Words that are read while they may be written, on purpose, by whoever asks afterwards whether they were: each plain access to them is a step
   * of its own, in the order of the program, and none is a race.
   */
  overtaken?(word: number): boolean;
  /** Fields that checkpoints leave out, because no behaviour depends on them here: statistics, scratch memory. */
  readonly ignoredFields?: readonly string[];
  /** How many actors may be killed in one execution: 0 (default) or 1. */
  readonly kills?: 0 | 1;
  /** How many timeouts and timers may fire in one execution; without a limit, loops need a checkpoint. */
  readonly timeouts?: number;
  /** A state that only a timeout or a timer leads out of is fine. Default: it is a lost wake-up. */
  readonly timeoutsAreProgress?: boolean;
  readonly statesMax?: number;
}

export type FailureKind = 'race' | 'threw' | 'stuck' | 'invariant' | 'final' | 'limit';

export interface Exploration {
  readonly failure: { readonly kind: FailureKind; readonly message: string } | undefined;
  /** Distinct states, and steps between them. Each path through this graph is one interleaving. */
  readonly states: number;
  readonly steps: number;
  readonly endings: number;
  /** Distinct results, as text. */
  readonly outcomes: readonly string[];
  /** Distinct local states over all actors, and how often code was run to find them. */
  readonly localStates: number;
  readonly runs: number;
  /** The steps that lead to the failure. */
  readonly trace: readonly string[];
}

/** setTimeout and Atomics.wait take no longer time; nobody lives to see it end. */
const FOR_EVER_MS = 2 ** 31 - 1;
/** Accesses in a row without a scheduling point; more of them are a loop. */
const RUN_AHEAD_MAX = 500;
const KILLED = -1;
const UNBORN = -2;
// Columns of a state's row; the actors' nodes follow.
const MEMORY = 0;
const CLOCKS = 1;
const QUEUE = 2;
const KILLS = 3;
const TIMEOUTS = 4;
const NODES = 5;

type Move = 'step' | 'timeout' | 'kill' | 'deliver' | 'timer';

interface Choice {
  readonly actor: number;
  readonly move: Move;
  readonly slot: number;
}

/** A thread that sleeps (`slot` -1), or one pending wait of an event loop. */
interface Waiter {
  readonly actor: number;
  readonly slot: number;
  readonly word: number;
  readonly timed: boolean;
  /** Notified, but the event loop has not been told yet. */
  readonly woken: boolean;
}

class Failure {
  readonly kind: FailureKind;
  readonly message: string;
  constructor(kind: FailureKind, message: string) {
    this.kind = kind;
    this.message = message;
  }
}

/** Thrown when a step must wait until an event-loop actor's code has been run. */
class Pending {
  readonly ready: Promise<unknown>;
  constructor(ready: Promise<unknown>) {
    this.ready = ready;
  }
}

export async function explore(model: Model): Promise<Exploration> {
  const automata = model.actors.map((actor) => new Automaton(actor, model.words, model.ignoredFields, model.overtaken));
  const ignore = (error: unknown): void => {
    if (!isSuspension(error)) throw error;
  };
  // A test runner listens too, and would blame the test.
  const others = globalThis.process.listeners('unhandledRejection');
  globalThis.process.removeAllListeners('unhandledRejection').on('unhandledRejection', ignore);
  try {
    const place = (word: number): string => model.names?.[word] ?? `word ${word}`;
    const races = new RaceDetector(
      model.actors.map((actor) => actor.name),
      place,
    );
    const sharing = new Sharing();
    for (;;) {
      try {
        return await new Explorer(model, automata, races, sharing, place).run();
      } catch (error) {
        if (!(error instanceof StartOver)) throw error;
      }
    }
  } finally {
    globalThis.process.off('unhandledRejection', ignore);
    for (const other of others) globalThis.process.on('unhandledRejection', other);
  }
}

class Explorer {
  readonly #model: Model;
  readonly #automata: readonly Automaton[];
  readonly #races: RaceDetector;
  readonly #sharing: Sharing;
  readonly #place: (word: number) => string;
  readonly #memory: Contents;
  readonly #queues: Interned<readonly Waiter[]> = new Interned();
  readonly #states: RowTable;
  readonly #cameFrom: number[] = [];
  readonly #cameBy: Choice[] = [];
  readonly #choices: Map<number, Choice> = new Map();
  /** What the actors do before the first scheduling point. */
  readonly #opening: string[] = [];

  constructor(
    model: Model,
    automata: readonly Automaton[],
    races: RaceDetector,
    sharing: Sharing,
    place: (word: number) => string,
  ) {
    this.#model = model;
    this.#automata = automata;
    this.#races = races;
    this.#sharing = sharing;
    this.#place = place;
    const initial = new Int32Array(model.words);
    model.init?.(initial);
    this.#memory = new Contents(initial);
    this.#states = new RowTable(NODES + automata.length);
  }

  async run(): Promise<Exploration> {
    const { statesMax = 1_000_000 } = this.#model;
    const states = this.#states;
    const outcomes = new Set<string>();
    const ends: number[] = [];
    const edges: number[] = [];
    let steps = 0;
    let failure: Failure | undefined;
    let failedAt = 0;
    let failedBy: Choice | undefined;

    const fail = (at: number, by: Choice | undefined, error: unknown): void => {
      if (!(error instanceof Failure)) throw error;
      failure = error;
      failedAt = at;
      failedBy = by;
    };
    try {
      await this.#begin();
    } catch (error) {
      fail(0, undefined, error);
    }
    for (let at = 0; at < states.count && failure === undefined; at++) {
      const row = states.row(at).slice();
      let open = false;
      try {
        const broken = this.#model.invariant?.((word) => this.#memory.read(row[MEMORY] as number, word));
        if (broken !== undefined) throw new Failure('invariant', broken);
        const choices = this.#options(row);
        for (const choice of choices) {
          const progress = choice.move === 'step' || choice.move === 'deliver' || this.#countsAsProgress(choice);
          open ||= progress;
          let next: Int32Array;
          try {
            const made = this.#apply(row, choice);
            next = made instanceof Promise ? await made : made;
          } catch (error) {
            fail(at, choice, error);
            break;
          }
          steps++;
          const known = states.count;
          const id = states.add(next);
          if (id === known) {
            this.#cameFrom.push(at);
            this.#cameBy.push(choice);
          }
          if (progress && id !== at) edges.push(at, id);
        }
        if (failure !== undefined) break;
        if (!open) {
          this.#checkEnd(row, outcomes);
          ends.push(at);
        }
        if (states.count > statesMax) throw new Failure('limit', `more than ${statesMax} states`);
      } catch (error) {
        fail(at, undefined, error);
      }
    }
    if (failure === undefined) {
      const trapped = this.#trapped(ends, edges);
      if (trapped >= 0) {
        failure = new Failure('stuck', 'an endless loop: no way to an end except by timeouts or death');
        failedAt = trapped;
      }
    }
    return {
      failure: failure && { kind: failure.kind, message: failure.message },
      states: states.count,
      steps,
      endings: ends.length,
      outcomes: [...outcomes],
      localStates: this.#automata.reduce((sum, a) => sum + a.nodes.length, 0),
      runs: this.#automata.reduce((sum, a) => sum + a.runs, 0),
      trace: failure ? await this.#trace(failedAt, failedBy) : [],
    };
  }

  async #begin(): Promise<void> {
    const row = new Int32Array(this.#states.width);
    row[CLOCKS] = this.#races.start();
    row[QUEUE] = this.#queues.id('', []);
    for (const [i, automaton] of this.#automata.entries()) {
      const { afterKill, afterEnd } = automaton.actor;
      await automaton.start(this.#peek(row));
      row[NODES + i] = afterKill === undefined && afterEnd === undefined ? automaton.root.id : UNBORN;
    }
    for (let i = 0; i < this.#automata.length; i++) {
      if (row[NODES + i] === UNBORN) continue;
      const told = this.#opening.push(`${this.#automata[i]!.actor.name} starts`);
      const opening = await this.#patiently(() => {
        // Each try on its own: what one has done before it had to wait must not be done again.
        const ahead = row.slice();
        this.#opening.length = told;
        this.#runAhead(ahead, i, this.#opening);
        return ahead;
      });
      row.set(opening);
    }
    this.#states.add(row);
    this.#cameFrom.push(-1);
    this.#cameBy.push({ actor: 0, move: 'step', slot: 0 });
  }

  #peek(row: Int32Array): Look {
    const memory = row[MEMORY] as number;
    return (word) => this.#memory.read(memory, word);
  }

  #node(row: Int32Array, actor: number): Node | undefined {
    const id = row[NODES + actor] as number;
    return id < 0 ? undefined : this.#automata[actor]!.nodes[id];
  }

  #queue(row: Int32Array): readonly Waiter[] {
    return this.#queues.values[row[QUEUE] as number] as readonly Waiter[];
  }

  #setQueue(row: Int32Array, queue: readonly Waiter[]): void {
    const text = queue.map((w) => `${w.actor}.${w.slot}.${w.word}.${w.timed}.${w.woken}`).join();
    row[QUEUE] = this.#queues.id(text, queue);
  }

  #countsAsProgress(choice: Choice): boolean {
    return choice.move !== 'kill' && this.#model.timeoutsAreProgress === true;
  }

  #choice(actor: number, move: Move, slot = -1): Choice {
    const key = (slot + 1) * 1024 + actor * 8 + ['step', 'timeout', 'kill', 'deliver', 'timer'].indexOf(move);
    let choice = this.#choices.get(key);
    if (choice === undefined) this.#choices.set(key, (choice = { actor, move, slot }));
    return choice;
  }

  #options(row: Int32Array): Choice[] {
    const choices: Choice[] = [];
    const queue = this.#queue(row);
    const timeoutsLeft = (row[TIMEOUTS] as number) < (this.#model.timeouts ?? Number.POSITIVE_INFINITY);
    const killsLeft = (row[KILLS] as number) < (this.#model.kills ?? 0);
    for (let i = 0; i < this.#automata.length; i++) {
      const stop = this.#node(row, i)?.stop;
      if (!stop || stop.kind === 'done') continue;
      if (stop.kind === 'access' && !queue.some((w) => w.actor === i && w.slot < 0))
        choices.push(this.#choice(i, 'step'));
      for (const w of queue) {
        if (w.actor !== i || (w.slot >= 0 && stop.kind !== 'idle')) continue;
        if (w.woken) choices.push(this.#choice(i, 'deliver', w.slot));
        else if (w.timed && timeoutsLeft) choices.push(this.#choice(i, 'timeout', w.slot));
      }
      if (stop.kind === 'idle' && timeoutsLeft)
        for (const slot of stop.timers) choices.push(this.#choice(i, 'timer', slot));
      if (killsLeft && this.#automata[i]!.actor.killable) choices.push(this.#choice(i, 'kill'));
    }
    return choices;
  }

  /** Repeats a synchronous step until no code of an event-loop actor has to be run for it. */
  async #patiently<T>(body: () => T): Promise<T> {
    for (;;) {
      try {
        return body();
      } catch (error) {
        if (!(error instanceof Pending)) throw error;
        await error.ready;
      }
    }
  }

  #apply(row: Int32Array, choice: Choice, say?: string[]): Promise<Int32Array> | Int32Array {
    try {
      return this.#move(row, choice, say);
    } catch (error) {
      if (!(error instanceof Pending)) throw error;
      return error.ready.then(() => this.#apply(row, choice, say));
    }
  }

  #move(before: Int32Array, choice: Choice, say?: string[]): Int32Array {
    const row = before.slice();
    const { actor, move, slot } = choice;
    const { name } = this.#automata[actor]!.actor;
    const notMine = (w: Waiter): boolean => w.actor !== actor || w.slot !== slot;
    switch (move) {
      case 'step':
        this.#step(row, actor, say);
        break;
      case 'kill':
        say?.push(`${name}: KILLED`);
        this.#setQueue(
          row,
          this.#queue(row).filter((w) => w.actor !== actor),
        );
        row[NODES + actor] = KILLED;
        row[KILLS] = (row[KILLS] as number) + 1;
        row[CLOCKS] = this.#races.retire(row[CLOCKS] as number, actor);
        this.#bear(row, (a) => a.afterKill === name, -1, say);
        break;
      case 'timeout':
      case 'deliver': {
        const result = move === 'deliver' ? 'ok' : 'timed-out';
        say?.push(`${name}: ${slot < 0 ? 'sleep' : `wait ${slot}`} ends: ${result}`);
        this.#setQueue(row, this.#queue(row).filter(notMine));
        if (move === 'timeout')
          row[TIMEOUTS] = (row[TIMEOUTS] as number) + (this.#model.timeouts === undefined ? 0 : 1);
        this.#advance(row, actor, slot < 0 ? result : { slot, result }, say);
        break;
      }
      case 'timer':
        say?.push(`${name}: timer ${slot} fires`);
        row[TIMEOUTS] = (row[TIMEOUTS] as number) + (this.#model.timeouts === undefined ? 0 : 1);
        this.#advance(row, actor, { slot, result: 'timer' }, say);
        break;
    }
    return row;
  }

  #step(row: Int32Array, actor: number, say?: string[]): void {
    const stop = this.#node(row, actor)!.stop as Stop & { kind: 'access' };
    const { access } = stop;
    const old = this.#memory.read(row[MEMORY] as number, access.word);
    if (access.kind === 'wait' || access.kind === 'waitAsync') {
      this.#touch(row, actor, access, old);
      const answer =
        old !== access.a ? 'not-equal' : access.b <= 0 ? 'timed-out' : access.kind === 'wait' ? 'sleeps' : 'parked';
      this.#say(say, actor, access, answer);
      if (answer === 'sleeps' || answer === 'parked') {
        const timed = access.b < FOR_EVER_MS;
        this.#setQueue(row, [...this.#queue(row), { actor, slot: stop.slot, word: access.word, timed, woken: false }]);
      }
      if (answer !== 'sleeps') this.#advance(row, actor, answer, say);
      return;
    }
    if (access.kind === 'notify') {
      const queue = this.#queue(row).slice();
      const wakes: number[] = [];
      let count = 0;
      for (let k = 0; k < queue.length && count < access.a; k++) {
        const w = queue[k] as Waiter;
        if (w.word !== access.word || w.woken) continue;
        count++;
        if (w.slot < 0) {
          queue.splice(k--, 1);
          wakes.push(w.actor);
        } else queue[k] = { ...w, woken: true };
      }
      this.#setQueue(row, queue);
      this.#say(say, actor, access, count);
      for (const other of wakes) row[CLOCKS] = this.#races.join(row[CLOCKS] as number, actor, other);
      this.#advance(row, actor, count, say);
      for (const other of wakes) {
        say?.push(`  ${this.#automata[other]!.actor.name}: sleep ends: ok`);
        this.#advance(row, other, 'ok', say);
      }
      return;
    }
    const answer = this.#touch(row, actor, access, old);
    this.#say(say, actor, access, answer);
    this.#advance(row, actor, answer, say);
  }

  /** Makes the access: memory and clocks change. */
  #touch(row: Int32Array, actor: number, access: Access, old: number): Answer {
    this.#sharing.note(actor, access.word, isWrite(access));
    const overtaken = isPlain(access) && this.#model.overtaken?.(access.word) === true;
    const after = valueAfter(access, old);
    const failedExchange = access.kind === 'compareExchange' && old !== access.a;
    const step = isPlain(access)
      ? access.kind.startsWith('write')
        ? 'write'
        : 'read'
      : access.kind === 'store'
        ? 'store'
        : access.kind === 'load' || access.kind === 'wait' || access.kind === 'waitAsync' || failedExchange
          ? 'load'
          : 'update';
    const clocks = overtaken
      ? (row[CLOCKS] as number)
      : this.#races.step(row[CLOCKS] as number, actor, access.word, step);
    if (typeof clocks !== 'number') throw new Failure('race', (clocks as Race).race);
    row[CLOCKS] = clocks;
    if (!this.#model.counters?.includes(access.word)) {
      row[MEMORY] = this.#memory.write(row[MEMORY] as number, access.word, after);
    }
    return answerTo(access, old);
  }

  #advance(row: Int32Array, actor: number, entry: Answer | LoopEvent, say?: string[], ahead = 0): void {
    const automaton = this.#automata[actor]!;
    const node = this.#node(row, actor)!;
    let next = node.children.get(typeof entry === 'object' ? eventKey(entry) : entry);
    if (next === undefined) {
      const found = automaton.child(node, entry, this.#peek(row));
      if (found instanceof Promise) throw new Pending(found);
      next = found;
    }
    row[NODES + actor] = next.id;
    this.#runAhead(row, actor, say, ahead);
  }

  /** Makes the accesses that follow and need no scheduling point; looks after an actor that has ended. */
  #runAhead(row: Int32Array, actor: number, say?: string[], ahead = 0): void {
    const automaton = this.#automata[actor]!;
    const stop = this.#node(row, actor)!.stop!;
    if (stop.kind === 'access') {
      if (!this.#runsAlong(stop.access, actor, ahead)) return;
      const old = this.#memory.read(row[MEMORY] as number, stop.access.word);
      const answer = this.#touch(row, actor, stop.access, old);
      if (say) say.push(`    ${describeAccess(stop.access, answer, this.#place)}`);
      this.#advance(row, actor, answer, say, ahead + 1);
    } else if (stop.kind === 'threw') {
      const { error } = stop;
      throw new Failure(
        'threw',
        `${automaton.actor.name} threw ${error instanceof Error ? error.stack : String(error)}`,
      );
    } else if (stop.kind === 'done') {
      say?.push(`    ${automaton.actor.name} returns ${dump(stop.value)}`);
      this.#bear(row, (a) => a.afterEnd === automaton.actor.name, actor, say);
      row[CLOCKS] = this.#races.retire(row[CLOCKS] as number, actor);
    }
  }

  #runsAlong(access: Access, actor: number, ahead: number): boolean {
    if (isPlain(access) && this.#model.overtaken?.(access.word) !== true) return true;
    if (access.kind === 'wait' || access.kind === 'waitAsync' || access.kind === 'notify') return false;
    return ahead < RUN_AHEAD_MAX && this.#sharing.isPrivate(actor, access.word, isWrite(access));
  }

  #bear(row: Int32Array, born: (actor: Actor) => boolean, after: number, say?: string[]): void {
    for (const [i, automaton] of this.#automata.entries()) {
      if (row[NODES + i] !== UNBORN || !born(automaton.actor)) continue;
      say?.push(`    ${automaton.actor.name} starts`);
      if (after >= 0) row[CLOCKS] = this.#races.join(row[CLOCKS] as number, after, i);
      row[NODES + i] = automaton.root.id;
      this.#runAhead(row, i, say);
    }
  }

  #checkEnd(row: Int32Array, outcomes: Set<string>): void {
    const results: Record<string, unknown> = {};
    let killed: string | undefined;
    const stuck: string[] = [];
    for (const [i, automaton] of this.#automata.entries()) {
      const { name } = automaton.actor;
      if (row[NODES + i] === KILLED) killed = name;
      const stop = this.#node(row, i)?.stop;
      if (stop?.kind === 'done') results[name] = stop.value;
      else if (stop?.kind === 'access') stuck.push(`${name} sleeps on ${this.#place(stop.access.word)}`);
      else if (stop?.kind === 'idle') {
        const words = this.#queue(row)
          .filter((w) => w.actor === i)
          .map((w) => this.#place(w.word));
        stuck.push(`${name} is idle, waiting for ${words.join(' and ') || 'nothing'}`);
      }
    }
    if (stuck.length > 0) throw new Failure('stuck', `nobody can go on: ${stuck.join('; ')}`);
    outcomes.add(`${killed === undefined ? '' : `${killed} killed: `}${dump(results)}`);
    const wrong = this.#model.final?.({ results, killed, look: this.#peek(row) });
    if (wrong !== undefined) throw new Failure('final', wrong);
  }

  /** A state from which no end can be reached, or -1. */
  #trapped(ends: readonly number[], edges: readonly number[]): number {
    const good = new Uint8Array(this.#states.count);
    for (const end of ends) good[end] = 1;
    for (let changed = true; changed; ) {
      changed = false;
      for (let e = edges.length - 2; e >= 0; e -= 2) {
        if (good[edges[e + 1] as number] === 1 && good[edges[e] as number] === 0) {
          good[edges[e] as number] = 1;
          changed = true;
        }
      }
    }
    return good.indexOf(0);
  }

  async #trace(at: number, by: Choice | undefined): Promise<string[]> {
    const path: [number, Choice][] = by === undefined ? [] : [[at, by]];
    for (let state = at; state > 0; state = this.#cameFrom[state] as number) {
      path.unshift([this.#cameFrom[state] as number, this.#cameBy[state] as Choice]);
    }
    const say = this.#opening.slice();
    for (const [state, choice] of path) {
      try {
        await this.#apply(this.#states.row(state).slice(), choice, say);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
      }
    }
    return say;
  }

  #say(say: string[] | undefined, actor: number, access: Access, answer: Answer): void {
    say?.push(`${this.#automata[actor]!.actor.name}: ${describeAccess(access, answer, this.#place)}`);
  }
}
