// The heap of this thread's JavaScript, where the runtime lets itself be asked.

/** Bytes in use after a collection; undefined where collecting can't be ordered. */
export async function heapBytes(): Promise<number | undefined> {
  const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc(force: boolean): void } };
  const collect = Bun ? () => Bun.gc(true) : gc;
  if (!collect) return undefined;
  // Ends that are being closed are let go of by later turns; what they held goes with the collection after that.
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    collect();
  }
  if (!Bun) return process.memoryUsage().heapUsed;
  // A name in a variable: other runtimes' types and bundlers know of no such module.
  const name = 'bun:jsc';
  const { heapStats } = (await import(name)) as { heapStats(): { heapSize: number; extraMemorySize: number } };
  const { heapSize, extraMemorySize } = heapStats();
  // What hangs on objects from outside is in Bun's sum, shared memory with all that was only reserved.
  return heapSize - extraMemorySize;
}
