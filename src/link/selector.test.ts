import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SELECT_WARM_TURNS } from '../limits.ts';
import { BlockingWait } from '../wait/block.ts';
import { SharedPlace } from '../wait/park-place.ts';
import { Spin } from '../wait/spin.ts';
import { LINK_PAGE_BYTES, READY, REST, SIDE_0, SLEEP, SLEEPS } from './layout.ts';
import { LinkBell } from './link-bell.ts';
import { LinkEnd } from './link-end.ts';
import { ReadySet } from './ready-set.ts';
import { type Selectable, Selector, type Watch } from './selector.ts';

/** A channel of which the messages are counted, and how often it was looked at. */
class Fake implements Selectable {
  fails = false;
  linked = true;
  messages = 0;
  announced = false;
  looks = 0;
  readonly seat: number;
  readonly #bell: LinkBell;
  constructor(seat: number, bell: LinkBell) {
    this.seat = seat;
    this.#bell = bell;
  }
  get ready(): boolean {
    this.looks++;
    if (this.fails) throw new RangeError('no stack');
    return this.messages > 0;
  }
  arm(): boolean {
    this.announced = this.messages === 0;
    return this.announced;
  }
  /** As the other side does it. */
  say(): void {
    this.messages++;
    if (!this.announced) return;
    this.announced = false;
    this.#bell.ring(this.seat);
  }
}

function stage(count: number, slice?: (watches: readonly Watch<Fake>[]) => unknown) {
  const page = new Int32Array(new SharedArrayBuffer(64));
  const words = new Int32Array(new SharedArrayBuffer(LINK_PAGE_BYTES));
  const ready = new ReadySet(words, SIDE_0 + READY);
  const rest = new SharedPlace(words, SIDE_0 + REST);
  const end = new LinkEnd(ready, rest);
  const bell = new LinkBell(
    ready,
    rest,
    () => {},
    () => {},
  );
  const selector = new Selector(
    [end],
    (look) =>
      new BlockingWait(
        new SharedPlace(page, SLEEP),
        SLEEPS,
        new Spin(0),
        () => (slice ? 1 : Number.POSITIVE_INFINITY),
        look,
      ),
    {
      overdue: false,
      ask() {
        return slice?.(watches) === true;
      },
    },
  );
  const watches: Watch<Fake>[] = [];
  for (let seat = 0; seat < count; seat++) {
    const watch = selector.watch(new Fake(seat, bell));
    assert.equal(end.add(watch), seat);
    watches.push(watch);
  }
  return { bell, end, selector, watches };
}

test('select() hands out who has something, and nobody when nobody has', () => {
  const { selector, watches } = stage(3);
  assert.equal(selector.select(watches, 0), undefined);
  watches[1]!.end.say();
  assert.equal(selector.select(watches, 0), watches[1]);
  watches[1]!.end.messages = 0;
  assert.equal(selector.select(watches, 0), undefined);
  assert.equal(selector.select(watches, 5), undefined);
});

test('a mark that is lost costs one look at all: the next one is made again', () => {
  let slices = 0;
  const { selector, watches } = stage(2, ([first]) => {
    slices++;
    // Its announcement is taken back, and no mark comes.
    if (slices === 1) first!.end.announced = false;
    if (slices === 3) first!.end.say();
    return slices === 2;
  });
  assert.equal(selector.select(watches, 10_000), watches[0]);
  assert.ok(slices < 1000, `${slices} slices`);
});

test('who is disturbed in the middle of a call is asked in that call', () => {
  let slices = 0;
  const { selector, watches } = stage(2, ([first, second]) => {
    slices++;
    if (slices === 1) {
      // What it had announced was answered elsewhere.
      first!.end.announced = false;
      first!.disturbed();
    }
    if (slices === 3) first!.end.say();
    assert.equal(second!.armed, true);
  });
  assert.equal(selector.select(watches, 10_000), watches[0]);
  assert.ok(slices < 1000, `${slices} slices`);
  // Behind it nobody stands in the line for having been disturbed.
  watches[0]!.end.messages = 0;
  assert.equal(selector.select(watches, 0), undefined);
  watches[1]!.disturbed();
  assert.equal(watches[1]!.armed, false);
});

test('after a call that has thrown, as where the stack ends, select() asks all members anew', () => {
  const { selector, watches } = stage(3);
  assert.equal(selector.select(watches, 0), undefined);
  for (const { end } of watches) {
    end.fails = true;
    end.say();
  }
  assert.throws(() => selector.select(watches, 0, true), /no stack/);
  for (const { end } of watches) end.fails = false;
  const found = watches.map(() => {
    const watch = selector.select(watches, 0, true);
    if (watch !== undefined) watch.end.messages = 0;
    return watch;
  });
  assert.deepEqual(new Set(found), new Set(watches));
  assert.equal(selector.select(watches, 0, true), undefined);
});

test('select() is fair: one that always has something keeps no other one waiting for more than a round', () => {
  const { selector, watches } = stage(4);
  const [hot, ...others] = watches as [Watch<Fake>, ...Watch<Fake>[]];
  hot.end.messages = 1;
  for (let round = 0; round < 20; round++) {
    for (const other of others) {
      selector.select(watches, 0);
      other.end.say();
      const turns = [selector.select(watches, 0), selector.select(watches, 0)];
      assert.ok(turns.includes(other), `round ${round}`);
      other.end.messages = 0;
    }
  }
});

test('select() looks into the memory of those that have something, however many it is asked about', () => {
  const { selector, watches } = stage(1000);
  selector.select(watches, 0);
  for (const { end } of watches) end.looks = 0;
  for (const index of [500, 3, 999, 3]) {
    const watch = watches[index]!;
    watch.end.say();
    assert.equal(selector.select(watches, 0), watch);
    watch.end.messages = 0;
  }
  const looks = watches.reduce((sum, { end }) => sum + end.looks, 0);
  assert.ok(looks <= 12, `${looks} looks`);
});

test('a channel that nobody asks for now is not lost to who asks for it later', () => {
  const { selector, watches } = stage(2);
  const [one, other] = watches as [Watch<Fake>, Watch<Fake>];
  assert.equal(selector.select(watches, 0), undefined);
  other.end.say();
  assert.equal(selector.select([one], 0), undefined);
  assert.equal(selector.select([other], 0), other);
});

test('seats are given again, and a late mark for the former owner is a look for nothing', () => {
  const { bell, end, selector, watches } = stage(3);
  selector.select(watches, 0);
  watches[1]!.end.say();
  end.remove(1);
  const next = selector.watch(new Fake(1, bell));
  assert.equal(end.add(next), 1);
  assert.equal(selector.select([watches[0]!, next, watches[2]!], 0), undefined);
  assert.equal(end.add(selector.watch(new Fake(3, bell))), 3);
});

test('asked again for the same members, select() looks at nobody but those that have something', () => {
  const { selector, watches } = stage(1000);
  assert.equal(selector.select(watches, 0), undefined);
  for (const { end } of watches) end.looks = 0;
  watches[7]!.end.say();
  assert.equal(selector.select(watches, 0, true), watches[7]);
  watches[7]!.end.messages = 0;
  assert.equal(selector.select(watches, 0, true), undefined);
  assert.ok(watches.reduce((sum, { end }) => sum + end.looks, 0) <= 4);
  // Somebody else has used its park word: no mark will come.
  watches[9]!.disturbed();
  watches[9]!.end.announced = false;
  watches[9]!.end.say();
  assert.equal(selector.select(watches, 0, true), watches[9]);
});

test('whose turn it is outlasts what the line forgets', () => {
  const { selector, watches } = stage(3);
  for (const { end } of watches) end.messages = 1;
  const turns = Array.from({ length: 6 }, () => {
    const found = selector.select(watches, 0);
    selector.forget();
    return found;
  });
  assert.deepEqual(turns, [...watches, ...watches]);
});

test('who was handed out just now is looked at and not announced, until the selector sleeps', () => {
  const { selector, watches } = stage(3);
  selector.select(watches, 0);
  const [one] = watches as [Watch<Fake>];
  one.end.say();
  assert.equal(selector.select(watches, 0), one);
  one.end.messages = 0;
  assert.equal(selector.select(watches, 0, true), undefined);
  assert.equal(one.end.announced, false);
  // Nobody rings, and it is found all the same, in its turn.
  one.end.messages = 1;
  assert.equal(selector.select(watches, 0, true), one);
  one.end.messages = 0;
  assert.equal(selector.select(watches, 5, true), undefined);
  assert.equal(one.end.announced, true);
});

test('few are looked at without an announcement, however many were handed out', () => {
  const { selector, watches } = stage(20);
  for (const { end } of watches) end.messages = 1;
  for (let i = 0; i < 20; i++) (selector.select(watches, 0, i > 0) as Watch<Fake>).end.messages = 0;
  assert.equal(selector.select(watches, 0, true), undefined);
  assert.ok(watches.filter(({ end }) => !end.announced).length <= SELECT_WARM_TURNS);
});

test('a channel that leaves its link while select blocks is looked at in slices', () => {
  // Its other end is in a thread that does not know our link: nobody marks it.
  const { selector, watches } = stage(3, ([one]) => {
    one!.end.linked = false;
    one!.end.messages = 1;
  });
  assert.equal(selector.select(watches, 10_000), watches[0]);
  // And so it stays in later calls, until it has joined another one.
  watches[0]!.end.messages = 0;
  assert.equal(selector.select(watches, 10_000, true), watches[0]);
});

test('a channel that turns out to wait for what no mark tells is looked at in each slice from there on', () => {
  let slices = 0;
  const { selector, watches } = stage(1000, ([one]) => {
    slices++;
    one!.end.messages = 1;
  });
  const { end } = watches[0] as Watch<Fake>;
  // What comes next there is on its way elsewhere: known once it was looked at.
  Object.defineProperty(end, 'ready', {
    get: () => {
      end.linked = false;
      return end.messages > 0;
    },
  });
  assert.equal(selector.select(watches, 10_000), watches[0]);
  assert.ok(slices <= 2, `${slices} slices`);
});
