// The packages of others that speak to a server, loaded where they are used, and only there; and addresses of servers, in which passwords may stand.
import { RefusedError, UnsupportedError, UsageError } from '../errors.ts';
import { CODE_FULL } from '../transport/stream/frames.ts';

/**
 * @param names of packages of which any will do
 * @param otherwise what else would do, in pages and bundles, where no package is found by its name
 * @throws (rejects) UnsupportedError that names them
 */
export async function packageOf<T>(
  names: readonly string[],
  action: string,
  otherwise: string = 'hand in a client that the program has made',
): Promise<{ name: string; found: T }> {
  let cause: unknown;
  for (const name of names) {
    try {
      const found = (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as T & { default?: T };
      return { name, found: { ...found.default, ...found } };
    } catch (error) {
      cause = error;
    }
  }
  const listed = names.map((name) => `"${name}"`).join(' or ');
  const text = `Cannot ${action}: the package ${listed} is not there; npm install ${names[0]}, or ${otherwise}`;
  throw new UnsupportedError(text, { cause });
}

/** Where a server is. */
export interface ServerUrl {
  /** Without what nobody is to read in a log: user, password, query. */
  readonly where: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/**
 * @param schemes that it may have
 * @throws UsageError ERR_OPTION, which does not show it
 */
export function serverUrl(text: string, schemes: readonly string[]): ServerUrl {
  const takes = `a URL like ${schemes[0]}://host:port`;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw noServer(
      `it takes ${takes}; characters of a password that have a meaning in URLs are written as %23 for #, %2F for /, %3F for ?, %40 for @`,
    );
  }
  const scheme = url.protocol.slice(0, -1);
  if (url.host === '' && scheme !== 'unix') throw noServer(`it takes ${takes}`);
  if (!schemes.includes(scheme)) throw noServer(`it takes ${takes}, and this one begins with ${scheme}:`);
  // What stands behind an unescaped # of a password would be taken for the rest of a URL, and the password for its host.
  if (url.hash !== '') throw noServer(`${takes} has no '#'; in a password that is written as %23`);
  // So would what stands before an unescaped / or ?, and an @ is behind it.
  if (scheme !== 'unix' && `${url.pathname}${url.search}`.includes('@'))
    throw noServer(`${takes} has no '@' behind its host; in a password / is written as %2F, ? as %3F, @ as %40`);
  const part = (said: string): string | undefined => {
    try {
      return said === '' ? undefined : decodeURIComponent(said);
    } catch {
      throw noServer("a '%' of a user or a password is written as %25");
    }
  };
  const where = url.host === '' ? `${scheme}:${url.pathname}` : `${scheme}://${url.host}`;
  return { where, user: part(url.username), password: part(url.password) };
}
function noServer(why: string): UsageError {
  return new UsageError(
    'ERR_OPTION',
    `Cannot use that address of a server (it may have a password, and is not shown): ${why}`,
    {
      option: 'server',
    },
  );
}

/** An address that a client tells, without what nobody is to read in a log. */
export function withoutSecrets(address: string): string {
  try {
    const url = new URL(address.includes('://') ? address : `x://${address}`);
    return address.includes('://') ? `${url.protocol}//${url.host}` : url.host;
  } catch {
    return 'its server';
  }
}

/** What a server has said to who asked for something. */
export function refusedBy(action: string, thrown: unknown): RefusedError {
  const cause = plainCause(thrown);
  return new RefusedError('ERR_REFUSED', `${action}: ${cause.message}`, {
    refusal: CODE_FULL,
    text: cause.message,
    cause,
  });
}

/** What a client has thrown, without whatever else stands in it: commands that it has sent, passwords included. */
export function plainCause(cause: unknown): Error {
  const { message, name, code } = Object(cause) as { message?: unknown; name?: unknown; code?: unknown };
  const plain = new Error(String(message ?? cause));
  if (typeof name === 'string') plain.name = name;
  return code === undefined ? plain : Object.assign(plain, { code: String(code) });
}
