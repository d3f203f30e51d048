// A strict reader of the markup that we write ourselves, for tests: every tag closed in order, every attribute quoted
// and named once, ids unique, inner links landing somewhere, no stray `<` or `&`. Stricter than any browser.

const VOID = new Set(['meta', 'br', 'hr', 'img', 'input', 'link']);
const TOKEN =
  /<!doctype html>|<\/([a-z][\w-]*)>|<([a-zA-Z][\w-]*)((?:\s+[a-zA-Z_:][\w:.-]*="[^"<]*")*)\s*(\/?)>|[^<]+|</gi;
const ATTRIBUTE = /\s+([a-zA-Z_:][\w:.-]*)="([^"<]*)"/g;
const AMPERSAND = /&(?!(amp|lt|gt|quot|#39);)/;

/** What is wrong with a page or a picture, in words; an empty list for nothing. */
export function problems(text: string): string[] {
  const found: string[] = [];
  const open: string[] = [];
  const ids = new Set<string>();
  const links = new Set<string>();
  for (const token of text.matchAll(TOKEN)) {
    const [all, closed, opened, attributes, self] = token;
    const where = `at ${token.index}: ${all.slice(0, 60)}`;
    const inStyle = open[open.length - 1] === 'style';
    if (closed !== undefined) {
      const expected = open.pop();
      if (expected !== closed) found.push(`</${closed}> closes <${expected}> ${where}`);
    } else if (opened !== undefined) {
      const names = new Set<string>();
      for (const [, name, value] of attributes!.matchAll(ATTRIBUTE)) {
        if (names.has(name!)) found.push(`${name} twice ${where}`);
        names.add(name!);
        if (AMPERSAND.test(value!)) found.push(`bare & ${where}`);
        if (name === 'id') {
          if (ids.has(value!)) found.push(`id ${value} twice`);
          ids.add(value!);
        }
        if (name === 'href' && value!.startsWith('#')) links.add(value!.slice(1));
      }
      if (self !== '/' && !VOID.has(opened)) open.push(opened);
    } else if (all === '<') found.push(`stray < at ${token.index}: ${text.slice(token.index, token.index + 60)}`);
    else if (!inStyle && !all.startsWith('<!') && AMPERSAND.test(all)) found.push(`bare & ${where}`);
  }
  if (open.length > 0) found.push(`never closed: ${open.join(', ')}`);
  for (const link of links) if (!ids.has(link)) found.push(`#${link} leads nowhere`);
  return found;
}
