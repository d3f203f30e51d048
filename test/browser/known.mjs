// What is known to fail in browsers: each defect by its number, why it is there, what it looks like, and the checks that show it.
// A check that is listed here must fail in just this way: once it passes, or fails otherwise, the run fails until this list says so.
//
// Not here, for no check shows them: D1 (WebKit loses wake-ups of `Atomics.waitAsync` in workers; the engine is not among these),
// D8 and D9 (speed), D12 (an MWChannel whose worker blocks goes on answering natively: speed), D13 (coarse clocks).

const BOTH = ['chromium', 'firefox'];

const DEFECTS = [
  {
    number: 'D2',
    why: 'a blocked thread reads no native port here, so that what travels beside the ring cannot reach it; it is refused with what to do instead',
    looks: /ERR_UNSUPPORTED: Cannot receive here: the next message travels beside the ring/,
    checks: [
      [BOTH, 'values', 'ImageData reaches a worker that blocks'],
      [BOTH, 'values', 'DOMException reaches a worker that blocks'],
      [BOTH, 'values', 'Blob reaches a worker that blocks'],
      [BOTH, 'values', 'SharedArrayBuffer reaches a worker that blocks'],
      [BOTH, 'values', 'WebAssembly.Module reaches a worker that blocks'],
      [BOTH, 'values', 'CryptoKey reaches a worker that blocks'],
      [BOTH, 'values', 'moved ArrayBuffer reaches a worker that blocks'],
      [BOTH, 'ends', 'the page posts more than fits the ring and closes: a worker that blocks reads all'],
    ],
  },
  {
    number: 'D6',
    why: 'no browser says that a worker is gone, or that it could not be started',
    looks: /waited \d s for port\.closed|got false, not true/,
    checks: [
      [BOTH, 'ends', 'terminate() of a worker with an event loop'],
      [BOTH, 'ends', 'terminate() of a worker that blocks'],
      [BOTH, 'ends', 'self.close() in a worker'],
      [BOTH, 'ends', 'terminate() of one of two workers, while the other is blocked on it'],
      [BOTH, 'ends', 'a worker whose script is not there'],
      [BOTH, 'spawn', 'self.close() in a spawned worker'],
      [BOTH, 'spawn', 'a spawned worker whose script is not there'],
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
