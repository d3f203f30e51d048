// In which order test files run, so that no processor waits for the last one.

/**
 * What runs: the tasks of a runtime together, those first that may take long, as their watchdogs say. What gives way goes one
 * after the other beside all that, in the first lane, and in the others once nothing else is left. What waits most of its time,
 * for time limits and servers, has lanes of its own beside the others: it leaves a processor to them.
 */
export class TestQueue {
  #tasks;
  #beside;
  #waiting;
  #lanes;

  /**
   * @param tasks each with a `runtime` and what the head of its file says, by runtime
   * @param lanes what does not wait goes in these
   */
  constructor(tasks, lanes = Number.POSITIVE_INFINITY) {
    this.#lanes = lanes;
    const longFirst = (a, b) => (b.watchdogSeconds ?? 0) - (a.watchdogSeconds ?? 0);
    const byRuntime = new Map(tasks.map(({ runtime }) => [runtime, []]));
    for (const task of tasks) if (!task.givesWay) byRuntime.get(task.runtime).push(task);
    const all = [...byRuntime.values()].flatMap((each) => each.sort(longFirst));
    this.#tasks = all.filter(({ waits }) => !waits);
    this.#waiting = all.filter(({ waits }) => waits);
    this.#beside = tasks.filter(({ givesWay }) => givesWay).sort(longFirst);
  }

  /** The next one, for one of the lanes from 0 on; those from `lanes` on have what waits, and nothing else. */
  take(lane) {
    if (lane >= this.#lanes) return this.#waiting.shift();
    const [first, then] = lane === 0 ? [this.#beside, this.#tasks] : [this.#tasks, this.#beside];
    return first.shift() ?? then.shift() ?? this.#waiting.shift();
  }
}
