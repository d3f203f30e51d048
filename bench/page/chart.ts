// A line chart by uPlot, which the server has at /bench/page/uplot.js: the rounds of several contenders, as they come. It follows its
// box's width and the palette that the reader's system chooses. Where the package is not installed there is no chart, and the table
// beside it has all the figures.

/** What of uPlot is used here. */
interface Plot {
  setData(data: Series): void;
  setSize(size: { readonly width: number; readonly height: number }): void;
  destroy(): void;
}
type PlotClass = new (options: object, data: Series, target: HTMLElement) => Plot;
/** Places on the x axis, then what each line has there; null where it has nothing yet. */
type Series = readonly (readonly (number | null)[])[];

export interface Line {
  readonly label: string;
  /** A custom property of style.css. */
  readonly colour: string;
  readonly values: (number | null)[];
}

const HEIGHT = 230;
/** From this ratio of the largest value to the smallest on, the axis is logarithmic. */
const LOG_FROM = 8;
const LOGARITHMIC = 3;

let plots: Promise<PlotClass | Error> | undefined;
/** uPlot, or why it is not here. */
function plotClass(): Promise<PlotClass | Error> {
  const address = '/bench/page/uplot.js';
  plots ??= import(address).then(
    (loaded: { default: PlotClass }) => loaded.default,
    (error: Error) => error,
  );
  return plots;
}

const dark = matchMedia('(prefers-color-scheme: dark)');

/** `1,200`, `0.05`, `3M`: short enough for an axis. */
const short = (value: number): string =>
  value.toLocaleString('en-US', { notation: 'compact', maximumSignificantDigits: 3 });

/** A chart of rounds: x is the round, from 1. */
export class Chart {
  readonly #box: HTMLElement;
  readonly #unit: string;
  #rounds: number;
  #lines: readonly Line[] = [];
  #plot: Plot | undefined;
  /** What the axes were made for. */
  #logarithmic = false;

  constructor(box: HTMLElement, unit: string) {
    this.#box = box;
    this.#unit = unit;
    this.#rounds = 0;
    dark.addEventListener('change', () => this.#remake());
    new ResizeObserver(() => {
      if (this.#box.clientWidth > 0) this.#plot?.setSize({ width: this.#box.clientWidth, height: HEIGHT });
    }).observe(box);
  }

  /** Begins anew, with lines that are empty so far. */
  async start(lines: readonly Line[], rounds: number): Promise<void> {
    this.#lines = lines;
    this.#rounds = rounds;
    await this.#remake();
  }

  /** Draws what the lines have now. */
  async draw(): Promise<void> {
    if (this.#wantsLogarithmic() !== this.#logarithmic) await this.#remake();
    else this.#plot?.setData(this.#data());
  }

  #data(): Series {
    const rounds = Array.from({ length: this.#rounds }, (_, i) => i + 1);
    return [rounds, ...this.#lines.map(({ values }) => rounds.map((_, i) => values[i] ?? null))];
  }

  #wantsLogarithmic(): boolean {
    const values = this.#lines.flatMap(({ values }) => values.filter((value) => value !== null));
    return values.length > 0 && Math.max(...values) > LOG_FROM * Math.min(...values);
  }

  async #remake(): Promise<void> {
    const Plot = await plotClass();
    if (Plot instanceof Error) {
      this.#box.textContent = `No chart, for uPlot does not load (npm ci --prefix bench installs it): ${Plot.message}`;
      return;
    }
    this.#plot?.destroy();
    this.#plot = undefined;
    if (this.#lines.length === 0) return;
    this.#logarithmic = this.#wantsLogarithmic();
    this.#plot = new Plot(this.#options(), this.#data(), this.#box);
  }

  #options(): object {
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const font = '12px ui-sans-serif, system-ui, sans-serif';
    const axis = {
      stroke: colour('--soft'),
      font,
      labelFont: font,
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { show: false },
    };
    return {
      width: this.#box.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: [0.7, this.#rounds + 0.3] },
        y: this.#logarithmic
          ? { distr: LOGARITHMIC }
          : { range: (_plot: unknown, _low: number, high: number) => [0, (high || 1) * 1.08] },
      },
      axes: [
        { ...axis, grid: { show: false }, incrs: [1, 2, 5, 10], size: 26, label: 'round', labelSize: 18, labelGap: 0 },
        {
          ...axis,
          size: 52,
          values: (_plot: unknown, ticks: (number | null)[]) =>
            ticks.map((tick) => (tick === null ? null : short(tick))),
          label: this.#unit,
          labelSize: 16,
        },
      ],
      series: [
        {},
        ...this.#lines.map((line) => ({
          label: line.label,
          stroke: colour(line.colour),
          width: 2,
          spanGaps: true,
          points: { show: true, size: 6, fill: colour(line.colour) },
        })),
      ],
    };
  }
}
