// Channels on their way to the link of their threads: the shipped joining over native ports whose messages come in order, line
// by line, in whatever order of lines. Values go both ways meanwhile, ends are closed, go over to another thread, and threads die at
// any step, threads block, and one lies.
import { LINK_PAGE_BYTES } from '../../src/link/layout.ts';
import { ATTACHED, SIDE_0, SIDE_1 } from '../../src/memory/layout.ts';
import type { Channel, Natives, Thread } from './lines-stage.ts';
import { LinesWorld } from './lines-world.ts';
import type { Shipped } from './shipped.ts';
import type { NamedModel } from './stage.ts';

interface Two {
  readonly world: LinesWorld;
  readonly a: Thread;
  readonly b: Thread;
  readonly c0: Channel;
  readonly c1: Channel;
}

/** Two threads: `a` has made two channels, of which `b` attaches the first one, and then the second one. */
function two(shipped: Shipped, aTakes = true, bTakes = true): Two {
  const world = new LinesWorld(shipped);
  const a = world.thread('a', aTakes);
  const b = world.thread('b', bTakes);
  const [c0, c1] = [world.make('c0', a), world.make('c1', a)] as const;
  world.attach(c0, b, a);
  world.attach(c1, b, a);
  return { world, a, b, c0, c1 };
}

/** The same with a link that both know. */
function linked(shipped: Shipped, aTakes = true, bTakes = true): Two {
  const made = two(shipped, aTakes, bTakes);
  made.world.step('b attaches c0');
  made.world.settle();
  return made;
}

/** Two threads with one channel, which is their link. */
function alone(shipped: Shipped, aTakes = true, bTakes = true): Omit<Two, 'c1'> {
  const world = new LinesWorld(shipped);
  const a = world.thread('a', aTakes);
  const b = world.thread('b', bTakes);
  const c0 = world.make('c0', a);
  world.attach(c0, b, a);
  world.step('b attaches c0');
  world.settle();
  return { world, a, b, c0 };
}

/**
 * Both ends of that have left; `y` has opened the one, `x` is to open the other.
 * @param takes the second one had heard of the first one's move; else it hears by turns only, so that the moves cross
 */
function moved(shipped: Shipped, takes: boolean): Omit<Two, 'c1'> & { readonly x: Thread; readonly y: Thread } {
  const made = alone(shipped, true, takes);
  const { world, c0 } = made;
  const [x, y] = [world.thread('x'), world.thread('y')] as const;
  world.travels(c0, 0, x);
  world.travels(c0, 1, y);
  for (const act of ['0 leaves for x 1', '1 leaves for y 1', '1 arrives at y 1']) world.step(`c0: side ${act}`);
  return { ...made, x, y };
}

/** The same, both are open, and neither thread that was left has passed anything on. What is about links is in the models above. */
function leftBehind(shipped: Shipped): ReturnType<typeof moved> {
  const made = alone(shipped, true, false);
  const { world, c0 } = made;
  const [x, y] = [world.thread('x'), world.thread('y')] as const;
  for (const thread of [x, y]) thread.joins = false;
  world.mayStayAlone = true;
  world.travels(c0, 0, x);
  world.travels(c0, 1, y);
  for (const act of ['0 leaves for x 1', '1 leaves for y 1', '1 arrives at y 1', '0 arrives at x 1'])
    world.step(`c0: side ${act}`);
  return { ...made, x, y };
}

/**
 * Both ends have left at once, and have a link again, by way of one of the threads that were left. The other one has had no turn
 * since: what it has heard it passes on at some time.
 * @param late it
 */
function metAgain(shipped: Shipped, late: 'a' | 'b'): ReturnType<typeof moved> {
  const made = moved(shipped, false);
  const { world, a, b, x, y } = made;
  world.step('c0: side 0 arrives at x 1');
  world.settle([late === 'a' ? b : a, x, y]);
  return made;
}

/** A model that starts there. */
function from(
  name: string,
  about: string,
  reaches: readonly RegExp[],
  set: (shipped: Shipped) => LinesWorld,
): NamedModel {
  return { name: `joining: ${name}`, about, reaches, make: (shipped) => ({ make: () => set(shipped) }) };
}

const VALUE = 5;
const FOUND = 17;
const JOIN = 19;
const JOINED = 20;
const DECLINED = 21;
const LAST = 22;
const AGREED = 23;
const KNOWN = 24;
const UNKNOWN = 25;
const LIES_MAX = 2;

/**
 * Two threads with a link, and somebody who knows both, has given `a` a handle in the name of `b` and holds one that `b` has
 * made. Says over either whatever may do harm, in any order, with any token that it has heard.
 */
function lied(shipped: Shipped): LinesWorld {
  const { world, a, b, c0 } = linked(shipped);
  const forged = world.channel('forged');
  const given = world.make('given', b);
  const raw = [forged.natives[0], given.natives[1]] as const;
  Atomics.store(forged.words, SIDE_0 + ATTACHED, 1);
  Atomics.store(given.words, SIDE_1 + ATTACHED, 1);
  world.attach(forged, a, b);
  world.step('a attaches forged');
  for (const channel of [forged, given]) world.lost.add(channel);
  world.posts(forged, 1);
  world.posts(given, 0);

  let lies = 0;
  const heard = (): string[] => {
    const texts = raw.flatMap(({ side }) => side.queue.flat()).filter((each) => typeof each === 'string');
    return [...new Set(texts)];
  };
  const lie = (natives: Natives, kind: number, token: number | undefined, ...rest: readonly unknown[]): void => {
    const to = natives === raw[0] ? 'a' : 'b';
    world.acts.push({
      name: `lie ${kind} to ${to}${token === undefined ? '' : `, token ${token}`}`,
      ready: () => lies < LIES_MAX && (token === undefined || heard().length > token),
      run: () => {
        lies++;
        natives.side.postMessage([kind, 0, ...(token === undefined ? [] : [heard()[token]]), ...rest]);
        natives.tether.postMessage(1);
      },
    });
  };
  const [toA, toB] = raw;
  lie(toA, JOINED, undefined);
  lie(toA, DECLINED, 0);
  lie(toB, JOIN, 0, null, a.links.card);
  for (const token of [0, 1]) lie(toB, AGREED, token);
  lie(toB, LAST, undefined);
  lie(toB, FOUND, undefined, new SharedArrayBuffer(LINK_PAGE_BYTES), null, a.links.card);

  world.also = () => {
    for (const end of c0.ends) {
      if (end?.ended !== undefined) return `${end.name} was told ${end.ended}`;
      // What its own channels do not get goes to nobody.
      for (const message of end?.channel.natives[end.side].side.queue ?? []) {
        const [kind, address, , content] = message as [number, number, number, Map<number, unknown[]>];
        if (kind !== VALUE) continue;
        const [name] = content.get(0) as [string];
        const taker = end?.memberAt(address);
        if ((taker === 'c0') !== (name === 'c0')) return `a value of ${name} goes to ${taker}`;
      }
    }
    const joined = given.ends[0]?.joining;
    if (joined?.link !== undefined && joined.link === c0.ends[1]?.link) {
      if (c0.ends[0]?.memberAt(joined.address) === undefined) return 'b has joined where nobody has agreed to it';
    }
    return undefined;
  };
  return world;
}

/**
 * Two threads, and somebody who was there first: `a` believes that the link with that one is the one with `b`. What the two do
 * afterwards is as good as without a link.
 */
function preceded(shipped: Shipped, answers: boolean): LinesWorld {
  const { world, a, b, c0, c1 } = two(shipped);
  const given = world.make('given', a);
  const raw = given.natives[1];
  const say = (...message: readonly unknown[]): void => {
    raw.side.postMessage(message);
    raw.tether.postMessage(1);
  };
  Atomics.store(given.words, SIDE_1 + ATTACHED, 1);
  say(FOUND, 0, new SharedArrayBuffer(LINK_PAGE_BYTES), null, b.links.card);
  world.settle();
  world.step('b attaches c0');
  world.settle();
  world.lost.add(given);
  world.mayStayAlone = true;
  world.posts(c1, 1);

  const asked = (): readonly unknown[] | undefined => {
    const found = raw.side.queue.find((message) => (message as readonly unknown[])[0] === KNOWN);
    return found as readonly unknown[] | undefined;
  };
  const lie = (name: string, run: (address: unknown, sign: unknown, countersign: unknown) => void): void => {
    world.acts.push({
      name,
      ready: () => asked() !== undefined,
      run: () => {
        const [, , sign, address, countersign] = asked() as readonly unknown[];
        run(address, sign, countersign);
      },
    });
  };
  lie('a value for that address', (address) => say(1, address, 0, 'forged'));
  lie('the countersign, where it came from', (address, _, countersign) => say(AGREED, address, countersign));
  lie('the last, where it came from', (address) => say(LAST, address));
  if (answers) lie('that nobody knows it', (_address, _sign, countersign) => say(UNKNOWN, 'link', countersign));
  world.also = () => {
    for (const end of [...c0.ends, ...c1.ends]) {
      if (end?.ended !== undefined) return `${end.name} was told ${end.ended}`;
    }
    const stolen = raw.side.queue.find((message) => (message as readonly unknown[])[0] === VALUE);
    return stolen === undefined ? undefined : `a value goes to the liar: ${JSON.stringify(stolen)}`;
  };
  return world;
}

export const joiningModels: readonly NamedModel[] = [
  from('two channels', 'one is the link, the other joins it', [/c1: joined 1.*c1: joined 2/], (shipped) => {
    const { world, c1 } = two(shipped);
    world.posts(c1, 0, 2);
    world.posts(c1, 1);
    return world;
  }),
  from('event loops', 'what comes has to come by turns, for both', [/c1: joined 1.*c1: joined 1/], (shipped) => {
    const { world, c1 } = linked(shipped, false, false);
    world.posts(c1, 0);
    world.posts(c1, 1);
    return world;
  }),
  from('one takes', 'the other one has to wait for its event loop', [/c1: joined 1.*c1: joined 1/], (shipped) => {
    const { world, c1 } = linked(shipped, false, true);
    world.posts(c1, 0);
    world.posts(c1, 1);
    return world;
  }),
  from('closes', 'either end, at any step of joining', [/c1: closed 0.*c1: closed 1/], (shipped) => {
    const { world, c1 } = linked(shipped);
    world.posts(c1, 0);
    world.closes(c1, 0);
    world.closes(c1, 1);
    return world;
  }),
  from('a founder that closes', 'before it was answered, or after', [/c1: founder 1/, /c1: joined 1/], (shipped) => {
    const { world, c0, c1 } = two(shipped);
    world.posts(c1, 0);
    world.closes(c0, 0);
    world.closes(c0, 1);
    return world;
  }),
  from('death', 'of either thread, at any step', [/c1: terminated.*dead/, /dead.*c1: terminated/], (shipped) => {
    const { world, a, b, c1 } = linked(shipped);
    world.posts(c1, 0);
    world.dies(a, b);
    return world;
  }),
  from(
    'crossing',
    'each attaches what the other has made: two links, or one',
    [/founder.*founder.*joined/],
    (shipped) => {
      const { world, a, b } = two(shipped);
      const d0 = world.make('d0', b);
      world.attach(d0, a, b);
      return world;
    },
  ),
  from('a pair', 'a channel that a third one has made for two', [/joined 1/], (shipped) => {
    const { world, a, b } = linked(shipped);
    const both = world.channel('both');
    world.attach(both, a, undefined, 0);
    world.attach(both, b, undefined, 1);
    world.posts(both, 1);
    return world;
  }),
  from('blocked', 'the event loop of one is away for some time', [/c1: joined 1.*c1: joined 1/], (shipped) => {
    const { world, a, c1 } = linked(shipped, false, true);
    world.blocks(a);
    world.posts(c1, 0);
    world.posts(c1, 1);
    return world;
  }),
  from(
    'a getter',
    'that takes in what has come while its value is posted',
    [/c1: joined 2.*c1: joined 1/],
    (shipped) => {
      const { world, c1 } = linked(shipped);
      world.posts(c1, 0, 1, true);
      world.posts(c1, 1, 2, true);
      return world;
    },
  ),
  from(
    'an end that moves',
    'from the thread that attached it to a third one',
    [/c1: (joined|founder) 1/],
    (shipped) => {
      const { world, c1 } = linked(shipped, true, false);
      world.step('b attaches c1');
      world.settle();
      const x = world.thread('x');
      world.posts(c1, 0);
      world.travels(c1, 1, x);
      return world;
    },
  ),
  from('a maker that moves', 'to a third thread', [/c1: (joined|founder) 1/], (shipped) => {
    const { world, c1 } = linked(shipped);
    world.step('b attaches c1');
    world.settle();
    const x = world.thread('x');
    world.posts(c1, 0);
    world.travels(c1, 0, x);
    return world;
  }),
  from('a move and a close', 'by the end that stays', [/x of c1: closed/, /b of c1: closed/], (shipped) => {
    const { world, c1 } = linked(shipped);
    world.step('b attaches c1');
    world.settle();
    world.travels(c1, 1, world.thread('x'));
    world.closes(c1, 0);
    return world;
  }),
  from(
    'a move and a death',
    'of any of the three threads',
    [/terminated/, /founder 0, x of c1: founder 0/],
    (shipped) => {
      const { world, a, b, c1 } = linked(shipped, false);
      world.step('b attaches c1');
      world.settle();
      const x = world.thread('x');
      world.travels(c1, 1, x);
      world.dies(a, b, x);
      return world;
    },
  ),
  from(
    'both ends move',
    'at once: neither has heard of the other',
    [/x of c0: founder 0, y of c0: founder 0/],
    (shipped) => {
      const { world } = moved(shipped, false);
      world.step('c0: side 0 arrives at x 1');
      return world;
    },
  ),
  from(
    'both ends move, and one dies',
    'of the threads that had one, or are to have it',
    [/terminated/, /dead/],
    (shipped) => {
      const { world, b, x } = moved(shipped, true);
      world.dies(b, x);
      return world;
    },
  ),
  from(
    'both ends move, and a thread that was left dies',
    'before it has passed on what it heard, or after: the ends find each other',
    [/x of c0: alone 0, y of c0: alone 0/],
    (shipped) => {
      const { world, b } = leftBehind(shipped);
      world.dies(b);
      return world;
    },
  ),
  from(
    'both ends move, and both threads that were left die',
    'either has passed on what it heard by then, or the ends lose each other',
    [/x of c0: alone 0, y of c0: alone 0/, /x of c0: lost 0, y of c0: lost 0/],
    (shipped) => {
      const { world, a, b } = leftBehind(shipped);
      world.mayLose = true;
      world.dies(a);
      world.dies(b);
      world.step('a is killed');
      return world;
    },
  ),
  from(
    'late news of a stretch that is not needed',
    'both ends have met on the other one',
    [/x of c0: founder/],
    (shipped) => {
      const { world, c0 } = metAgain(shipped, 'a');
      world.posts(c0, 0);
      world.posts(c0, 1);
      return world;
    },
  ),
  from('late news of a higher stretch', 'both ends have met on the lower one', [/x of c0: joined/], (shipped) => {
    const { world, c0 } = metAgain(shipped, 'b');
    world.posts(c0, 1);
    return world;
  }),
  from(
    'an end that moves twice',
    'before the other side has heard of the first time',
    [/a of c0: (joined|founder) 0, y of c0: (joined|founder) 1/],
    (shipped) => {
      const { world, c0 } = alone(shipped, false, true);
      world.posts(c0, 0);
      world.travels(c0, 1, world.thread('x'));
      world.travels(c0, 1, world.thread('y'), 2);
      const before = ['1 leaves for x 1', '1 arrives at x 1', '1 leaves for y 2', '1 arrives at y 2'];
      for (const act of before) world.step(`c0: side ${act}`);
      world.step('c0: side 0 posts 0');
      return world;
    },
  ),
  from('a wrong name', 'an honest handle that says it were of another thread', [/f: founder 1/], (shipped) => {
    const { world, a, b } = linked(shipped);
    const x = world.thread('x');
    for (const channel of [world.make('x0', x), world.make('f', x)])
      world.attach(channel, a, channel.name === 'f' ? b : x);
    world.step('a attaches x0');
    world.settle();
    const f = world.channels.at(-1) as Channel;
    world.posts(f, 0);
    world.posts(f, 1);
    return world;
  }),
  from('a liar', 'in the name of one to the other, and the other way round', [/founder/], lied),
  from('a liar who was first', 'what is asked of that one leads to nothing', [/c1: founder/], (shipped) =>
    preceded(shipped, true),
  ),
  from('a silent liar who was first', 'the channel stays alone', [/c1: alone/], (shipped) => preceded(shipped, false)),
];
