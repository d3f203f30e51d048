// Many channels, one sleep: the shipped ready sets, bells and selector, over park words as channels have them.
//
// A channel here is a word that counts the messages sent, and the park word of its reader.
import * as layout from '../../src/link/layout.ts';
import type { Lookout } from '../../src/link/selector.ts';
import type { ParkPlace } from '../../src/wait/park-place.ts';
import type { Actor, Kit, Model } from '../kit/explore.ts';
import type { Shipped } from './shipped.ts';
import type { NamedModel } from './stage.ts';

// The block: two channels, the reader's page, and the reader's side of two links with ready sets of one summary word.
const VALUE = [0, 1] as const;
const PARK = [2, 3] as const;
/** What the runtime's native port would carry: a doorbell, and the attacher's word of its link. */
const BELL = 4;
const HELLO = 5;
const DEAD = 6;
const MOVED = 7;
const TOLD = 10;
const SLEEP = 8;
/** Where sleeps are counted; nobody looks at it. */
const SLEEPS = 9;
const LINK = [16, 80] as const;
const READY = 16;
const SUMMARY_WORDS = 1;
const WORDS = 144;

const names: Record<number, string> = {
  [VALUE[0]]: 'VALUE of channel 0',
  [VALUE[1]]: 'VALUE of channel 1',
  [PARK[0]]: 'PARK of channel 0',
  [PARK[1]]: 'PARK of channel 1',
  [BELL]: 'BELL',
  [HELLO]: 'HELLO',
  [DEAD]: 'DEAD',
  [MOVED]: 'MOVED',
  [TOLD]: 'TOLD',
  [SLEEP]: 'SLEEP',
  [LINK[0]]: 'REST of link 0',
  [LINK[1]]: 'REST of link 1',
  [LINK[0] + READY]: 'summary of link 0',
  [LINK[1] + READY]: 'summary of link 1',
  [LINK[0] + READY + 1]: 'bits of link 0',
  [LINK[1] + READY + 1]: 'bits of link 1',
};

type Channel = 0 | 1;
type Which = 0 | 1;

const silent = (): void => undefined;
const SLICE_MS = 5;

const at = (shipped: Shipped, words: Int32Array, index: number) => new shipped.SharedPlace(words, index);
const readySet = (shipped: Shipped, words: Int32Array, link: Which) =>
  new shipped.ReadySet(words, LINK[link] + READY, SUMMARY_WORDS);

/** One end of a channel as the reader has it. `taken` counts what it has read. */
class End {
  readonly #shipped: Shipped;
  readonly #words: Int32Array;
  readonly #channel: Channel;
  readonly linked: boolean;
  taken = 0;
  /** The other agent was found dead. */
  gone = false;

  constructor(shipped: Shipped, words: Int32Array, channel: Channel, linked: boolean) {
    this.#shipped = shipped;
    this.#words = words;
    this.#channel = channel;
    this.linked = linked;
  }
  get unread(): boolean {
    return Atomics.load(this.#words, VALUE[this.#channel]) !== this.taken;
  }
  get ready(): boolean {
    return this.unread || this.gone;
  }
  arm(): boolean {
    const { announce, withdraw, ABOVE, DATA } = this.#shipped;
    const place = at(this.#shipped, this.#words, PARK[this.#channel]);
    announce(place, ABOVE, DATA);
    if (!this.ready) return true;
    withdraw(place);
    return false;
  }
}

/** Sends the messages of one agent over one link: to which channel, one after the other. */
function sender(
  shipped: Shipped,
  name: string,
  order: readonly Channel[],
  above: (words: Int32Array, seat: number) => void,
  extra: Partial<Actor> = {},
): Actor {
  return {
    name,
    run(kit) {
      const words = kit.words();
      const sent = [0, 0];
      for (const [i, channel] of order.entries()) {
        kit.checkpoint(i);
        const ring = (): void => above(words, seatOf(order, channel));
        const waker = new shipped.Waker(
          at(shipped, words, PARK[channel]),
          shipped.DATA,
          silent,
          undefined,
          undefined,
          ring,
        );
        Atomics.store(words, VALUE[channel], ++sent[channel]!);
        waker.ring();
      }
    },
    ...extra,
  };
}
/** Seats are given in the order in which channels join their link. */
function seatOf(order: readonly Channel[], channel: Channel): number {
  return order.includes(0) && channel === 1 ? 1 : 0;
}

/** Rings as an agent does that knows the link and the page. */
function overLink(shipped: Shipped, link: Which): (words: Int32Array, seat: number) => void {
  return (words, seat) => {
    const doorbell = (): void => {
      Atomics.add(words, BELL, 1);
      Atomics.notify(words, BELL);
    };
    const agent = (): void => overPage(shipped)(words);
    new shipped.LinkBell(readySet(shipped, words, link), at(shipped, words, LINK[link]), doorbell, agent).ring(seat);
  };
}
/** Rings as an agent does that knows the page only: it has attached, and its link is news to us. */
function overPage(shipped: Shipped): (words: Int32Array) => void {
  return (words) => new shipped.Waker(at(shipped, words, SLEEP), shipped.DATA, silent).ring();
}

// A bell between processes, as an eventfd is one: a counter, which whoever silences it sets to 0, and how often it was rung, of which an epoll by edges
// tells once each, if the bell is not silent by then.
const COUNT = 0xff;
const RING = 0x101;

/** Rings as another process does, which reaches no word that the reader's thread sleeps on. */
function byBell(shipped: Shipped): (words: Int32Array, seat: number) => void {
  return (words, seat) => {
    const bell = (): void => {
      Atomics.add(words, BELL, RING);
      Atomics.notify(words, BELL);
    };
    new shipped.LinkBell(readySet(shipped, words, 0), at(shipped, words, LINK[0]), bell, bell).ring(seat);
  };
}
/** Where the reader sleeps then: poll(2), and a read that silences it. */
function bellPlace(shipped: Shipped, words: Int32Array, rungBlocked: () => void = silent): ParkPlace {
  const bells = new shipped.Bells({
    poll(_table, _count, timeoutMs) {
      for (;;) {
        const bell = Atomics.load(words, BELL);
        if ((bell & COUNT) > 0) return (_table[2] = 1);
        if (Atomics.wait(words, BELL, bell, timeoutMs) === 'timed-out') return 0;
      }
    },
  });
  const take = () => ((Atomics.and(words, BELL, ~COUNT) & COUNT) > 0 ? 'rung' : 'silent');
  bells.add({ descriptor: 1, theirs: 1, take, close: silent }, { rungBlocked });
  const sleep = (_seen: number, timeoutMs: number): boolean => bells.sleep(timeoutMs);
  return { words, index: SLEEP, sliceMsMax: Number.POSITIVE_INFINITY, blocks: shipped.BLOCKED, sleep, wake: silent };
}

/** Asks whether an agent is gone when another one says so. */
class Told implements Lookout {
  readonly overdue = false;
  readonly #words: Int32Array;
  readonly #gone: () => void;
  #heard = 0;

  constructor(words: Int32Array, gone: () => void) {
    this.#words = words;
    this.#gone = gone;
  }
  get told(): boolean {
    return Atomics.load(this.#words, TOLD) !== this.#heard;
  }
  ask(): boolean {
    this.#heard = Atomics.load(this.#words, TOLD);
    if (Atomics.load(this.#words, DEAD) === 1) this.#gone();
    return true;
  }
}

/** What the reader waits for: how often each channel speaks, and by which link. */
interface Expected {
  readonly counts: readonly [number, number];
  readonly links: readonly [Which, Which];
}

/**
 * Blocks until one of its channels has something, again and again.
 * @param hello says first what link it has, as a message on the native port would
 * @param mortal the agent of channel 0 may die, which shows between two slices and is news of that channel
 * @param told it has died, and another agent says so
 */
function selecting(
  shipped: Shipped,
  { counts, links }: Expected,
  {
    linked = true,
    sliceMs = Number.POSITIVE_INFINITY,
    hello = false,
    mortal = false,
    bells = false,
    told = false,
  } = {},
): Actor {
  return {
    name: 'reader',
    run(kit) {
      const words = kit.words();
      const got: (number | string)[] = [];
      const between = (): void => {
        kit.checkpoint(got, watches, selector, 'between two slices');
        // The probe of the runtime.
        if (mortal && Atomics.load(words, DEAD) === 1) watches[0]!.end.gone = true;
      };
      const place = bells ? bellPlace(shipped, words) : at(shipped, words, SLEEP);
      const lookout = told
        ? new Told(words, () => {
            watches[0]!.end.gone = true;
          })
        : undefined;
      const { selector, watches } = selectorOf(shipped, kit, links, sliceMs, linked, between, place, lookout);
      if (hello) Atomics.store(words, HELLO, 1);
      const members = counts.flatMap((count, i) => (count > 0 ? [watches[i]!] : []));
      while (members.length > 0) {
        kit.checkpoint(got, watches, selector);
        const found = selector.select(members, Number.POSITIVE_INFINITY);
        if (found === undefined) throw new Error('no time limit, and no channel');
        const channel = watches.indexOf(found);
        if (found.end.unread) {
          found.end.taken++;
          got.push(channel);
        } else if (found.end.gone) got.push('gone');
        else continue;
        if (got.at(-1) === 'gone' || found.end.taken === counts[channel]) members.splice(members.indexOf(found), 1);
        if (mortal && watches[0]!.end.taken === counts[0]) break;
      }
      return got;
    },
  };
}

type Loop = 'doorbell' | 'async';

/** Waits for both channels with its event loop. */
function looping(shipped: Shipped, { counts, links }: Expected, sleep: Loop): Actor {
  return {
    name: 'reader',
    async run(kit) {
      const { words, ends, watches } = selectorOf(shipped, kit, links);
      const got: number[] = [];
      let looked: (() => void) | undefined;
      let rung = false;
      const loop: InstanceType<Shipped['DoorbellWait' | 'AsyncWait']> =
        sleep === 'doorbell'
          ? new shipped.DoorbellWait(at(shipped, words, LINK[0]), SLEEPS)
          : new shipped.AsyncWait(at(shipped, words, LINK[0]), SLEEPS, () => {
              ends[0]!.rung(loop);
              rung = true;
              looked?.();
            });
      let bells = 0;
      const due = new Set(watches);
      for (const watch of watches) watch.marked = () => void due.add(watch);
      while (got.length < counts[0] + counts[1]) {
        kit.checkpoint(
          got,
          ends,
          loop,
          bells,
          [...due].map((watch) => watches.indexOf(watch)),
          watches.map((it) => it.end),
        );
        for (const watch of due) {
          due.delete(watch);
          if (!watch.end.unread && watch.end.arm()) continue;
          watch.end.taken++;
          got.push(watches.indexOf(watch));
          due.add(watch);
        }
        if (got.length === counts[0] + counts[1]) break;
        rung = false;
        ends[0]!.restOnLoop(loop);
        // It tells of marks when whoever went to rest has returned.
        await undefined;
        if (due.size > 0) continue;
        if (sleep === 'doorbell') {
          while (Atomics.load(words, BELL) === bells) {
            const bell = Atomics.waitAsync(words, BELL, bells);
            if (bell.async) await bell.value;
          }
          bells = Atomics.load(words, BELL);
          ends[0]!.rung(loop);
          await undefined;
        } else if (!rung) await new Promise<void>((resolve) => (looked = resolve));
      }
      return got;
    },
  };
}

/** Waits for a channel of each of two links with its event loop, which one bell wakes for both. */
function loopingByBell(shipped: Shipped, { counts, links }: Expected): Actor {
  return {
    name: 'reader',
    async run(kit) {
      const { words, ends, watches } = selectorOf(shipped, kit, links);
      const loops = LINK.map((link) => new shipped.DoorbellWait(at(shipped, words, link), SLEEPS));
      const got: number[] = [];
      let bells = 0;
      const due = new Set(watches);
      for (const watch of watches) watch.marked = () => void due.add(watch);
      while (got.length < counts[0] + counts[1]) {
        const dues = [...due].map((watch) => watches.indexOf(watch));
        kit.checkpoint(
          got,
          ends,
          bells,
          dues,
          watches.map((it) => it.end),
        );
        for (const watch of due) {
          due.delete(watch);
          if (!watch.end.unread && watch.end.arm()) {
            // As ports do: for a link that has nothing to say nobody does it again.
            const link = links[watches.indexOf(watch)]!;
            ends[link]!.restOnLoop(loops[link]!);
            continue;
          }
          watch.end.taken++;
          got.push(watches.indexOf(watch));
          due.add(watch);
        }
        if (got.length === counts[0] + counts[1]) break;
        // It tells of marks when whoever went to rest has returned.
        await undefined;
        if (due.size > 0) continue;
        while (Atomics.load(words, BELL) === bells) {
          const bell = Atomics.waitAsync(words, BELL, bells);
          if (bell.async) await bell.value;
        }
        // Silent before anybody looks, whatever was rung meanwhile.
        bells = Atomics.load(words, BELL);
        for (const [i, loop] of loops.entries()) ends[i]!.heard(loop);
        await undefined;
      }
      return got;
    },
  };
}

/** Blocks for channel 0 until it has spoken, then waits for channel 1 with its event loop, and so on. */
function inTurn(shipped: Shipped, { counts, links }: Expected): Actor {
  return {
    name: 'reader',
    async run(kit) {
      const { words, ends, selector, watches } = selectorOf(shipped, kit, links);
      const [first, second] = watches as [(typeof watches)[0], (typeof watches)[0]];
      const loop = new shipped.DoorbellWait(at(shipped, words, LINK[0]), SLEEPS);
      const got: number[] = [];
      let bells = 0;
      let marked = false;
      second.marked = () => void (marked = true);
      while (got.length < counts[0] + counts[1]) {
        kit.checkpoint(got, selector, first, second.end, ends, loop, bells, marked);
        selector.select([first], Number.POSITIVE_INFINITY);
        first.end.taken++;
        got.push(0);
        while (!second.end.unread && second.end.arm()) {
          // The event loop's turn.
          kit.checkpoint(got, selector, first, second.end, ends, loop, bells, marked, 'loop');
          marked = false;
          ends[0]!.restOnLoop(loop);
          await undefined;
          while (!marked) {
            while (Atomics.load(words, BELL) === bells) {
              const bell = Atomics.waitAsync(words, BELL, bells);
              if (bell.async) await bell.value;
            }
            bells = Atomics.load(words, BELL);
            ends[0]!.rung(loop);
            await undefined;
          }
        }
        second.end.taken++;
        got.push(1);
      }
      return got;
    },
  };
}

/**
 * The same over a link to a process. The event loop is told of each ring and silences nothing: what it was told of ends the next sleep of `select`, which
 * silences the bell behind it, so that the event loop may hear nothing of what rings meanwhile.
 */
function inTurnByBell(shipped: Shipped, { counts, links }: Expected): Actor {
  return {
    name: 'reader',
    async run(kit) {
      let later = false;
      const place = bellPlace(shipped, kit.words(), () => {
        later = true;
        kit.checkpoint(got, selector, watches, ends, loop, told, marked, later, 'rung while blocked');
      });
      const { words, ends, selector, watches } = selectorOf(shipped, kit, links, undefined, true, silent, place);
      const [first, second] = watches as [(typeof watches)[0], (typeof watches)[0]];
      const loop = new shipped.DoorbellWait(at(shipped, words, LINK[0]), SLEEPS);
      const got: number[] = [];
      let told = 0;
      let marked = false;
      second.marked = () => void (marked = true);
      while (got.length < counts[0] + counts[1]) {
        kit.checkpoint(got, selector, first, second.end, ends, loop, told, marked, later);
        selector.select([first], Number.POSITIVE_INFINITY);
        first.end.taken++;
        got.push(0);
        while (!second.end.unread && second.end.arm()) {
          // The event loop's turn.
          kit.checkpoint(got, selector, first, second.end, ends, loop, told, marked, later, 'loop');
          marked = false;
          if (later) ends[0]!.rung(loop);
          later = false;
          ends[0]!.restOnLoop(loop);
          await undefined;
          while (!marked) {
            for (;;) {
              const now = Atomics.load(words, BELL);
              if ((now & COUNT) > 0 && now >> 8 !== told) {
                told = now >> 8;
                break;
              }
              const bell = Atomics.waitAsync(words, BELL, now);
              if (bell.async) await bell.value;
            }
            ends[0]!.rung(loop);
            await undefined;
          }
        }
        second.end.taken++;
        got.push(1);
      }
      return got;
    },
  };
}

function selectorOf(
  shipped: Shipped,
  kit: Kit,
  links: readonly [Which, Which],
  sliceMs = Number.POSITIVE_INFINITY,
  linked = true,
  between = silent,
  place: ParkPlace = at(shipped, kit.words(), SLEEP),
  lookout?: Lookout,
) {
  const words = kit.words();
  const ends = ([0, 1] as const).map(
    (link) => new shipped.LinkEnd(readySet(shipped, words, link), at(shipped, words, LINK[link])),
  );
  const selector = new shipped.Selector(
    ends,
    (slice) =>
      new shipped.BlockingWait(
        place,
        SLEEPS,
        new shipped.Spin(0),
        () => sliceMs,
        () => {
          between();
          slice();
        },
      ),
    lookout,
  );
  const watches = ([0, 1] as const).map((channel) => {
    const watch = selector.watch(new End(shipped, words, channel, linked));
    ends[links[channel]]!.add(watch);
    return watch;
  });
  return { words, ends, selector, watches };
}

/** Whoever has learnt that an agent is gone, and tells all whose pages it knows. */
function teller(shipped: Shipped): Actor {
  return {
    name: 'teller',
    run(kit) {
      const words = kit.words();
      Atomics.store(words, DEAD, 1);
      shipped.tellOfDeath(words, () => overPage(shipped)(words));
    },
  };
}

/**
 * Blocks for channel 0 alone, where nobody but others can tell it that its peer is gone: until it has all, and has heard of the end if there is
 * one. Above, no slice of its own wakes it.
 */
function quiet(shipped: Shipped, count: number, mortal: boolean): Actor {
  return {
    name: 'reader',
    run(kit) {
      const words = kit.words();
      const end = new shipped.LinkEnd(readySet(shipped, words, 0), at(shipped, words, LINK[0]));
      end.add({ marked: silent });
      const soundly = at(shipped, words, SLEEP);
      soundly.sleep = (seen) => Atomics.wait(words, SLEEP, seen) !== 'timed-out';
      const link = { end, rest: silent };
      const there = (): typeof link | undefined => (Atomics.load(words, MOVED) === 0 ? link : undefined);
      const place = new shipped.QuietPlace(at(shipped, words, PARK[0]), soundly, there);
      const heard = new End(shipped, words, 0, true);
      const got: (number | string)[] = [];
      const look = (): boolean => heard.unread || (heard.gone && !got.includes('gone'));
      const slice = (): void => {
        kit.checkpoint(got, heard, place, 'between two sleeps');
        heard.gone = Atomics.load(words, DEAD) === 1;
      };
      const spin = new shipped.Spin(0);
      const wait = new shipped.BlockingWait(place, SLEEPS, spin, () => Number.POSITIVE_INFINITY, slice);
      while (heard.taken < count || (mortal && !got.includes('gone'))) {
        kit.checkpoint(got, heard, place);
        wait.wait(shipped.DATA, look, Number.POSITIVE_INFINITY);
        const spoke = heard.unread;
        if (spoke) heard.taken++;
        got.push(spoke ? 0 : 'gone');
      }
      return got;
    },
  };
}

/** The reader has all, in the order of each channel. */
function heard({ counts }: Expected): NonNullable<Model['final']> {
  return ({ results, killed }) => {
    const got = results['reader'] as (number | string)[];
    const short = counts.some((count, i) => got.filter((it) => it === i).length !== count);
    return short && killed === undefined ? `heard ${got}, not ${counts}` : undefined;
  };
}

function model(expected: Expected, actors: readonly Actor[], extra: Partial<Model> = {}): Model {
  return { words: WORDS, names, counters: [SLEEPS], actors, final: heard(expected), ...extra };
}

/** The words of the agent's page that stand where they stand there, with nothing else that these models use. */
const QUIET: Partial<Model> = {
  names: { ...names, [layout.DEATHS]: 'DEATHS' },
  counters: [SLEEPS, layout.SLEEPS],
  timeoutsAreProgress: true,
};

export const linkModels: readonly NamedModel[] = [
  {
    name: 'link: select over two links',
    about: 'two agents speak to one that blocks on both their channels',
    reaches: [/reader:\[0,1\]/, /reader:\[1,0\]/],
    make(shipped) {
      const expected: Expected = { counts: [1, 1], links: [0, 1] };
      return model(expected, [
        sender(shipped, 'left', [0], overLink(shipped, 0)),
        sender(shipped, 'right', [1], overLink(shipped, 1)),
        selecting(shipped, expected),
      ]);
    },
  },
  {
    name: 'link: select over one link',
    about: 'two channels of one pair share a ready set and its summary',
    reaches: [/reader:\[0,1,0\]/, /reader:\[0,0,1\]/],
    make(shipped) {
      const expected: Expected = { counts: [2, 1], links: [0, 0] };
      return model(expected, [sender(shipped, 'left', [0, 1, 0], overLink(shipped, 0)), selecting(shipped, expected)]);
    },
  },
  {
    name: 'link: select over a link to a process',
    about: 'nobody rings the word that threads wake each other by: the reader sleeps by its bell, without slices',
    reaches: [/reader:\[0,1,0\]/, /reader:\[0,0,1\]/],
    make(shipped) {
      const expected: Expected = { counts: [2, 1], links: [0, 0] };
      return model(expected, [
        sender(shipped, 'left', [0, 1, 0], byBell(shipped)),
        selecting(shipped, expected, { bells: true }),
      ]);
    },
  },
  ...(['doorbell', 'async'] as const).map(
    (sleep): NamedModel => ({
      name: sleep === 'doorbell' ? 'link: an event loop' : 'link: an event loop in waitAsync',
      about:
        'woken once for two channels, however much there is to say; by the native port, or on the word of the link',
      reaches: [/reader:\[0,1,0\]/, /reader:\[0,0,1\]/],
      make(shipped) {
        const expected: Expected = { counts: [2, 1], links: [0, 0] };
        return model(expected, [
          sender(shipped, 'left', [0, 1, 0], overLink(shipped, 0)),
          looping(shipped, expected, sleep),
        ]);
      },
    }),
  ),
  {
    name: 'link: an event loop with one bell for two links',
    about: 'two agents ring it, each for its own link; of the other one it rests on',
    reaches: [/reader:\[0,1\]/, /reader:\[1,0\]/],
    make(shipped) {
      const expected: Expected = { counts: [1, 1], links: [0, 1] };
      return model(expected, [
        sender(shipped, 'left', [0], overLink(shipped, 0)),
        sender(shipped, 'right', [1], overLink(shipped, 1)),
        loopingByBell(shipped, expected),
      ]);
    },
  },
  {
    name: 'link: select and event loop in turn',
    about: 'a thread that blocks for one channel while its event loop waits for another of the same link',
    make(shipped) {
      const expected: Expected = { counts: [2, 2], links: [0, 0] };
      return model(expected, [sender(shipped, 'left', [0, 1, 1, 0], overLink(shipped, 0)), inTurn(shipped, expected)]);
    },
  },
  {
    name: 'link: select and event loop in turn, to a process',
    about: 'the same by a bell that the event loop is told of by edges, and does not silence',
    make(shipped) {
      const expected: Expected = { counts: [2, 2], links: [0, 0] };
      return model(expected, [sender(shipped, 'left', [0, 1, 1, 0], byBell(shipped)), inTurnByBell(shipped, expected)]);
    },
  },
  {
    name: 'link: the attacher is not known yet',
    about: 'who made the channel blocks; the one that attached rings its page, and has no link that is known there',
    make(shipped) {
      const expected: Expected = { counts: [2, 1], links: [0, 1] };
      return model(expected, [
        sender(shipped, 'left', [0, 0], overPage(shipped)),
        sender(shipped, 'right', [1], overPage(shipped)),
        selecting(shipped, expected, { linked: false }),
      ]);
    },
  },
  {
    name: 'link: the maker reads who attached',
    about: 'the attacher blocks; the maker finds it asleep, takes the link off its native port and marks it there',
    make(shipped) {
      const expected: Expected = { counts: [2, 1], links: [0, 0] };
      const found = (words: Int32Array, seat: number): void => {
        if (Atomics.load(words, HELLO) === 1) overLink(shipped, 0)(words, seat);
      };
      return model(expected, [
        sender(shipped, 'left', [0, 1, 0], found),
        selecting(shipped, expected, { hello: true }),
      ]);
    },
  },
  {
    name: 'link: the maker can read no port',
    about: 'as in browsers: the attacher is not told of messages before the maker had a turn, and looks by itself',
    make(shipped) {
      const expected: Expected = { counts: [2, 1], links: [0, 0] };
      return model(
        expected,
        [
          sender(shipped, 'left', [0, 1, 0], silent),
          selecting(shipped, expected, { linked: false, sliceMs: SLICE_MS }),
        ],
        { timeoutsAreProgress: true },
      );
    },
  },
  {
    name: 'link: a scribbled page',
    about: 'a third agent writes whatever it likes over the word that all of them ring; a slice finds what was said',
    make(shipped) {
      const expected: Expected = { counts: [1, 0], links: [0, 0] };
      const scribbler: Actor = {
        name: 'third',
        run(kit) {
          const words = kit.words();
          Atomics.store(words, SLEEP, shipped.BLOCKED | shipped.DATA);
          Atomics.store(words, SLEEP, 12345);
        },
      };
      return model(
        expected,
        [
          sender(shipped, 'left', [0], overLink(shipped, 0)),
          selecting(shipped, expected, { sliceMs: SLICE_MS }),
          scribbler,
        ],
        { timeoutsAreProgress: true },
      );
    },
  },
  {
    name: 'link: a scribbled ready set',
    about: 'one of the pair marks what it likes: who waits looks, finds nothing, and goes on waiting',
    make(shipped) {
      const expected: Expected = { counts: [1, 0], links: [0, 1] };
      const speaks = sender(shipped, 'left', [0], overLink(shipped, 0));
      const left: Actor = {
        name: 'left',
        run(kit) {
          overLink(shipped, 0)(kit.words(), 0);
          speaks.run(kit);
        },
      };
      return model(expected, [left, selecting(shipped, expected)]);
    },
  },
  {
    name: 'link: select is told of an end',
    about: 'by an agent that has no channel with who selects, and rings its page: no slice finds it',
    reaches: [/reader:\["gone",1\]/, /reader:\[1,"gone"\]/],
    make(shipped) {
      const expected: Expected = { counts: [1, 1], links: [0, 1] };
      const tells: Actor = {
        name: 'teller',
        run(kit) {
          const words = kit.words();
          Atomics.store(words, DEAD, 1);
          Atomics.add(words, TOLD, 1);
          overPage(shipped)(words);
        },
      };
      const right = sender(shipped, 'right', [1], overLink(shipped, 1));
      return model(expected, [tells, right, selecting(shipped, expected, { told: true })], {
        final: ({ results }) => {
          const got = results['reader'] as (number | string)[];
          return got.includes('gone') && got.includes(1) ? undefined : `heard ${got}`;
        },
      });
    },
  },
  {
    name: 'link: quiet, and the peer speaks',
    about:
      'who has blocked for a while sleeps above; what rings for one message may come when it has gone to sleep again',
    make(shipped) {
      const left = sender(shipped, 'left', [0, 0], overLink(shipped, 0));
      return { ...model({ counts: [2, 0], links: [0, 0] }, [left, quiet(shipped, 2, false)]), ...QUIET };
    },
  },
  {
    name: 'link: quiet, and one agent tells of the other',
    about: 'neither a message nor the news of the end is slept through',
    reaches: [/reader:\[0,"gone"\]/, /reader:\["gone",0\]/],
    make(shipped) {
      const left = sender(shipped, 'left', [0], overLink(shipped, 0));
      return {
        ...model({ counts: [1, 0], links: [0, 0] }, [left, teller(shipped), quiet(shipped, 1, true)]),
        ...QUIET,
      };
    },
  },
  {
    name: 'link: quiet, and the other end moves',
    about:
      'to an agent that has no link with the one that sleeps above: it is rung by who leaves, and from there on its own word',
    make(shipped) {
      const left: Actor = {
        name: 'left',
        run(kit) {
          Atomics.store(kit.words(), MOVED, 1);
          overLink(shipped, 0)(kit.words(), 0);
        },
      };
      const right = sender(shipped, 'right', [0], silent, { afterEnd: 'left' });
      return { ...model({ counts: [1, 0], links: [0, 0] }, [left, right, quiet(shipped, 1, false)]), ...QUIET };
    },
  },
  {
    name: 'link: one agent of two is killed',
    about: 'at any step of its sending; the other one, which speaks after that, is heard, and so is the death',
    reaches: [/left killed: .*reader:\[1,"gone"\]/, /reader:\[0\]/],
    make(shipped) {
      const expected: Expected = { counts: [1, 1], links: [0, 1] };
      const other = sender(shipped, 'right', [1], overLink(shipped, 1));
      const right: Actor = {
        name: 'right',
        afterKill: 'left',
        run(kit) {
          Atomics.store(kit.words(), DEAD, 1);
          other.run(kit);
        },
      };
      return model(
        expected,
        [
          sender(shipped, 'left', [0], overLink(shipped, 0), { killable: true }),
          selecting(shipped, expected, { sliceMs: SLICE_MS, mortal: true }),
          right,
        ],
        {
          kills: 1,
          timeoutsAreProgress: true,
          final({ results, killed }) {
            const got = results['reader'] as (number | string)[];
            return got.includes(0) || (killed !== undefined && got.includes('gone') && got.includes(1))
              ? undefined
              : `heard ${got}`;
          },
        },
      );
    },
  },
];
