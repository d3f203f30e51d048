// Threads of the library's own.

/** The address of a thread's module, which a bundle has as text. */
export function threadUrl(source: URL | string): URL {
  if (typeof source !== 'string') return source;
  // Bun's loader makes an empty module of a data: URL with a dot in it.
  return new URL(`data:text/javascript,${encodeURIComponent(source).replaceAll('.', '%2E')}`);
}
