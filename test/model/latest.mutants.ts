// Bugs in the triple buffer that its models must catch. See mutants.ts.
import type { Mutant } from './mutants.ts';

const PRODUCER = 'ring/latest-producer.js';
const CONSUMER = 'ring/latest-consumer.js';
const SLOTS = 'ring/latest-slots.js';
const OUTBOUND = 'lane/latest-outbound.js';
const PROGRESS = 'lane/latest-progress.js';

export const latestMutants: readonly Mutant[] = [
  {
    name: 'latest: the writer does not say that the message is fresh',
    file: PRODUCER,
    find: 'this.#back | FRESH',
    replace: 'this.#back',
    caughtBy: 'latest: slots',
    as: 'stuck',
  },
  {
    name: 'latest: the reader takes what is not fresh',
    file: CONSUMER,
    find: /if \(\(Atomics\.load\(this\.#words, this\.#latest\) & FRESH\) === 0\)\s+return false;/,
    replace: '',
    caughtBy: 'latest: slots',
    as: 'final',
  },
  {
    name: 'latest: the writer reads the word, then writes it',
    file: PRODUCER,
    find: 'Atomics.exchange(this.#words, this.#latest, this.#back | FRESH)',
    replace: 'Atomics.load(this.#words, this.#latest); Atomics.store(this.#words, this.#latest, this.#back | FRESH)',
    caughtBy: 'latest: slots',
    as: 'race',
  },
  {
    name: 'latest: the reader reads the word, then writes it',
    file: CONSUMER,
    find: 'Atomics.exchange(this.#words, this.#latest, this.#front)',
    replace: 'Atomics.load(this.#words, this.#latest); Atomics.store(this.#words, this.#latest, this.#front)',
    caughtBy: 'latest: slots',
    as: 'race',
  },
  {
    name: 'latest: the message is published plainly',
    file: PRODUCER,
    find: 'Atomics.exchange(this.#words, this.#latest, this.#back | FRESH)',
    replace: 'this.#words[this.#latest]; this.#words[this.#latest] = this.#back | FRESH',
    caughtBy: 'latest: slots',
    as: 'race',
  },
  {
    name: 'latest: the header is written after the exchange',
    file: PRODUCER,
    find: /(this\.#words\[header \+ LENGTH\] = length;)([\s\S]+?this\.#bell\.ring\(\);)/,
    replace: '$2 $1',
    caughtBy: 'latest: slots',
    as: 'race',
  },
  {
    name: 'latest: the writer goes on in the slot that it gave away',
    file: PRODUCER,
    find: 'this.#back = slotTaken(was, this.#back);',
    replace: 'slotTaken(was, this.#back);',
    caughtBy: 'latest: slots',
    as: 'threw',
  },
  {
    name: 'latest: the reader goes on in the slot that it gave away',
    file: CONSUMER,
    find: 'this.#front = slotTaken(was, this.#front);',
    replace: 'slotTaken(was, this.#front);',
    caughtBy: 'latest: slots',
    as: 'race',
  },
  {
    name: 'latest: the reader gives its slot back as fresh',
    file: CONSUMER,
    find: 'Atomics.exchange(this.#words, this.#latest, this.#front)',
    replace: 'Atomics.exchange(this.#words, this.#latest, this.#front | FRESH)',
    caughtBy: 'latest: slots',
    as: 'final',
  },
  {
    name: 'latest: the reader leaves its slot before it has read it',
    file: CONSUMER,
    find: /if \(!this\.#here && !this\.#take\(\)\)\s+return NONE;/,
    replace: 'const before = this.#front; if (!this.#here && !this.#take()) return NONE; this.#front = before;',
    caughtBy: 'latest: slots',
    as: 'race',
  },
  {
    name: 'latest: slots overlap',
    file: SLOTS,
    find: 'slot * slotBytes(capacity)',
    replace: 'slot * 16',
    caughtBy: 'latest: slots',
    as: 'race',
  },
  {
    name: 'latest: the message is there before its payload',
    file: PRODUCER,
    find: /get offset\(\) \{/,
    replace: 'get offset() { Atomics.or(this.#words, this.#latest, FRESH);',
    caughtBy: 'latest: slots',
    as: 'final',
  },
  {
    name: 'latest: the writer rings before the exchange',
    file: PRODUCER,
    find: /(const was = Atomics\.exchange[^;]+;)([\s\S]+?)(this\.#bell\.ring\(\);)/,
    replace: '$3 $1 $2',
    caughtBy: 'latest: both sleep',
    as: 'stuck',
  },
  {
    name: 'latest: the reader does not tell that it has taken something',
    file: CONSUMER,
    find: 'this.#bell.ring();',
    replace: '',
    caughtBy: 'latest: both sleep',
    as: 'stuck',
  },
  {
    name: 'latest: the reader is not told where to look',
    file: OUTBOUND,
    find: /if \(!this\.#announced\)\s+this\.#announce\(\);/,
    replace: '',
    caughtBy: 'latest: through ports, and the end',
    as: 'final',
  },
  {
    name: 'latest: a sleeping sender does not see that its message was taken',
    file: PROGRESS,
    find: 'this.#pendingSeen && !this.#slots.pending',
    replace: 'false',
    caughtBy: 'latest: on event loops',
    as: 'stuck',
  },
];
