// Tables, bars and sparklines for a terminal. Widths count what is seen: colour codes take no room.

export type Paint = (text: string) => string;

/** The few colours in use, or none where the stream is a file or NO_COLOR is set. */
export interface Palette {
  readonly ours: Paint;
  readonly loss: Paint;
  readonly faint: Paint;
  readonly strong: Paint;
}

export function palette(stream: { isTTY?: boolean }): Palette {
  const coloured = process.env['FORCE_COLOR'] ? true : stream.isTTY === true && !process.env['NO_COLOR'];
  const paint = (open: number, close: number): Paint =>
    coloured ? (text) => `\u001b[${open}m${text}\u001b[${close}m` : (text) => text;
  return { ours: paint(36, 39), loss: paint(33, 39), faint: paint(2, 22), strong: paint(1, 22) };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes begin with the escape character.
const CODES = /\u001b\[[0-9;]*m/g;

function seen(text: string): number {
  return [...text.replace(CODES, '')].length;
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const STEPS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** A bar of `width` characters at most, to an eighth of a character; never empty for a number above zero. */
export function bar(fraction: number, width: number): string {
  if (!(fraction > 0)) return '';
  const eighths = Math.max(1, Math.round(Math.min(1, fraction) * width * 8));
  return '█'.repeat(eighths >> 3) + EIGHTHS[eighths & 7]!;
}

/** Samples in order, scaled between the smallest and the largest of them. */
export function sparkline(samples: readonly number[]): string {
  const low = Math.min(...samples);
  const range = Math.max(...samples) - low;
  return samples.map((sample) => STEPS[range === 0 ? 3 : Math.round(((sample - low) / range) * 7)]!).join('');
}

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

/** Lines of a table: columns two spaces apart, as wide as their widest cell, no trailing spaces. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const titles = columns.map((column) => column.title);
  const widths = columns.map((_, at) => Math.max(...[titles, ...rows].map((row) => seen(row[at] ?? ''))));
  const line = (row: readonly string[]): string =>
    columns
      .map((column, at) => {
        const text = row[at] ?? '';
        const room = ' '.repeat(widths[at]! - seen(text));
        return column.align === 'right' ? room + text : text + room;
      })
      .join('  ')
      .trimEnd();
  const hasTitles = titles.some((title) => title !== '');
  return hasTitles ? [line(titles), ...rows.map(line)] : rows.map(line);
}
