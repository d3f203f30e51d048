// Visits of pages in browsers: one browser goes from page to page, as it is told at the end of each, for starting one costs a processor
// seconds. A page that hangs, or on which something failed, is left with its browser, and the next has one of its own.

/** Without a word from the page for so long it hangs: each check has a watchdog of its own. */
const SILENCE_MS = 45_000;
/** Of how many pages the time is told. */
const LONGEST = 5;

export class Visits {
  #serve;
  #openPage;
  #addressOf;
  #server;
  #heard = () => {};
  /** Milliseconds of each page, its browser's start included where it had to start one. */
  #times = [];

  /**
   * @param serve `(onReport) => server` as of server.mjs
   * @param openPage `(origin, page) => ({ ended, close })`, as `open` of engines.mjs
   * @param addressOf the address of a page below the server's origin
   */
  constructor({ serve, openPage, addressOf }) {
    this.#serve = serve;
    this.#openPage = openPage;
    this.#addressOf = addressOf;
  }

  /**
   * Opens the pages of each list in a browser of its own, one after the other. Calls `over` with each check that is over, and
   * `measured` with each figure.
   * @returns which pages took longest, as a text
   */
  async all(lists, over, measured) {
    this.#server = await this.#serve((report) => {
      if (report.figure === undefined) return this.#heard(report);
      measured(report.page, report.figure);
    });
    for (let list of lists) while (list.length > 0) list = await this.#oneBrowser(list, over);
    this.#server.close();
    const longest = this.#times.sort((a, b) => b.ms - a.ms).slice(0, LONGEST);
    return longest.map(({ page, ms }) => `${page} ${(ms / 1000).toFixed(1)} s`).join(', ');
  }

  /** @returns the pages that are left for another browser */
  async #oneBrowser(pages, over) {
    const browser = this.#openPage(this.#server.origin, pages[0]);
    const gone = browser.ended.then((how) => `the browser ended: ${how}`);
    let count = 0;
    for (let good = true; good && count < pages.length; count++) {
      const started = performance.now();
      good = await this.#onePage(pages[count], pages[count + 1], gone, over);
      this.#times.push({ page: pages[count], ms: performance.now() - started });
    }
    await browser.close();
    return pages.slice(count);
  }

  /** @returns whether all was well, so that the browser has gone on to the next page */
  async #onePage(page, nextPage, gone, over) {
    let current = 'the page itself';
    let silence;
    let good = true;
    const ended = new Promise((resolve) => {
      const listen = () => {
        clearTimeout(silence);
        silence = setTimeout(resolve, SILENCE_MS, `hang: nothing was heard of it for ${SILENCE_MS / 1000} s`);
      };
      this.#heard = ({ page: from, done, next, over: ended }) => {
        if (from !== page) return undefined;
        listen();
        if (done !== undefined) {
          good &&= done.error === undefined;
          over(page, done);
        }
        current = next ?? current;
        if (!ended) return undefined;
        resolve(undefined);
        return good && nextPage !== undefined ? this.#addressOf(nextPage) : undefined;
      };
      listen();
    });
    const error = await Promise.race([ended, gone]);
    clearTimeout(silence);
    this.#heard = () => {};
    if (error === undefined) return good;
    over(page, { name: current, error, ms: 0 });
    return false;
  }
}
