// Errors on their way: class, message, code, cause, own fields and stack go along, and what arrives is an Error of that class.
import * as errors from '../errors.ts';

type ErrorClass = new (...values: never[]) => Error;

/** `[classes, message, stack, fields, cause, errors]`; anything else that was thrown: `[0, value]`. */
export type Failure = readonly unknown[];

const STANDARD: readonly ErrorClass[] = [
  Error,
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  EvalError,
  URIError,
  AggregateError,
];
const classes: Map<string, ErrorClass> = new Map(STANDARD.map((it) => [it.name, it]));
for (const it of [
  errors.UsageError,
  errors.ClosedError,
  errors.RefusedError,
  errors.AddressError,
  errors.CodecError,
  errors.DataCloneError,
  errors.LayoutError,
  errors.UnsupportedError,
  errors.TimeoutError,
  errors.MillraceError,
] as ErrorClass[])
  classes.set(`millrace.${it.prototype.name}`, it);
const names: Map<object, string> = new Map([...classes].map(([name, it]) => [it.prototype as object, name]));

/** Levels of causes that go along. */
const CAUSES_MAX = 8;
const ERRORS_MAX = 64;
/** What is said apart, and what nobody may set over there. */
const APART: ReadonlySet<string> = new Set([
  'message',
  'stack',
  'cause',
  'errors',
  '__proto__',
  'constructor',
  'toString',
]);

/**
 * Makes errors of this class arrive as such, on both sides: each has to register it. Its constructor is not called; message, stack and own fields
 * are set. The standard classes, DOMException and those of this library need none of it. For all ports of the thread, those that are open too.
 * ```ts
 * import { attach, channel } from 'millrace';
 * import { expose, registerError, wrap } from 'millrace/rpc';
 * class NotFound extends Error { status = 404; }
 * registerError(NotFound, 'NotFound');                       // in both threads
 * const { port, remote } = channel();
 * const server = { read(name: string): string { throw new NotFound(`no ${name}`); } };
 * expose(server, attach(remote));                            // in another thread
 * await wrap<typeof server>(port).read('a.txt').catch((error) => console.log(error instanceof NotFound, error.status));   // true 404
 * port.close();
 * ```
 * @param name by which the two know it; default its own name, which a minifier may change
 * @throws UsageError ERR_OPTION for what is no class of errors, or a name that another class has
 */
export function registerError(errorClass: new (...values: never[]) => Error, name: string = errorClass?.name): void {
  const fits = typeof errorClass === 'function' && errorClass.prototype instanceof Error;
  if (!fits || typeof name !== 'string' || name === '') {
    throw new errors.UsageError(
      'ERR_OPTION',
      `Cannot register ${String(name)}: expected a class of errors, and a name for it`,
    );
  }
  const known = classes.get(name);
  if (known !== undefined && known !== errorClass) {
    throw new errors.UsageError(
      'ERR_OPTION',
      `Cannot register a second class as ${JSON.stringify(name)}: give it another name`,
    );
  }
  classes.set(name, errorClass);
  names.set(errorClass.prototype as object, name);
}

/** @param plain its fields as far as they are primitive: others could not be cloned */
export function failureOf(thrown: unknown, plain: boolean, stacks: boolean, depth = 0): Failure {
  if (!(thrown instanceof Error)) return [0, plain && isObject(thrown) ? String(thrown) : thrown];
  const kinds: string[] = [];
  for (let at: object | null = thrown; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const name = names.get(at);
    if (name !== undefined) kinds.push(name);
  }
  if (typeof DOMException === 'function' && thrown instanceof DOMException) kinds.unshift('DOMException');
  const fields: Record<string, unknown> = {};
  for (const key of Object.keys(thrown)) {
    const { value } = Object.getOwnPropertyDescriptor(thrown, key) ?? {};
    if (!APART.has(key) && typeof value !== 'function' && typeof value !== 'symbol' && !(plain && isObject(value)))
      fields[key] = value;
  }
  if (thrown.name !== classes.get(kinds[0] as string)?.prototype.name) fields['name'] = String(thrown.name);
  const failure: unknown[] = [
    kinds,
    String(thrown.message),
    stacks && typeof thrown.stack === 'string' ? thrown.stack : `${thrown.name}: ${thrown.message}`,
    fields,
  ];
  if (depth >= CAUSES_MAX) return failure;
  if (Object.hasOwn(thrown, 'cause')) failure[4] = failureOf(thrown.cause, plain, stacks, depth + 1);
  if (thrown instanceof AggregateError && Array.isArray(thrown.errors)) {
    // No hole: it would be one of few lists that other languages do not have.
    failure[4] ??= undefined;
    failure[5] = thrown.errors.slice(0, ERRORS_MAX).map((each: unknown) => failureOf(each, plain, stacks, depth + 1));
  }
  return failure;
}

function isObject(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/**
 * What was thrown over there, as it can be thrown here. Its `stack` is that of over there, and behind it who has called here, as far as the engine knows.
 * @throws CodecError ERR_PROTOCOL for what is no failure
 */
export function thrownBy(failure: unknown, here?: string, depth = 0): unknown {
  if (!Array.isArray(failure) || depth > CAUSES_MAX) throw protocolError('a failure');
  const [kinds, message, stack, fields, cause, list] = failure as unknown[];
  if (kinds === 0) return message;
  if (!Array.isArray(kinds) || typeof message !== 'string' || typeof stack !== 'string')
    throw protocolError('a failure');
  let error: Error;
  if (kinds[0] === 'DOMException' && typeof DOMException === 'function') {
    const { name } = (fields ?? {}) as { name?: unknown };
    error = new DOMException(message, typeof name === 'string' ? name : 'Error');
  } else {
    const known = classes.get(kinds.find((kind) => classes.has(kind as string)) as string) ?? Error;
    error = Array.isArray(list)
      ? new AggregateError(
          list.map((each) => thrownBy(each, undefined, depth + 1)),
          message,
        )
      : new Error(message);
    if (Object.getPrototypeOf(error) !== known.prototype) Object.setPrototypeOf(error, known.prototype as object);
    if (typeof fields === 'object' && fields !== null) {
      for (const key of Object.keys(fields)) {
        if (!APART.has(key)) define(error, key, (fields as Record<string, unknown>)[key], true);
      }
    }
  }
  if (cause !== undefined) define(error, 'cause', thrownBy(cause, undefined, depth + 1), false);
  define(error, 'stack', here === undefined ? stack : `${stack}\n    -- called from --\n${here}`, false);
  return error;
}

function define(error: Error, key: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(error, key, { value, enumerable, writable: true, configurable: true });
}

export function protocolError(what: string): errors.CodecError {
  return new errors.CodecError(
    'ERR_PROTOCOL',
    `The other side sent ${what} that makes no sense: do both speak the same version of calls?`,
  );
}
