// Tests of the suites that no page can run, each with the reason. A line that names no test fails the page.
export interface NotHere {
  readonly suite: string;
  readonly test: RegExp;
  readonly why: string;
}

const NO_END = 'a worker of a browser neither ends by itself nor of an uncaught error';
const NO_TAKING =
  'what travels beside the ring, or waits in an outbox at the end, follows by an event loop, which the test does not let run';
const NO_LEAVING = 'what a thread posts natively and then blocks need not leave it';
const SLOW = 'it asks our logic alone, and takes some engines ten seconds and more';
const COUNTS = 'it counts what has run, and some of it does not';

export const NOT_IN_PAGES: readonly NotHere[] = [
  { suite: 'port', test: /: a peer that (ends normally|throws) leaves everything/, why: NO_END },
  { suite: 'port', test: /: reason is known to synchronous code as soon as the end is/, why: NO_END },
  {
    suite: 'port',
    test: /: a peer that is terminated leaves what it had published/,
    why: 'the peer has not awaited port.ready, before which nobody need hear of its end: pages/faults.ts',
  },
  { suite: 'port', test: /: once\(\) and on\(\) of node:events/, why: 'it asks the events of Node' },
  { suite: 'port', test: /: console\.log shows how a port stands/, why: 'each browser shows objects in its own way' },
  {
    suite: 'port',
    test: /: a promise of drained\(\) or flush\(\) that nobody looks at/,
    why: 'there is no process to take down',
  },
  { suite: 'port', test: /: overflow (reject|drop-oldest|drop-newest): postMessage\(\)/, why: NO_TAKING },
  { suite: 'port', test: /: latest: messages longer than a slot are replaced/, why: NO_TAKING },
  { suite: 'port', test: /: latest: a reader samples a stream of short and long/, why: NO_TAKING },
  { suite: 'port', test: /: latest: what only the native clone carries/, why: NO_TAKING },
  { suite: 'port', test: /: latest: a long series of replaced moves/, why: NO_TAKING },
  { suite: 'port', test: /: latest: a value in the outbox follows/, why: NO_TAKING },
  { suite: 'port', test: /: a SharedArrayBuffer arrives shared/, why: NO_TAKING },
  { suite: 'sab', test: /^port\.read: "blocks until data arrives/, why: NO_LEAVING },
  {
    suite: 'sab',
    test: /^a worker that was killed settles/,
    why: 'a browser tells the door nothing of a thread that is killed',
  },
  { suite: 'sab', test: /^mode switches lose nothing and keep the order/, why: NO_TAKING },
  { suite: 'sab', test: /^port\.setMode: the typical pattern, across threads/, why: NO_TAKING },
  {
    suite: 'codec',
    test: /a DOMException keeps its name and message/,
    why: 'the browser carries it as the object it is: pages/values.ts',
  },
  { suite: 'codec', test: /all \d+ facts that this runtime can have hold/, why: COUNTS },
  {
    suite: 'codec',
    test: /damaged payloads decode to a value or a CodecError, without|lengths and counts that the payload cannot hold/,
    why: 'it asks Node how much memory it has taken',
  },
  {
    suite: 'codec',
    test: /conversations over a ring that is written over|values: what is taken arrives as through JSON/,
    why: 'ten cases are too few for what it wants to have met',
  },
  { suite: 'codec', test: /a bigint of a million bytes/, why: 'Firefox and WebKit make none so large' },
  {
    suite: 'codec',
    test: /an array of fifty thousand gaps|what they have learned reaches its bound|learned all it may/,
    why: SLOW,
  },
];
