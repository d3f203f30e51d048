// Finds data races: vector clocks per actor and per synchronising word, in a canonical form.
//
// Two accesses race when they touch one word, at least one writes, at least one is plain, and no chain of atomic
// store -> load (or notify -> wait) orders them. JavaScript promises sequential consistency to programs without races,
// so "no race and every interleaving" is the whole space.
//
// A clock state is immutable and known by a number. Only the order between clocks and remembered accesses matters, so
// each actor's times are replaced by ranks and facts that everybody knows are dropped: histories that differ in nothing
// a later check could see become one number, and the explored graph stays small.

import { StartOver } from './explore-sharing.ts';

/** The latest access of its sort (actor, writes, atomic) to a word. */
interface AccessMark {
  readonly actor: number;
  readonly time: number;
  readonly writes: boolean;
  readonly atomic: boolean;
}

interface Clocks {
  /** known[a][b]: how much of b's history a has seen; known[a][a] is a's own time. */
  readonly known: readonly (readonly number[])[];
  /** What a reader of the word's current value gets to know. */
  readonly released: ReadonlyMap<number, readonly number[]>;
  readonly marks: ReadonlyMap<number, readonly AccessMark[]>;
}

export interface Race {
  readonly race: string;
}

export type ClockStep = 'read' | 'write' | 'load' | 'store' | 'update';

const STEPS: readonly ClockStep[] = ['read', 'write', 'load', 'store', 'update'];

export class RaceDetector {
  readonly #actors: number;
  readonly #names: readonly string[];
  readonly #place: (word: number) => string;
  #all: Clocks[] = [];
  #byKey: Map<string, number> = new Map();
  #steps: Map<number, number | Race> = new Map();
  #joins: Map<number, number> = new Map();
  #retired: Map<number, number> = new Map();
  readonly #plain: Set<number> = new Set();
  readonly #atomic: Set<number> = new Set();
  readonly #mixed: Set<number> = new Set();

  constructor(names: readonly string[], place: (word: number) => string) {
    this.#actors = names.length;
    this.#names = names;
    this.#place = place;
  }

  /** The state in which nobody has done anything; forgets all others. */
  start(): number {
    this.#all = [];
    this.#byKey = new Map();
    this.#steps = new Map();
    this.#joins = new Map();
    this.#retired = new Map();
    const known = Array.from({ length: this.#actors }, (_, a) =>
      Array.from({ length: this.#actors }, (_, b) => (a === b ? 1 : 0)),
    );
    return this.#intern({ known, released: new Map(), marks: new Map() });
  }

  /** The clocks after `actor` made this kind of access to `word`, or the race it is part of. */
  step(id: number, actor: number, word: number, kind: ClockStep): number | Race {
    const key = ((id * this.#actors + actor) * 65536 + word) * 8 + STEPS.indexOf(kind);
    let next = this.#steps.get(key);
    if (next === undefined) this.#steps.set(key, (next = this.#step(id, actor, word, kind)));
    return next;
  }

  /** `to` learns all that `from` knows (a wake-up, or the end of a thread). */
  join(id: number, from: number, to: number): number {
    const key = (id * this.#actors + from) * this.#actors + to;
    let next = this.#joins.get(key);
    if (next === undefined) {
      const clocks = this.#all[id] as Clocks;
      const known = clocks.known.map((row) => row.slice());
      const source = known[from] as number[];
      known[to] = (known[to] as number[]).map((time, a) => Math.max(time, source[a] as number));
      source[from] = (source[from] as number) + 1;
      this.#joins.set(key, (next = this.#intern({ ...clocks, known })));
    }
    return next;
  }

  /** `actor` has ended and will access nothing more, so it need not know anything. */
  retire(id: number, actor: number): number {
    const key = id * this.#actors + actor;
    let next = this.#retired.get(key);
    if (next === undefined) this.#retired.set(key, (next = this.#retire(id, actor)));
    return next;
  }

  #retire(id: number, actor: number): number {
    const clocks = this.#all[id] as Clocks;
    const known = clocks.known.map((row, a) =>
      a === actor ? row.map((time, b) => (b === actor ? time : Number.MAX_SAFE_INTEGER)) : row,
    );
    return this.#intern({ ...clocks, known });
  }

  #step(id: number, actor: number, word: number, kind: ClockStep): number | Race {
    const plain = kind === 'read' || kind === 'write';
    (plain ? this.#plain : this.#atomic).add(word);
    if (!this.#mixed.has(word) && this.#plain.has(word) && this.#atomic.has(word)) {
      this.#mixed.add(word);
      // Its accesses so far were not all remembered.
      throw new StartOver();
    }
    const old = this.#all[id] as Clocks;
    if (this.#changesNothing(old, actor, word, kind)) return id;
    const known = old.known.map((row) => row.slice());
    const mine = known[actor] as number[];
    let { released, marks } = old;
    if (kind === 'load' || kind === 'update') {
      const seen = released.get(word);
      if (seen !== undefined)
        for (let a = 0; a < mine.length; a++) mine[a] = Math.max(mine[a] as number, seen[a] as number);
    }
    if (plain || this.#mixed.has(word)) {
      const writes = kind !== 'read' && kind !== 'load';
      const clash = this.#clash(old, mine, actor, word, writes, !plain);
      if (clash !== undefined) {
        const verb = plain ? 'plain' : 'atomic';
        return {
          race: `data race on ${this.#place(word)}: ${verb} ${writes ? 'write' : 'read'} by ${this.#names[actor]} against ${clash}`,
        };
      }
      const others = (marks.get(word) ?? []).filter(
        (m) => m.actor !== actor || m.writes !== writes || m.atomic === plain,
      );
      marks = new Map(marks).set(word, [...others, { actor, time: mine[actor] as number, writes, atomic: !plain }]);
    }
    if (kind === 'store' || kind === 'update') {
      released = new Map(released).set(word, mine.slice());
      mine[actor] = (mine[actor] as number) + 1;
    }
    return this.#intern({ known, released, marks });
  }

  /** Most accesses teach nothing new: they need no new state. */
  #changesNothing({ known, released, marks }: Clocks, actor: number, word: number, kind: ClockStep): boolean {
    const mine = known[actor] as readonly number[];
    if (kind === 'load' && !this.#mixed.has(word)) {
      return (released.get(word) ?? []).every((time, a) => time <= (mine[a] as number));
    }
    if (kind !== 'read' && kind !== 'write') return false;
    const writes = kind === 'write';
    const time = mine[actor] as number;
    const before = (marks.get(word) ?? []).find((m) => m.actor === actor && m.writes === writes && !m.atomic);
    // The same access at the same time was checked then, against everything that stands here but others' later marks.
    return before?.time === time && (marks.get(word) as AccessMark[]).every((m) => m.actor === actor);
  }

  #clash(
    clocks: Clocks,
    mine: readonly number[],
    actor: number,
    word: number,
    writes: boolean,
    atomic: boolean,
  ): string | undefined {
    for (const m of clocks.marks.get(word) ?? []) {
      if (m.actor === actor || !(writes || m.writes) || (atomic && m.atomic)) continue;
      if (m.time > (mine[m.actor] as number)) return `the ${m.writes ? 'write' : 'read'} by ${this.#names[m.actor]}`;
    }
    return undefined;
  }

  #intern(clocks: Clocks): number {
    const n = this.#actors;
    const everybodyKnows = (m: AccessMark): boolean => clocks.known.every((row) => (row[m.actor] as number) >= m.time);
    const live: [number, AccessMark[]][] = [];
    for (const [word, marks] of clocks.marks) {
      const left = marks.filter((m) => !everybodyKnows(m));
      left.sort(
        (a, b) => a.actor - b.actor || Number(a.writes) - Number(b.writes) || Number(a.atomic) - Number(b.atomic),
      );
      if (left.length > 0) live.push([word, left]);
    }
    live.sort(([a], [b]) => a - b);
    const times: Set<number>[] = Array.from({ length: n }, () => new Set());
    for (const [, marks] of live) for (const m of marks) times[m.actor]!.add(m.time);
    const sorted = times.map((set) => [...set].sort((a, b) => a - b));
    const rank = (actor: number, time: number): number => {
      let r = 0;
      for (const t of sorted[actor]!) if (t <= time) r++;
      return r;
    };
    const known = clocks.known.map((row, a) =>
      row.map((time, b) => {
        const r = rank(b, time);
        // An actor's own time stands above its remembered accesses once it has released them.
        return a === b && (sorted[b]!.length === 0 || time > (sorted[b]!.at(-1) as number)) ? r + 1 : r;
      }),
    );
    const released: [number, number[]][] = [];
    for (const [word, row] of clocks.released) {
      const ranks = row.map((time, a) => rank(a, time));
      if (!known.every((k) => ranks.every((r, a) => (k[a] as number) >= r))) released.push([word, ranks]);
    }
    released.sort(([a], [b]) => a - b);
    const marks = live.map(([word, list]): [number, AccessMark[]] => [
      word,
      list.map((m) => ({ ...m, time: rank(m.actor, m.time) })),
    ]);
    const flat = (m: AccessMark): string => `${m.actor}${m.writes ? 'w' : 'r'}${m.atomic ? 'a' : 'p'}${m.time}`;
    const key = [
      known.join(';'),
      released.map(([w, r]) => `${w}:${r}`).join(';'),
      marks.map(([w, list]) => `${w}:${list.map(flat)}`).join(';'),
    ].join('|');
    let id = this.#byKey.get(key);
    if (id === undefined) {
      id = this.#all.length;
      this.#byKey.set(key, id);
      this.#all.push({ known, released: new Map(released), marks: new Map(marks) });
    }
    return id;
  }
}
