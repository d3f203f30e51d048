// What is known to fail in browsers: each defect by its number, why it is there, what it looks like, and the checks that show it.
// A check that is listed here must fail in just this way: once it passes, or fails otherwise, the run fails until this list says so.
//
// Not here, for no check shows them: D8 (speed), D12 (an MWChannel whose worker blocks goes on answering natively: speed).

const FIREFOX = ['firefox'];
const WEBKIT = ['webkit'];

const DEFECTS = [
  {
    number: 'D14',
    why: 'structuredClone of WebKit makes a copy of shared memory that is shared with nobody, without a word; what is posted before the link with a thread stands is cloned so, and kept',
    looks: /the memory handed over is not a SharedArrayBuffer/,
    checks: [[WEBKIT, 'spawn', 'channel() in a worker that was spawned']],
  },
  {
    number: 'D15',
    why: 'WebKit hands shared memory to no other document, a frame of the same origin or not: it arrives as a copy, and the frame can attach nothing',
    looks: /the memory handed over is not a SharedArrayBuffer/,
    checks: [
      [WEBKIT, 'ends', 'a frame is navigated away'],
      [WEBKIT, 'ends', 'a frame is removed'],
      [WEBKIT, 'faults', 'a frame is navigated away'],
      [WEBKIT, 'faults', 'a frame is removed'],
      [WEBKIT, 'faults', 'a tab is closed'],
    ],
  },
  {
    number: 'D16',
    why: "WebKit does not look at the embedder policy of a worker's script that a service worker answers with a response of its own, whose address is empty; a blob: worker has its page's",
    looks: /got Symbol\(millrace.CLOSED\), not/,
    checks: [[WEBKIT, 'isolate', 'a worker from the server blocks in receive() through shared memory']],
  },
  {
    number: 'of WebKit',
    why: 'a frame of an isolated page that is redirected stays empty: the redirect itself is to have the embedder policy, and one that a service worker passes on shows no headers',
    looks: /waited 8 s for the frame/,
    checks: [[WEBKIT, 'isolate', 'a document behind a redirect is isolated']],
  },
  {
    number: 'D14',
    why: 'the facts of shared memory are asked of structuredClone, which in WebKit copies it',
    looks: /not so: (the copy can grow as far|what one writes the other reads)/,
    checks: [
      [WEBKIT, 'suites-codec', 'web platform tests: a growable SharedArrayBuffer'],
      [WEBKIT, 'suites-codec', 'HTML standard: SharedArrayBuffer shares the memory'],
      [WEBKIT, 'suites-codec', 'HTML standard: Uint8Array over shared memory shares the memory'],
    ],
  },
  {
    number: 'of WebKit',
    why: 'its structuredClone throws a TypeError for a detached ArrayBuffer, where the standard has a DataCloneError; ours throws that',
    looks: /the runtime agrees: it threw TypeError/,
    checks: [[WEBKIT, 'suites-codec', 'a detached ArrayBuffer throws DataCloneError as structuredClone does']],
  },
  {
    number: 'of Firefox',
    why: 'a stack that overflows is an InternalError there, where others throw a RangeError',
    looks: /false is not true/,
    checks: [
      [FIREFOX, 'suites-codec', "a stack overflow in a getter is the caller's own RangeError, or the value is refused"],
    ],
  },
];

export const KNOWN = DEFECTS.flatMap(({ number, why, looks, checks }) =>
  checks.map(([engines, page, check]) => ({ defect: number, why, looks, engines, page, check })),
);

/** What a finished check means: `passed`, `known` or `failed`, and why. */
export function verdictOf(engine, page, { name, error }, known = KNOWN) {
  const listed = known.find((it) => it.page === page && it.check === name && it.engines.includes(engine));
  if (listed === undefined) return error === undefined ? { is: 'passed' } : { is: 'failed', why: error };
  const { defect, looks } = listed;
  if (error === undefined) return { is: 'failed', why: `it passes now: take it out of ${defect} in known.mjs` };
  if (looks.test(error)) return { is: 'known', why: `${defect}: ${error.split('\n')[0]}` };
  return { is: 'failed', why: `${error}\nnot as ${defect} in known.mjs: ${looks}` };
}

/** What is listed for pages that ran, and was not met there. */
export function unmet(engine, pages, met, known = KNOWN) {
  return known
    .filter(({ engines, page }) => engines.includes(engine) && pages.includes(page))
    .map(({ page, check }) => `${page}: ${check}`)
    .filter((name) => !met.has(name));
}
