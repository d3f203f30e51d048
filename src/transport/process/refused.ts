// What the system says to who listens or connects, as the caller is told.
import { AddressError, type ErrorCode } from '../../errors.ts';
import { type Address, addressText } from './address.ts';

/** What it says to both. */
const WHY: Readonly<Record<string, string>> = {
  EMFILE: 'this process has as many descriptors as it may (EMFILE): close some, or raise `ulimit -n`',
  ENFILE: 'this machine has as many open files as it may (ENFILE)',
};

/**
 * @param action stands in "Cannot ... <address>"
 * @param own what its errors mean here, by their code
 */
export function refused(
  code: ErrorCode,
  action: string,
  address: Address,
  own: Readonly<Record<string, string>>,
  cause: Error,
): AddressError {
  const where = addressText(address);
  const name = codeOf(cause) ?? '';
  const why = own[name] ?? WHY[name] ?? cause.message;
  return new AddressError(code, `Cannot ${action} ${where}: ${why}`, { address: where, cause });
}

export function codeOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
