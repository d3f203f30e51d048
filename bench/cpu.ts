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

function usage(): NodeJS.CpuUsage | undefined {
  try {
    return process.cpuUsage();
  } catch {
    return undefined;
  }
}
