// Processor time of this process, all threads.

export class CpuMeter {
  readonly #start: NodeJS.CpuUsage | undefined = usage();

  /** Microseconds of processor time since this meter was made; undefined where the runtime doesn't tell. */
  stop(): number | undefined {
    const now = usage();
    if (!now || !this.#start) return undefined;
    return now.user - this.#start.user + now.system - this.#start.system;
  }
}

/** Microseconds of processor time of this thread; of its clock where the runtime does not tell. */
export function threadUs(): number {
  const { threadCpuUsage } = process as { threadCpuUsage?(): NodeJS.CpuUsage };
  // Deno's tells nothing of what is below a tick of its own.
  if (threadCpuUsage === undefined || process.versions['deno'] !== undefined) return performance.now() * 1000;
  const { user, system } = threadCpuUsage.call(process);
  return user + system;
}

function usage(): NodeJS.CpuUsage | undefined {
  try {
    return process.cpuUsage();
  } catch {
    return undefined;
  }
}
