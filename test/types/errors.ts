import type { ClosedError, CodecError, DataCloneError, ErrorCode, MillraceError } from '../../src/errors.ts';
import type { Assignable, Equal, Expect, Not } from './expect.ts';

// A `switch` over codes is checked for spelling, and every class is caught by its base.
export type _1 = Expect<Equal<MillraceError['code'], ErrorCode>>;
export type _2 = Expect<Not<Equal<ErrorCode, string>>>;
export type _3 = Expect<Assignable<DataCloneError, CodecError>>;
export type _4 = Expect<Assignable<ClosedError, MillraceError>>;
export type _5 = Expect<Equal<ClosedError['reason'], string>>;
