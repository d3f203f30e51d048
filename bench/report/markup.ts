// HTML and SVG text in which nothing from a results file can become markup: every value put into a template is escaped
// unless it came out of a template itself.

export class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

type Part = Markup | string | number | false | undefined | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function render(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Markup) return part.toString();
  if (typeof part === 'object') return part.map(render).join('');
  // Control characters are no characters in XML at all, and results come from wherever the reader got them.
  return String(part)
    .replace(/(?![\t\n\r])\p{Cc}/gu, '')
    .replace(/[&<>"']/g, (at) => ENTITIES[at]!);
}

/** A template whose holes take text (escaped), other markup, lists of either, or `false`/`undefined` for nothing. */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let text = strings[0]!;
  for (let i = 0; i < parts.length; i++) text += render(parts[i]) + strings[i + 1]!;
  return new Markup(text);
}

/** An id that survives in a URL: `shared-rate`. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** A contender's name whose remark in brackets, `(stand-in)`, never breaks across lines. */
export function nameMarkup(label: string): Markup {
  const parts = label.split(/(\([^)]*\))/);
  return markup`${parts.map((part, at) => (at % 2 === 1 ? markup`<span class="nb">${part}</span>` : part))}`;
}
