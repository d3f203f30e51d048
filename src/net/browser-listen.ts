// A browser takes no connections, and says so. In the place of listen.ts there.
import { UnsupportedError } from '../errors.ts';
import { netAddressText, parseNetAddress } from '../transport/network/address.ts';

export type { ListenOptions } from './listen.ts';

/** @throws (rejects) UnsupportedError; UsageError ERR_OPTION for what is no address */
export async function listen(address: string): Promise<never> {
  const where = netAddressText(parseNetAddress(address));
  throw new UnsupportedError(
    `Cannot listen at ${where}: nobody can connect to a browser; listen on a server, and connect from here`,
  );
}
