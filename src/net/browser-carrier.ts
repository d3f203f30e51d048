// A browser has no thread that could have another one's WebSockets. In the place of carrier.ts there.
import { UnsupportedError } from '../errors.ts';

/** @throws UnsupportedError */
export function netCarrier(): never {
  throw new UnsupportedError(
    'Cannot connect with blocking in a browser: receive what comes with await; or bridge the port to a worker that may block',
  );
}
