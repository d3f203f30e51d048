// Bugs that the models of links must catch: see mutants.ts.
import type { Mutant } from './mutants.ts';

const READY = 'link/ready-set.js';
const BELL = 'link/link-bell.js';
const END = 'link/link-end.js';
const SELECTOR = 'link/selector.js';
const SIGNAL = 'wait/signal.js';
const BELLS = 'transport/process/bells.js';

export const linkMutants: readonly Mutant[] = [
  {
    name: 'the summary is marked before the bit',
    file: READY,
    find: /(Atomics\.or\(this\.#words, this\.#bits \+ word[^;]+;)([\s\S]+?)(Atomics\.or\(this\.#words, this\.#summary[^;]+;)/,
    replace: '$3 $2 $1',
    caughtBy: 'link: select over one link',
    as: 'stuck',
  },
  {
    name: 'the summary is not marked',
    file: READY,
    find: /Atomics\.or\(this\.#words, this\.#summary[^;]+;/,
    replace: '',
    caughtBy: 'link: select over one link',
    as: 'stuck',
  },
  {
    name: 'the summary is cleared after the bits',
    file: READY,
    find: /let left = Atomics\.exchange\(this\.#words, at, 0\)([\s\S]+?)(\n {8}\}\n {8}return any;)/,
    replace: 'let left = Atomics.load(this.#words, at)$1 Atomics.store(this.#words, at, 0);$2',
    caughtBy: 'link: select over one link',
    as: 'stuck',
  },
  {
    name: 'a bit is read and not taken with one access',
    file: READY,
    find: 'Atomics.exchange(this.#words, this.#bits + word, 0)',
    replace:
      '((found) => (Atomics.store(this.#words, this.#bits + word, 0), found))(Atomics.load(this.#words, this.#bits + word))',
    caughtBy: 'link: select over one link',
    as: 'stuck',
  },
  {
    name: 'the link is rung before the mark',
    file: BELL,
    find: /(this\.#ready\.mark\(seat\);)\s+(this\.#rest\.ring\(\);)/,
    replace: '$2 $1',
    caughtBy: 'link: select over one link',
    as: 'stuck',
  },
  {
    name: 'a bell of all links is heard for those that rest on',
    file: END,
    find: /if \(this\.#announced === AWAKE\)(\s+this\.rung\(loop\);)/,
    replace: 'if (this.#announced !== AWAKE)$1',
    caughtBy: 'link: an event loop with one bell for two links',
    as: 'stuck',
  },
  {
    name: 'a mark does not ring the link',
    file: BELL,
    find: 'this.#rest.ring();',
    replace: '',
    caughtBy: 'link: an event loop',
    as: 'stuck',
  },
  {
    name: 'a link that rests above does not ring the agent',
    file: SIGNAL,
    find: 'this.#above();',
    replace: ';',
    caughtBy: 'link: select over two links',
    as: 'stuck',
  },
  {
    name: 'a link that was rung is not announced again before the next sleep',
    file: SELECTOR,
    find: /for \(const link of this\.#links\)\s+link\.restAbove\(\);/,
    replace:
      'if (this.$announced !== this.$call) for (const link of this.#links) link.restAbove(); this.$announced = this.$call;',
    caughtBy: 'link: a scribbled ready set',
    as: 'stuck',
  },
  {
    name: 'marks are taken before the links are announced',
    file: SELECTOR,
    find: /(for \(const link of this\.#links\)\s+link\.restAbove\(\);)\s+(this\.#takeMarks\(\);)/,
    replace: '$2 $1',
    caughtBy: 'link: a scribbled ready set',
    as: 'stuck',
  },
  {
    name: 'a channel is armed without a second look',
    file: SELECTOR,
    find: /else if \(this\.end\.arm\(\)\)\s+this\.#state = 'armed';\s+else\s+return true;/,
    replace: "else { this.end.arm(); this.#state = 'armed'; }",
    caughtBy: 'link: select over two links',
    as: 'stuck',
  },
  {
    name: 'who was handed out just now is not armed before the sleep',
    file: SELECTOR,
    find: /for \(const watch of this\.#warm\.splice\(0\)\)\s+if \(watch\.warm\)\s+watch\.marked\(\);/,
    replace: '',
    caughtBy: 'link: select over one link',
    as: 'stuck',
  },
  {
    name: 'a channel whose other side knows no link is armed once',
    file: SELECTOR,
    find: 'watch.armed && !watch.end.arm()',
    replace: 'watch.armed && watch.end.ready',
    caughtBy: 'link: the attacher is not known yet',
    as: 'stuck',
  },
  {
    name: 'what the sleep has found is looked for a second time',
    file: SELECTOR,
    find: /if \(found !== undefined\)\s+return true;/,
    replace: '',
    caughtBy: 'link: the maker reads who attached',
    as: 'stuck',
  },
  {
    name: 'a slice looks at nothing',
    file: SELECTOR,
    find: 'this.#sleep = sleep(() => this.#lookAtAll());',
    replace: 'this.#sleep = sleep(() => {});',
    caughtBy: 'link: one agent of two is killed',
    as: 'stuck',
  },
  {
    name: 'a bell is silenced before the sleep, and not behind it',
    file: BELLS,
    find: 'if (this.#native.poll(',
    replace: 'for (const bell of bells) bell.take(); if (this.#native.poll(',
    caughtBy: 'link: select over a link to a process',
    as: 'stuck',
  },
  {
    // As one may want to, who is not to be woken by what was told of.
    name: 'a bell that the event loop was told of is silenced before the sleep',
    file: BELLS,
    find: 'if (this.#native.poll(',
    replace: 'for (const bell of bells) bell.take(); if (this.#native.poll(',
    caughtBy: 'link: select and event loop in turn, to a process',
    as: 'stuck',
  },
  {
    name: 'an event loop takes the marks before it announces its rest',
    file: END,
    find: 'if (loop.park(DATA, this.#takeLater))',
    replace: 'this.#takeLater(); if (loop.park(DATA, () => false))',
    caughtBy: 'link: an event loop',
    as: 'stuck',
  },
  {
    name: 'an event loop that is rung while it goes to rest does not rest again',
    file: END,
    find: /if \(loop\.park\(DATA, this\.#takeLater\)\)\s+return;/,
    replace: 'loop.park(DATA, this.#takeLater); return;',
    caughtBy: 'link: an event loop in waitAsync',
    as: 'stuck',
  },
  {
    name: 'an event loop that was rung does not take its announcement back before it rests again',
    file: END,
    find: /rung\(loop\) \{\s+this\.wake\(\);/,
    replace: 'rung(loop) {',
    caughtBy: 'link: an event loop in waitAsync',
    as: 'stuck',
  },
];
