// A line on stderr: what runs, how far, how long still. Silent where stderr is no terminal, but for a line per scenario.

export class Progress {
  readonly #total: number;
  readonly #live: boolean = process.stderr.isTTY === true;
  readonly #quiet: boolean;
  readonly #began: number = performance.now();
  #done = 0;
  #title = '';

  /** @param total units of work, any unit; time left is judged by the share that is done */
  constructor(total: number, quiet: boolean) {
    this.#total = Math.max(1, total);
    this.#quiet = quiet;
  }

  title(text: string): void {
    this.#title = text;
    if (this.#quiet) return;
    if (this.#live) this.#draw();
    else process.stderr.write(`${this.#left()}  ${text}\n`);
  }

  advance(units: number): void {
    this.#done = Math.min(this.#total, this.#done + units);
    if (this.#live && !this.#quiet) this.#draw();
  }

  clear(): void {
    if (this.#live && !this.#quiet) process.stderr.write('\r\x1b[K');
  }

  #draw(): void {
    const width = 24;
    const full = Math.round((this.#done / this.#total) * width);
    const bar = '█'.repeat(full) + '░'.repeat(width - full);
    const room = Math.max(20, (process.stderr.columns ?? 100) - width - 20);
    process.stderr.write(`\r\x1b[K${bar} ${this.#left()} ${this.#title.slice(0, room)}`);
  }

  #left(): string {
    const share = this.#done / this.#total;
    if (share < 0.02) return '--:-- left';
    const seconds = ((performance.now() - this.#began) / 1000) * (1 / share - 1);
    return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')} left`;
  }
}
