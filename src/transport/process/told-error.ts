// An error on its way between a thread and its carrier, where it would lose class and code.
import {
  AddressError,
  type ErrorCode,
  LayoutError,
  MillraceError,
  RefusedError,
  TimeoutError,
  UnsupportedError,
  UsageError,
} from '../../errors.ts';

export interface ToldError {
  readonly message: string;
  /** The class of one of ours. */
  readonly name?: string | undefined;
  /** That of ours, or the system's. */
  readonly code?: string | undefined;
  /** What one of ours says beside that. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: ToldError | undefined;
}

export function toldError(error: unknown): ToldError {
  const { message, name, code, cause } = error as Error & { code?: string };
  const below = cause === undefined ? undefined : toldError(cause);
  const told = { message: message ?? String(error), code, cause: below };
  if (!(error instanceof MillraceError)) return told;
  const said = Object.entries(error).filter(([field, value]) => field !== 'code' && Object(value) !== value);
  return { ...told, name, fields: Object.fromEntries(said) };
}

type Made = (code: ErrorCode, message: string, fields: Record<string, unknown>) => MillraceError;
const CLASSES: Readonly<Record<string, Made>> = {
  AddressError: (...said) => new AddressError(...said),
  UsageError: (...said) => new UsageError(...said),
  RefusedError: (...said) => new RefusedError(...said),
  LayoutError: (_, ...said) => new LayoutError(...said),
  TimeoutError: (_, ...said) => new TimeoutError(...said),
  UnsupportedError: (_, ...said) => new UnsupportedError(...said),
};

export function errorTold({ message, name = '', code, fields, cause: below }: ToldError): Error {
  const cause = below && { cause: errorTold(below) };
  const made = CLASSES[name];
  if (made !== undefined) return made(code as ErrorCode, message, { ...fields, ...cause });
  return Object.assign(new Error(message, cause), code === undefined ? {} : { code });
}
