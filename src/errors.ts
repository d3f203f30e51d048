// Every class and code. Classes say what the caller can do about it; codes are API, messages are prose.
// docs/errors.md lists the codes; test/docs.test.ts holds the two lists equal.

export const ERROR_CODES = {
  // UsageError: fix the call.
  ERR_OPTION: 'an option or argument has a value outside its range',
  ERR_TOO_LARGE: 'a message or record is longer than the channel takes',
  ERR_OUTBOX_FULL: 'the outbox is full and its policy is to refuse',
  ERR_CLAIM: 'claim, commit and abort were called out of order',
  ERR_HANDLE: 'the object handed over is no end of a channel, was handed on, or was attached before',
  ERR_BUSY: 'the call excludes another one that is still in progress, or somebody else reads this port',
  ERR_DEADLOCK: 'both sides wait for each other, and neither can go on',
  ERR_TRANSFER: 'the transfer list holds something that cannot be moved',
  ERR_NO_METHOD: 'the other side exposes nothing of this name that may be called',
  ERR_LIMIT: 'more calls, callbacks or streams at a time than a connection takes',
  ERR_QUEUE_FULL: 'as many tasks wait in a pool as it takes',
  // ClosedError: stop.
  ERR_CLOSED: 'this end was closed, or its peer is gone',
  // RefusedError: ask for something else, or later.
  ERR_REFUSED: 'the other side does not take this channel, or the connection',
  // AddressError: another address, or later.
  ERR_ADDRESS_IN_USE: 'somebody else listens at this address',
  ERR_LISTEN: 'the system does not let this process listen at this address',
  ERR_UNREACHABLE: 'nobody listens at this address, or the system does not let this process connect',
  // CodecError: this value only.
  ERR_DATA_CLONE: 'the value, or a part of it, cannot be cloned',
  ERR_DECODE: 'a payload could not be decoded',
  ERR_PROTOCOL: 'a message of the protocol of calls makes no sense',
  ERR_LOST: 'a call, its answer or a part of a stream was lost on its way',
  // LayoutError: wrong version or damaged memory; the channel closes.
  ERR_LAYOUT: 'shared memory does not hold what the protocol says',
  // UnsupportedError: this runtime or thread cannot.
  ERR_UNSUPPORTED: 'this runtime or thread lacks what the call needs',
  // TimeoutError: only where an answer by value is impossible (send, compat doors).
  ERR_TIMEOUT: 'the time limit passed first',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** Base of every error this library throws. Match on `code`; the numbers that matter are plain fields. */
export class MillraceError extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, fields?: Record<string, unknown>) {
    super(message, fields !== undefined && 'cause' in fields ? { cause: fields['cause'] } : undefined);
    this.code = code;
    if (fields !== undefined) {
      for (const key of Object.keys(fields)) {
        if (key !== 'cause') Object.defineProperty(this, key, { value: fields[key], enumerable: true });
      }
    }
  }
}

/**
 * What the instances of each class are known by, in every copy of this library that a program has loaded (two doors bundled
 * apart, two versions): `error instanceof ClosedError` is true whichever copy made the error. What users derive from a
 * class has no brand of its own, and `instanceof` asks the prototype chain, as ever.
 */
const brands = new WeakMap<object, symbol>();
const byPrototype = Function.prototype[Symbol.hasInstance];

Object.defineProperty(MillraceError, Symbol.hasInstance, {
  value(this: object, value: unknown): boolean {
    const brand = brands.get(this);
    if (brand === undefined) return byPrototype.call(this, value);
    return typeof value === 'object' && value !== null && brand in value;
  },
});

// Assigned on the prototype so that a subclass costs no own property and the name survives minifiers.
function named<C extends { prototype: Error }>(errorClass: C, name: string): void {
  const brand = Symbol.for(`millrace.${name}`);
  brands.set(errorClass, brand);
  Object.defineProperty(errorClass.prototype, brand, { value: true });
  Object.defineProperty(errorClass.prototype, 'name', { value: name, configurable: true, writable: true });
}

/** Fix the call: an argument, an option or the order of calls is wrong. Nothing was changed. */
export class UsageError extends MillraceError {}
/** Stop: this end was closed or the peer is gone. `reason` says which, in the words of `Port.closed`. */
export class ClosedError extends MillraceError {
  declare readonly reason: string;
  constructor(message: string, reason: string, cause?: unknown) {
    super('ERR_CLOSED', message, cause === undefined ? { reason } : { reason, cause });
  }
}
/**
 * Ask for something else, or later: the other side does not take this channel, or the connection. `refusal` is the code that it gave, `text` what it
 * said to it. Found as `port.error`, and as the `cause` of ClosedErrors.
 */
export class RefusedError extends MillraceError {
  declare readonly refusal: number;
  declare readonly text: string;
}
/** Another address, or later: `address` is where, `cause` what the system said. */
export class AddressError extends MillraceError {
  declare readonly address: string;
}
/** This one value: the channel goes on. */
export class CodecError extends MillraceError {}
/**
 * The value cannot be cloned; `path` names the offending part (`$.user.callback`). Its `name` is the web's
 * `DataCloneError`, so code that matches on the name keeps working.
 */
export class DataCloneError extends CodecError {
  declare readonly path: string;
  constructor(message: string, path: string, cause?: unknown) {
    super('ERR_DATA_CLONE', message, cause === undefined ? { path } : { path, cause });
  }
}
/** Wrong version or damaged shared memory. The channel closes with reason `lost`. */
export class LayoutError extends MillraceError {
  constructor(message: string, fields?: Record<string, unknown>) {
    super('ERR_LAYOUT', message, fields);
  }
}
/** This runtime or thread cannot; the message names the feature and the remedy. */
export class UnsupportedError extends MillraceError {
  constructor(message: string, fields?: Record<string, unknown>) {
    super('ERR_UNSUPPORTED', message, fields);
  }
}
/** The time limit passed first, in a call that has no value to say so. */
export class TimeoutError extends MillraceError {
  constructor(message: string, fields?: Record<string, unknown>) {
    super('ERR_TIMEOUT', message, fields);
  }
}

named(MillraceError, 'MillraceError');
named(UsageError, 'UsageError');
named(ClosedError, 'ClosedError');
named(RefusedError, 'RefusedError');
named(AddressError, 'AddressError');
named(CodecError, 'CodecError');
named(DataCloneError, 'DataCloneError');
named(LayoutError, 'LayoutError');
named(UnsupportedError, 'UnsupportedError');
named(TimeoutError, 'TimeoutError');
