// Errors on their way: class, message, code, cause, own fields and stack go along, and what arrives is an Error of that class.
import * as errors from '../errors.ts';
import { CALLS_CAUSES_MAX, CALLS_ERRORS_MAX, CALLS_STACK_MAX } from '../limits.ts';

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

/**
 * Never throws: an error of the program's may be a Proxy, or have accessors that do.
 * @param plain its fields as far as they are primitive: others could not be cloned
 */
export function failureOf(thrown: unknown, plain: boolean, stacks: boolean): Failure {
  try {
    return described(thrown, plain, stacks, { left: CALLS_ERRORS_MAX }, 0);
  } catch {
    const message = 'What was thrown cannot be read: it throws itself';
    return [['Error'], message, `Error: ${message}`, {}];
  }
}

/** How many errors may still go along, causes of causes and parts of parts together: each may be named many times. */
interface Budget {
  left: number;
}

function described(thrown: unknown, plain: boolean, stacks: boolean, budget: Budget, depth: number): Failure {
  if (!(thrown instanceof Error)) return [0, plain && isObject(thrown) ? String(thrown) : thrown];
  budget.left--;
  const kinds: string[] = [];
  for (let at: object | null = thrown; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const name = names.get(at);
    if (name !== undefined) kinds.push(name);
  }
  if (isDomException(thrown)) kinds.unshift('DOMException');
  const fields: Record<string, unknown> = {};
  for (const key of Object.keys(thrown)) {
    const own = Object.getOwnPropertyDescriptor(thrown, key);
    if (own === undefined || !('value' in own) || APART.has(key)) continue;
    const value: unknown = own.value;
    if (typeof value !== 'function' && typeof value !== 'symbol' && !(plain && isObject(value))) fields[key] = value;
  }
  const [name, message] = [textOf(thrown, 'name'), textOf(thrown, 'message')];
  if (name !== classes.get(kinds[0] as string)?.prototype.name) fields['name'] = name;
  const stack = stacks ? textOf(thrown, 'stack').slice(0, CALLS_STACK_MAX) : '';
  const failure: unknown[] = [kinds, message, stack === '' ? `${name}: ${message}` : stack, fields];
  if (depth >= CALLS_CAUSES_MAX) return failure;
  if (Object.hasOwn(thrown, 'cause') && budget.left > 0) {
    failure[4] = described(thrown.cause, plain, stacks, budget, depth + 1);
  }
  if (thrown instanceof AggregateError && Array.isArray(thrown.errors)) {
    // No hole: it would be one of few lists that other languages do not have.
    failure[4] ??= undefined;
    const parts: Failure[] = [];
    for (const each of thrown.errors as unknown[]) {
      if (budget.left <= 0 || parts.length >= CALLS_ERRORS_MAX) break;
      parts.push(described(each, plain, stacks, budget, depth + 1));
    }
    failure[5] = parts;
  }
  return failure;
}

/** A text of an error, also of one with accessors that throw. */
function textOf(error: Error, name: 'name' | 'message' | 'stack'): string {
  try {
    const text: unknown = error[name];
    return text === undefined ? '' : String(text);
  } catch {
    return '';
  }
}

function isObject(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/**
 * What was thrown over there, as it can be thrown here. Its `stack` is that of over there, and behind it who has called here, as far as the engine knows.
 * @throws CodecError ERR_PROTOCOL for what is no failure
 */
export function thrownBy(failure: unknown, here?: string): unknown {
  return made(failure, here, { left: CALLS_ERRORS_MAX }, 0);
}

function made(failure: unknown, here: string | undefined, budget: Budget, depth: number): unknown {
  if (!Array.isArray(failure) || depth > CALLS_CAUSES_MAX) throw protocolError('a failure');
  const [kinds, message, stack, fields, cause, list] = failure as unknown[];
  if (kinds === 0) return message;
  // A small message can name one part so often that to make each would take for ever.
  if (--budget.left < 0 || !isShort(kinds) || typeof message !== 'string' || typeof stack !== 'string')
    throw protocolError('a failure');
  if (list !== undefined && !isShort(list)) throw protocolError('a failure');
  const own = (typeof fields === 'object' && fields !== null ? fields : {}) as Record<string, unknown>;
  let error: Error;
  if (kinds[0] === 'DOMException' && typeof DOMException === 'function') {
    error = new DOMException(message, typeof own['name'] === 'string' ? own['name'] : 'Error');
  } else {
    const known = classes.get(kinds.find((kind) => classes.has(kind as string)) as string) ?? Error;
    error =
      list === undefined
        ? new Error(message)
        : new AggregateError(
            list.map((each) => made(each, undefined, budget, depth + 1)),
            message,
          );
    if (Object.getPrototypeOf(error) !== known.prototype) Object.setPrototypeOf(error, known.prototype as object);
  }
  for (const key of Object.keys(own)) {
    const said = key === 'name' ? !(typeof own[key] === 'string' && !isDomException(error)) : APART.has(key);
    if (!said) define(error, key, own[key], true);
  }
  if (cause !== undefined) define(error, 'cause', made(cause, undefined, budget, depth + 1), false);
  define(error, 'stack', here === undefined ? stack : `${stack}\n    -- called from --\n${here}`, false);
  return error;
}

function isShort(list: unknown): list is unknown[] {
  return Array.isArray(list) && list.length <= CALLS_ERRORS_MAX;
}

function isDomException(error: Error): boolean {
  return typeof DOMException === 'function' && error instanceof DOMException;
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
