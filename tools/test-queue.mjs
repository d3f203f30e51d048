// In which order test files run, so that no processor waits for the last one.

/**
 * What runs: the tasks of a runtime together, those first that may take long, as their watchdogs say. What gives way goes one
 * after the other beside all that, in the first lane, and in the others once nothing else is left.
 */
export class TestQueue {
  #tasks;
  #beside;

  /** @param tasks each with a `runtime` and what the head of its file says, by runtime */
  constructor(tasks) {
    const longFirst = (a, b) => (b.watchdogSeconds ?? 0) - (a.watchdogSeconds ?? 0);
    const byRuntime = new Map(tasks.map(({ runtime }) => [runtime, []]));
    for (const task of tasks) if (!task.givesWay) byRuntime.get(task.runtime).push(task);
    this.#tasks = [...byRuntime.values()].flatMap((each) => each.sort(longFirst));
    this.#beside = tasks.filter(({ givesWay }) => givesWay).sort(longFirst);
  }

  /** The next one, for one of the lanes from 0 on. */
  take(lane) {
    const [first, then] = lane === 0 ? [this.#beside, this.#tasks] : [this.#tasks, this.#beside];
    return first.shift() ?? then.shift();
  }
}
