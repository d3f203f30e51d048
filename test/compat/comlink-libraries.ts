// Comlink itself and what stands in its place, as one and the same thing.
import * as millrace from '../../src/compat/comlink.ts';
import type { Comlink } from './comlink-program.ts';

export interface Library {
  readonly C: Comlink;
  readonly nodeEndpoint: Comlink['nodeEndpoint'];
}
export type LibraryName = 'comlink' | 'millrace';

/** Where `npm run packages` puts it; not by its name, for whoever builds the tests need not have it. */
const COMLINK = new URL('../../../test/packages/node_modules/comlink/dist/esm/', import.meta.url);

export async function library(name: LibraryName): Promise<Library> {
  if (name === 'millrace') return { C: millrace, nodeEndpoint: millrace.nodeEndpoint };
  const C = (await import(new URL('comlink.mjs', COMLINK).href)) as Comlink;
  const adapter = (await import(new URL('node-adapter.mjs', COMLINK).href)) as {
    default: Comlink['nodeEndpoint'];
  };
  return { C, nodeEndpoint: adapter.default };
}
