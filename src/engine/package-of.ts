// The packages of others that speak to a server, loaded where they are used, and only there.
import { UnsupportedError } from '../errors.ts';

/**
 * @param names of packages of which any will do
 * @throws (rejects) UnsupportedError that names them
 */
export async function packageOf<T>(names: readonly string[], action: string): Promise<{ name: string; found: T }> {
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
  const text = `Cannot ${action}: the package ${listed} is not there; npm install ${names[0]}`;
  throw new UnsupportedError(text, { cause });
}

/** An address without what nobody is to read in a log: user, password, query. */
export function withoutSecrets(address: string): string {
  try {
    const url = new URL(address.includes('://') ? address : `x://${address}`);
    return address.includes('://') ? `${url.protocol}//${url.host}` : url.host;
  } catch {
    return 'its server';
  }
}
