// Bugs that the models must catch: one wrong change each in the compiled source, and the model that finds it.
//
// A text that is no longer found exactly once fails the run: whoever changes the source decides anew what its bugs are.
import type { FailureKind } from '../kit/explore.ts';
import type { Edit } from './shipped.ts';

export interface Mutant extends Edit {
  readonly name: string;
  /** Name of the model that must fail. */
  readonly caughtBy: string;
  /** How it must fail. */
  readonly as: FailureKind;
}

const PRODUCER = 'ring/producer.js';
const CONSUMER = 'ring/consumer.js';
const SIGNAL = 'wait/signal.js';
const BLOCK = 'wait/block.js';
const ASYNC = 'wait/async.js';

export const mutants: readonly Mutant[] = [
  {
    name: 'the position is published plainly',
    file: PRODUCER,
    find: 'Atomics.store(this.words, this.#tailWord, this.#tail)',
    replace: 'this.words[this.#tailWord] = this.#tail',
    caughtBy: 'ring: records',
    as: 'race',
  },
  {
    name: 'the room is given back plainly',
    file: CONSUMER,
    find: 'Atomics.store(this.words, this.#headWord, this.#cursor)',
    replace: 'this.words[this.#headWord] = this.#cursor',
    caughtBy: 'ring: records',
    as: 'race',
  },
  {
    name: 'the header is written after the publication',
    file: PRODUCER,
    find: /(this\.words\[header\] = length;\s+this\.words\[header \+ 1\] = kind;)([\s\S]+?this\.publish\(\);)/,
    replace: '$2 $1',
    caughtBy: 'ring: records',
    as: 'race',
  },
  {
    name: 'a claim publishes the record already',
    file: PRODUCER,
    find: 'this.#claimed = length;',
    replace: 'this.#claimed = length; Atomics.store(this.words, this.#tailWord, (this.#tail + need) | 0);',
    caughtBy: 'ring: records',
    as: 'race',
  },
  {
    name: 'the ring takes 8 bytes more than it has',
    file: PRODUCER,
    find: 'if (this.capacity - ((this.#tail - this.#headSeen) >>> 0) < total &&',
    replace: 'if (this.capacity + 8 - ((this.#tail - this.#headSeen) >>> 0) < total &&',
    caughtBy: 'ring: records',
    as: 'race',
  },
  {
    name: 'the pad before a record is not counted as room',
    file: PRODUCER,
    find: 'need > room ? room + need : need',
    replace: 'need',
    caughtBy: 'ring: records',
    as: 'race',
  },
  {
    name: 'positions are compared as if they never wrapped',
    file: PRODUCER,
    find: 'if (this.capacity - ((this.#tail - this.#headSeen) >>> 0) < total &&',
    replace: 'if (this.capacity - (this.#tail - this.#headSeen) < total &&',
    caughtBy: 'ring: positions pass 2^31',
    as: 'invariant',
  },
  {
    name: 'the reader compares positions as if they never wrapped',
    file: CONSUMER,
    find: '(this.#tailSeen - this.#cursor) >>> 0',
    replace: 'this.#tailSeen - this.#cursor',
    caughtBy: 'ring: positions pass 2^31',
    as: 'threw',
  },
  {
    name: 'the reader takes a pad for a record',
    file: CONSUMER,
    find: '(kind & KIND_MASK) === KIND_PAD',
    replace: 'kind > 0xffff',
    caughtBy: 'ring: records',
    as: 'threw',
  },
  {
    name: 'drain gives room back before the handler has read the record',
    file: CONSUMER,
    find: 'count++;',
    replace: 'count++; this.release();',
    caughtBy: 'ring: drain',
    as: 'race',
  },
  {
    name: 'release gives back what was only peeked at',
    file: CONSUMER,
    find: 'this.length = length;',
    replace:
      'this.length = length; this.#released = (this.#cursor + size) | 0; Atomics.store(this.words, this.#headWord, this.#released);',
    caughtBy: 'ring: peek and hold',
    as: 'race',
  },
  {
    name: 'an aborted claim stays in the ring',
    file: PRODUCER,
    find: /abort\(\) \{[\s\S]+?this\.#claimed = -1;/,
    replace: 'abort() { this.#tail = (this.#tail + recordBytes(this.#claimed)) | 0; this.#claimed = -1;',
    caughtBy: 'ring: abort and shorten',
    as: 'threw',
  },
  {
    name: 'cork forgets to publish',
    file: PRODUCER,
    find: 'this.gather(before);',
    replace: 'this.#gatherBytes = before;',
    caughtBy: 'ring: cork',
    as: 'stuck',
  },
  {
    name: 'the writer does not ring',
    file: PRODUCER,
    find: 'this.#bell.ring();',
    replace: '',
    caughtBy: 'park: data and space',
    as: 'stuck',
  },
  {
    name: 'the reader does not ring',
    file: CONSUMER,
    find: 'this.#bell.ring();',
    replace: '',
    caughtBy: 'park: data and space',
    as: 'stuck',
  },
  {
    name: 'the writer rings before it publishes',
    file: PRODUCER,
    find: /(Atomics\.store\(this\.words, this\.#tailWord, this\.#tail\);)\s+(this\.#bell\.ring\(\);)/,
    replace: '$2 $1',
    caughtBy: 'park: data and space',
    as: 'stuck',
  },
  {
    name: 'no second look before a thread sleeps',
    file: BLOCK,
    find: /if \(!look\(\)\) \{/,
    replace: '{',
    caughtBy: 'park: data and space',
    as: 'stuck',
  },
  {
    name: 'the second look comes before the announcement',
    file: BLOCK,
    find: /(const state = announce\([^;]+;)\s+if \(!look\(\)\) \{/,
    replace: 'const seen = look(); $1 if (!seen) {',
    caughtBy: 'park: data and space',
    as: 'stuck',
  },
  {
    name: 'a waker notifies and leaves the announcement standing',
    file: SIGNAL,
    find: /if \(Atomics\.compareExchange\([^;]+return;/,
    replace: '',
    caughtBy: 'park: data and space',
    as: 'stuck',
  },
  {
    name: 'a waker takes the announcement back and does not notify',
    file: SIGNAL,
    find: 'Atomics.notify(this.#words, this.#park);',
    replace: ';',
    caughtBy: 'park: data and space',
    as: 'stuck',
  },
  {
    name: 'a waker looks at another interest',
    file: SIGNAL,
    find: '(state & this.#interest) !== 0',
    replace: '(state & ~15) === this.#interest',
    caughtBy: 'park: both interests on one word',
    as: 'stuck',
  },
  {
    name: 'a sleeper announces one of its two interests',
    file: SIGNAL,
    find: 'const state = how | interest;',
    replace: 'const state = how | (interest & DATA || interest);',
    caughtBy: 'park: both interests on one word',
    as: 'stuck',
  },
  {
    name: 'a thread sleeps on when it should look around',
    file: BLOCK,
    find: 'this.#sliceMs, TIMEOUT_MS_MAX',
    replace: 'TIMEOUT_MS_MAX',
    caughtBy: 'park: slices',
    as: 'stuck',
  },
  {
    name: 'a thread sleeps past its time limit',
    file: BLOCK,
    find: 'Math.min(timeoutMs - waited, ',
    replace: 'Math.min(',
    caughtBy: 'park: a time limit',
    as: 'stuck',
  },
  {
    name: 'an event loop does not look again before it sleeps',
    file: ASYNC,
    find: /(const state = announce\([^;]+;)\s+if \(!look\(\)\) \{/,
    replace: '$1 {',
    caughtBy: 'park: an event loop in waitAsync',
    as: 'stuck',
  },
  {
    name: 'an event loop believes its old wait still stands after it was rung',
    file: ASYNC,
    find: 'this.#pending = false;\n',
    replace: '\n',
    caughtBy: 'park: an event loop in waitAsync',
    as: 'stuck',
  },
  {
    name: 'a doorbell sleeper does not look again',
    file: ASYNC,
    find: /(announce\(this\.#words, this\.#park, DOORBELL, interest\);\s+if \()!look\(\)\)/,
    replace: '$1true)',
    caughtBy: 'park: an event loop behind a doorbell',
    as: 'stuck',
  },
  {
    name: 'a doorbell sleeper is notified instead of rung',
    file: SIGNAL,
    find: '(state & DOORBELL) !== 0',
    replace: 'false',
    caughtBy: 'park: an event loop behind a doorbell',
    as: 'stuck',
  },
];
