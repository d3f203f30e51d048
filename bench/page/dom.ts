// What the sections of the page have in common: elements by their id, elements made, and figures as text.

/** The element with this id, which index.html has. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`index.html has no #${id}`);
  return found as T;
}

export type Attributes = Readonly<Record<string, string | boolean>>;

/** An element with attributes (`true`: without a value; `false`: left out) and children; text stays text. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

/** Three digits: `0.0421`, `3.14`, `26.0`, `1,234`. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** Milliseconds as they read best: `85 µs`, `1.3 ms`, `2.04 s`. */
export function duration(ms: number): string {
  if (ms < 1) return `${digits(Math.round(ms * 1000))} µs`;
  return ms < 1000 ? `${digits(ms)} ms` : `${digits(ms / 1000)} s`;
}

/** Whole numbers with their thousands told apart: `12,345,678`. */
export const count = (value: number): string => Math.round(value).toLocaleString('en-US');

/** A button that says when it works: it cannot be pressed again meanwhile. What its task throws is the page's error. */
export function onPress(button: HTMLButtonElement, task: () => unknown): void {
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      await task();
    } finally {
      button.disabled = false;
    }
  });
}
