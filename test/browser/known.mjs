// What is known to fail in browsers: each defect by its number, why it is there, what it looks like, and the checks that show it.
// A check that is listed here must fail in just this way: once it passes, or fails otherwise, the run fails until this list says so.
//
// Not here, for no check shows them: D8 (speed), D12 (an MWChannel whose worker blocks goes on answering natively: speed), D13 (coarse clocks).

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
    looks: /waited \d s for a message/,
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
