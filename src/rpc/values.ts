// What travels as more than its bytes. A function, a reference or a stream is not copied: in its place among the values goes nothing, and a ref says what
// stands there. What the other side may call is kept here by its number until it lets go.
import { UsageError } from '../errors.ts';
import { CALLS_DEPTH_MAX, CALLS_EXPORTS_MAX } from '../limits.ts';
import { Port } from '../port/port.ts';
import type { Connection } from './connection.ts';
import { Exposure, exposureOf, isContainer } from './exposure.ts';
import { type Failure, failureOf, protocolError, thrownBy } from './failures.ts';
import { Answering, Handled } from './manners.ts';
import * as kinds from './messages.ts';
import { following, isNumber, type Ref } from './messages.ts';
import { isRemote, Remotes, remoteOf } from './proxy.ts';
import { Reference, Transferred } from './reference.ts';

type Path = readonly (string | number)[];

interface Exported {
  readonly id: number;
  readonly what: object;
  /** What is called by it. */
  readonly callable: unknown;
  /** It has its number for one call, and that number is called by nobody behind it. */
  readonly scoped: boolean;
  /** How often it was given away, and not let go of. */
  count: number;
}

/** What was put in the place of values. */
export class Packed {
  refs: Ref[] | undefined;
  transfer: readonly unknown[] | undefined;
  /** What was made to be moved is ended, if it is not. */
  unsent: (() => void) | undefined;
  /** This thread is blocked while it is read. */
  readonly still: boolean;
  readonly #values: Values;
  readonly #exported: Exported[] = [];
  readonly #streams: number[] = [];
  /** Errors among them that have gone whole, and the refs that describe them. */
  #errors: { readonly error: Error; readonly ref: { 2: unknown } }[] | undefined;

  constructor(values: Values, still = false) {
    this.#values = values;
    this.still = still;
  }
  add(path: Path, kind: number, what: unknown): void {
    (this.refs ??= []).push([path, kind, what]);
  }
  fails(path: Path, error: Error): void {
    const ref: [Path, number, unknown] = [path, kinds.REF_ERROR, this.#values.failureOf(error, false)];
    (this.refs ??= []).push(ref);
    (this.#errors ??= []).push({ error, ref });
  }
  /** Something cannot be cloned: it may have been a field of an error, and they go without theirs, as those do that were thrown. False: there are none. */
  simplify(): boolean {
    const errors = this.#errors;
    this.#errors = undefined;
    for (const { error, ref } of errors ?? []) ref[2] = this.#values.failureOf(error, true);
    return errors !== undefined;
  }
  gives(path: Path, kind: number, exported: Exported): void {
    this.add(path, kind, exported.id);
    this.#exported.push(exported);
  }
  opens(path: Path, kind: number, stream: number): void {
    this.add(path, kind, stream);
    this.#streams.push(stream);
  }
  /** One message has both: what lies deep is put in first, for what a handler has made is taken whole. */
  with(other: Packed | undefined): this {
    if (other === undefined) return this;
    if (other.#errors !== undefined) this.#errors = [...(this.#errors ?? []), ...other.#errors];
    this.#exported.push(...other.#exported);
    this.#streams.push(...other.#streams);
    if (other.transfer !== undefined) this.transfer = [...(this.transfer ?? []), ...other.transfer];
    return this;
  }
  /** It was not sent: nobody over there has any of it. */
  undo(): void {
    this.unsent?.();
    for (const exported of this.#exported.splice(0)) this.#values.takeBack(exported, 1);
    for (const stream of this.#streams.splice(0)) this.#values.cancel(stream);
  }
  /** The call that it went with is over. */
  done(): void {
    for (const exported of this.#exported) if (exported.scoped) this.#values.takeBack(exported, exported.count);
  }
}

/** Names at which no function or stream may stand: the engine asks them of values, and what stands there would be called by nobody who wants to. */
const ASKED: ReadonlySet<string> = new Set([
  '__proto__',
  'constructor',
  'then',
  'toJSON',
  'toString',
  'valueOf',
  'hasOwnProperty',
]);

/** Where a ref's value is to be put. */
interface Place {
  readonly at: Container;
  readonly key: string | number;
  readonly kind: unknown;
  readonly what: unknown;
}

export class Values {
  readonly #connection: Connection;
  readonly #exported: Map<number, Exported> = new Map();
  readonly #numbers: Map<object, Exported> = new Map();
  #last: number;
  /** What the other side has given away, as it is called here. */
  readonly remotes: Remotes;

  constructor(connection: Connection, last: number) {
    this.#connection = connection;
    this.#last = last;
    this.remotes = new Remotes(connection);
  }

  // ---- out ----------------------------------------------------------------------------------------------------

  /**
   * Takes out of `values` what is more than its bytes. `undefined`: nothing is.
   * @param deep looks into arrays and plain objects as well, which are copied where they hold any
   * @param scoped functions can be called until the call that they go with is answered
   * @param still this thread is blocked while streams are read
   * @throws UsageError ERR_LIMIT, ERR_OPTION; UnsupportedError: nothing was given away then
   */
  pack(values: unknown[], deep: boolean, scoped = false, still = false): Packed | undefined {
    const { manners } = this.#connection;
    let packed: Packed | undefined;
    try {
      for (let i = 0; i < values.length; i++) {
        let value = values[i];
        if (manners !== undefined && !deep) values[i] = value = manners.carry(value);
        if (typeof value === 'function' || (typeof value === 'object' && value !== null && isMore(value))) {
          packed ??= new Packed(this, still);
          values[i] = this.#take(value, [i], packed, scoped);
        } else if (deep && typeof value === 'object' && value !== null) {
          packed ??= new Packed(this, still);
          values[i] = this.#within(value, [i], packed, scoped, new Map());
        }
      }
    } catch (error) {
      packed?.undo();
      throw error;
    }
    return packed;
  }

  #take(value: object, path: Path, packed: Packed, scoped: boolean): unknown {
    if (value instanceof Transferred) {
      packed.transfer = [...(packed.transfer ?? []), ...value.list];
      if (value.unsent !== undefined) packed.unsent = value.unsent;
      const inner: unknown = value.value;
      const more = typeof inner === 'function' || (typeof inner === 'object' && inner !== null && isMore(inner));
      return more && !value.list.includes(inner) ? this.#take(inner as object, path, packed, scoped) : inner;
    }
    if (value instanceof Handled) {
      packed.transfer = [...(packed.transfer ?? []), ...value.list];
      packed.add(path, kinds.REF_HANDLED, value.name);
      return value.value;
    }
    const own = remoteOf(value);
    if (own !== undefined && own.connection === this.#connection && own.target > 0 && own.path.length === 0) {
      packed.add(path, kinds.REF_OWN, own.target);
    } else if (value instanceof Reference) {
      packed.gives(path, kinds.REF_OBJECT, this.#export(value.target, exposureOf(value), scoped));
    } else if (value instanceof Exposure || value instanceof Answering) {
      packed.gives(path, kinds.REF_OBJECT, this.#export(value.target, value, scoped));
    } else if (typeof value === 'function') {
      const callable = this.#connection.manners?.answering(value) ?? value;
      packed.gives(path, kinds.REF_FUNCTION, this.#export(value, callable, scoped));
    } else if (value instanceof Error) {
      packed.fails(path, value);
    } else {
      const readable = typeof ReadableStream === 'function' && value instanceof ReadableStream;
      const kind = readable ? kinds.REF_READABLE : kinds.REF_ITERABLE;
      packed.opens(path, kind, this.#connection.streams.source(value, packed.still));
    }
    return null;
  }

  #within(value: object, path: Path, packed: Packed, scoped: boolean, seen: Map<object, object>): unknown {
    if (!isContainer(value) || path.length > CALLS_DEPTH_MAX) return value;
    const known = seen.get(value);
    if (known !== undefined) return known;
    const copy = (Array.isArray(value) ? copyOf(value) : { ...value }) as Container;
    seen.set(value, copy);
    for (const key of Object.keys(copy)) {
      const part = copy[key];
      if (typeof part !== 'function' && (typeof part !== 'object' || part === null)) continue;
      const name = Array.isArray(value) ? Number(key) : key;
      if (!isPlace(copy, name)) continue;
      const at = [...path, name];
      copy[key] =
        typeof part === 'function' || isMore(part)
          ? this.#take(part, at, packed, scoped)
          : this.#within(part, at, packed, scoped, seen);
    }
    return copy;
  }

  failureOf(error: unknown, plain: boolean): Failure {
    return failureOf(error, plain, this.#connection.options.stacks);
  }

  #export(what: object, callable: unknown, scoped: boolean): Exported {
    let exported = scoped ? undefined : this.#numbers.get(what);
    if (exported === undefined) {
      if (this.#exported.size >= CALLS_EXPORTS_MAX) {
        throw new UsageError(
          'ERR_LIMIT',
          `Cannot give this away: the other side holds ${CALLS_EXPORTS_MAX} functions and references already; release some there`,
          { limit: CALLS_EXPORTS_MAX },
        );
      }
      do this.#last = following(this.#last);
      while (this.#exported.has(this.#last));
      exported = { id: this.#last, what, callable, scoped, count: 0 };
      this.#exported.set(exported.id, exported);
      if (!scoped) this.#numbers.set(what, exported);
      if (callable instanceof Answering) callable.held();
    }
    exported.count++;
    return exported;
  }

  /** What a number stands for. @throws UsageError ERR_NO_METHOD */
  exported(id: number): unknown {
    return this.#held(id).callable;
  }
  #held(id: number): Exported {
    const exported = this.#exported.get(id);
    if (exported !== undefined) return exported;
    throw new UsageError(
      'ERR_NO_METHOD',
      'Cannot call this function: it was released, or its call was answered, and it could be called until then',
    );
  }
  /** @throws CodecError ERR_PROTOCOL */
  release(id: unknown, count: unknown): void {
    if (!isNumber(id) || !isNumber(count)) throw protocolError('a release');
    const exported = this.#exported.get(id);
    if (exported !== undefined) this.takeBack(exported, count);
  }
  /** So many times less is it held over there. What is still on its way there counts: a release that crosses it does not end it. */
  takeBack(exported: Exported, count: number): void {
    exported.count -= count;
    if (exported.count > 0 || this.#exported.get(exported.id) !== exported) return;
    this.#exported.delete(exported.id);
    if (this.#numbers.get(exported.what) === exported) this.#numbers.delete(exported.what);
    if (exported.callable instanceof Answering) exported.callable.released();
    this.#connection.less();
  }
  cancel(stream: number): void {
    this.#connection.streams.cancel(stream);
  }
  /** Functions and references that the other side holds. */
  get held(): number {
    return this.#exported.size;
  }

  // ---- in -----------------------------------------------------------------------------------------------------

  /**
   * Puts into `values` what the refs say, where nothing stands; all or nothing.
   * @throws CodecError ERR_PROTOCOL; UsageError ERR_NO_METHOD for what was let go of
   */
  unpack(values: unknown[], refs: unknown): void {
    // All are found before any is put: none leads into what another one has put there, which may be an object of the program's.
    let places: Place[];
    try {
      places = placesOf(values, refs);
    } catch (error) {
      this.discard(refs);
      throw error;
    }
    let put = 0;
    try {
      for (const { at, key, kind, what } of places) {
        if (at[key] !== null && kind !== kinds.REF_HANDLED) throw protocolError('two refs for one place');
        at[key] = this.#put(kind, what, at[key]);
        put++;
      }
    } catch (error) {
      for (const { at, key, kind } of places.slice(0, put))
        if (kind !== kinds.REF_OWN && kind !== kinds.REF_HANDLED) this.letGo(at[key]);
      this.discard((refs as unknown[]).slice(put + 1));
      throw error;
    }
  }

  #put(kind: unknown, what: unknown, there: unknown): unknown {
    if (kind === kinds.REF_ERROR) return thrownBy(what);
    const connection = this.#connection;
    if (kind === kinds.REF_HANDLED && typeof what === 'string' && connection.manners !== undefined)
      return connection.manners.arrived(what, there);
    if (!isNumber(what)) throw protocolError('a ref');
    switch (kind) {
      case kinds.REF_FUNCTION:
      case kinds.REF_OBJECT:
        return this.remotes.of(what);
      case kinds.REF_OWN:
        return this.#held(what).what;
      case kinds.REF_ITERABLE:
        return connection.streams.iterable(what);
      case kinds.REF_READABLE:
        return connection.streams.readable(what);
      default:
        throw protocolError('a ref');
    }
  }

  /** Of a message that nobody wants: what it gives away is let go of without ever being here. */
  discard(refs: unknown): void {
    if (!Array.isArray(refs) || refs.length > CALLS_EXPORTS_MAX) return;
    for (const ref of refs as unknown[]) {
      if (!Array.isArray(ref)) return;
      const [, kind, what] = ref as unknown[];
      if (!isNumber(what)) continue;
      if (kind === kinds.REF_FUNCTION || kind === kinds.REF_OBJECT) this.#connection.out.letGo(what, 1);
      else if (kind === kinds.REF_ITERABLE || kind === kinds.REF_READABLE) this.#connection.streams.refuse(what);
    }
  }

  /** A value that came, or was to go, and that nobody wants any more. Never throws. */
  letGo(value: unknown): void {
    if (isRemote(value)) {
      this.remotes.unused(value);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    try {
      if (typeof ReadableStream === 'function' && value instanceof ReadableStream) {
        if (!value.locked) value.cancel().catch(() => {});
      } else if (isGenerator(value)) {
        const returned: unknown = value.return(undefined);
        if (returned instanceof Promise) returned.catch(() => {});
      }
    } catch {
      // An object of the program's that throws whatever it is asked: nobody waits for it.
    }
  }

  end(): void {
    const exported = [...this.#exported.values()];
    this.#exported.clear();
    this.#numbers.clear();
    for (const { callable } of exported) if (callable instanceof Answering) callable.released();
  }
}

/** @throws CodecError ERR_PROTOCOL */
function placesOf(values: unknown[], refs: unknown): Place[] {
  if (!Array.isArray(refs) || refs.length > CALLS_EXPORTS_MAX) throw protocolError('a list of refs');
  const places: Place[] = [];
  for (const ref of refs as unknown[]) {
    if (!Array.isArray(ref)) throw protocolError('a ref');
    const [path, kind, what] = ref as unknown[];
    if (!Array.isArray(path) || path.length === 0 || path.length > CALLS_DEPTH_MAX + 2) throw protocolError('a ref');
    let at: unknown = values;
    const last = path.length - 1;
    for (let i = 0; i <= last; i++) {
      const key: unknown = path[i];
      if (!isPlace(at, key)) throw protocolError('a ref');
      if (i === last) places.push({ at: at as Container, key, kind, what });
      else at = (at as Container)[key];
    }
  }
  return places;
}

/** What is not there takes no time: `slice` asks for each place of an array. */
function copyOf(array: readonly unknown[]): unknown[] {
  const keys = Object.keys(array);
  if (keys.length >= array.length) return array.slice();
  const copy: unknown[] = [];
  copy.length = array.length;
  for (const key of keys) copy[key as unknown as number] = array[key as unknown as number];
  return copy;
}

type Container = Record<string | number, unknown>;

/** Whether a ref may lead to, or through, this member of a value: of arrays and plain objects only, which are nobody's but the message's. */
function isPlace(at: unknown, key: unknown): key is string | number {
  if (typeof at !== 'object' || at === null || !isContainer(at)) return false;
  if (typeof key === 'number') return Array.isArray(at) && Number.isInteger(key) && Object.hasOwn(at, key);
  return typeof key === 'string' && !Array.isArray(at) && !ASKED.has(key) && Object.hasOwn(at, key);
}

/** Whether an object travels in another way than by its bytes. */
export function isMore(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown;
  if (prototype === Array.prototype) return false;
  if (prototype === Object.prototype || prototype === null) return Symbol.asyncIterator in value;
  return (
    value instanceof Reference ||
    value instanceof Transferred ||
    value instanceof Exposure ||
    value instanceof Answering ||
    value instanceof Handled ||
    value instanceof Error ||
    isIterable(value) ||
    (typeof ReadableStream === 'function' && value instanceof ReadableStream)
  );
}

const tagOf = Object.prototype.toString;
function isIterable(value: object): boolean {
  if (tagOf.call(value) === '[object Generator]') return true;
  // Ports and promises of calls can be read by `for await`, and are no streams: as any other of their kind they cannot be cloned.
  return Symbol.asyncIterator in value && !(value instanceof Promise) && !(value instanceof Port);
}

function isGenerator(value: object): value is Generator | AsyncGenerator {
  const tag = tagOf.call(value);
  return tag === '[object Generator]' || tag === '[object AsyncGenerator]';
}
