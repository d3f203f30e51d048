// How the examples talk: plain lines everywhere, colours and a moving progress bar on a terminal.
import { pathToFileURL } from 'node:url';

const live: boolean = process.stdout.isTTY === true;

function paint(code: number, text: string): string {
  return live ? `\u001b[${code}m${text}\u001b[0m` : text;
}

export const bold = (text: string): string => paint(1, text);
export const dim = (text: string): string => paint(2, text);
export const green = (text: string): string => paint(32, text);
export const red = (text: string): string => paint(31, text);

export function heading(text: string): void {
  console.log(`\n${bold(text)}`);
}

export function say(text: string): void {
  console.log(`  ${text}`);
}

/** Draws over the same line on a terminal; elsewhere only the last state of a bar is printed. */
export function bar(label: string, share: number, note = ''): void {
  const width = 32;
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  const line = `  ${label.padEnd(16)} ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${note}`;
  if (live) process.stdout.write(`\r${line}\u001b[K`);
  if (share >= 1) console.log(live ? '' : line);
}

/** A table with aligned columns; the first line is its head. */
export function table(rows: readonly (readonly string[])[]): void {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  for (const [index, row] of rows.entries()) {
    const line = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] as number) : cell.padStart(widths[column] as number),
    );
    say(index === 0 ? dim(line.join('  ')) : line.join('  '));
  }
}

export const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** Whether this module is the program itself, and not part of the tour. */
export function isProgram(moduleUrl: string): boolean {
  return process.argv[1] !== undefined && pathToFileURL(process.argv[1]).href === moduleUrl;
}
