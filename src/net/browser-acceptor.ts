// A browser has no server whose sockets it could take. In the place of acceptor.ts there.
import { UnsupportedError } from '../errors.ts';

export type { Acceptor } from './acceptor.ts';

/** @throws UnsupportedError */
export function acceptor(): never {
  throw new UnsupportedError(
    'Cannot accept connections in a browser: nobody can connect to it; accept them on a server, and connect from here',
  );
}
