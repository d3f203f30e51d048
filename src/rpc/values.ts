// What travels as more than its bytes. A function, a reference or a stream is not copied: in its place among the values goes nothing, and a ref says what
// stands there. What the other side may call is kept here by its number until it lets go.
import { UsageError } from '../errors.ts';
import { CALLS_DEPTH_MAX, CALLS_EXPORTS_MAX } from '../limits.ts';
import type { Connection } from './connection.ts';
import { Exposure, exposureOf } from './exposure.ts';
import { failureOf, protocolError, thrownBy } from './failures.ts';
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
  count: number;
}

/** What was put in the place of values. */
export class Packed {
  refs: Ref[] | undefined;
  transfer: unknown[] | undefined;
  readonly #values: Values;
  readonly #scoped: boolean;
  readonly #exported: number[] = [];
  readonly #streams: number[] = [];

  constructor(values: Values, scoped: boolean) {
    this.#values = values;
    this.#scoped = scoped;
  }
  add(path: Path, kind: number, what: unknown): void {
    (this.refs ??= []).push([path, kind, what]);
    if (kind === kinds.REF_FUNCTION || kind === kinds.REF_OBJECT) this.#exported.push(what as number);
    if (kind === kinds.REF_ITERABLE || kind === kinds.REF_READABLE) this.#streams.push(what as number);
  }
  /** It was not sent: nobody over there has any of it. */
  undo(): void {
    for (const id of this.#exported) this.#values.release(id, 1);
    for (const id of this.#streams) this.#values.cancel(id);
  }
  /** The call that it went with is over. */
  done(): void {
    if (this.#scoped) for (const id of this.#exported) this.#values.release(id, Number.POSITIVE_INFINITY);
  }
}

export class Values {
  readonly #connection: Connection;
  readonly #exported: Map<number, Exported> = new Map();
  readonly #numbers: Map<object, Exported> = new Map();
  #last = 0;
  /** What the other side has given away, as it is called here. */
  readonly remotes: Remotes;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.remotes = new Remotes(connection);
  }

  // ---- out ----------------------------------------------------------------------------------------------------

  /**
   * Takes out of `values` what is more than its bytes. `undefined`: nothing is.
   * @param deep looks into arrays and plain objects as well, which are copied where they hold any
   * @param scoped functions can be called until the call that they go with is answered
   * @throws UsageError ERR_LIMIT
   */
  pack(values: unknown[], deep: boolean, scoped = false): Packed | undefined {
    const { manners } = this.#connection;
    let packed: Packed | undefined;
    for (let i = 0; i < values.length; i++) {
      let value = values[i];
      if (manners !== undefined && !deep) values[i] = value = manners.carry(value);
      if (typeof value === 'function' || (typeof value === 'object' && value !== null && isMore(value))) {
        packed ??= new Packed(this, scoped);
        values[i] = this.#take(value, [i], packed);
      } else if (deep && typeof value === 'object' && value !== null) {
        packed ??= new Packed(this, scoped);
        values[i] = this.#within(value, [i], packed, new Map());
      }
    }
    return packed;
  }

  #take(value: object, path: Path, packed: Packed): unknown {
    if (value instanceof Transferred) {
      packed.transfer = [...(packed.transfer ?? []), ...value.list];
      const inner: unknown = value.value;
      const more = typeof inner === 'function' || (typeof inner === 'object' && inner !== null && isMore(inner));
      return more && !value.list.includes(inner) ? this.#take(inner as object, path, packed) : inner;
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
      packed.add(path, kinds.REF_OBJECT, this.#export(value.target, exposureOf(value)));
    } else if (value instanceof Exposure || value instanceof Answering) {
      packed.add(path, kinds.REF_OBJECT, this.#export(value.target, value));
    } else if (typeof value === 'function') {
      const callable = this.#connection.manners?.answering(value) ?? value;
      packed.add(path, kinds.REF_FUNCTION, this.#export(value, callable));
    } else if (value instanceof Error) {
      packed.add(path, kinds.REF_ERROR, failureOf(value, false, this.#connection.options.stacks));
    } else {
      const readable = typeof ReadableStream === 'function' && value instanceof ReadableStream;
      packed.add(path, readable ? kinds.REF_READABLE : kinds.REF_ITERABLE, this.#connection.streams.source(value));
    }
    return null;
  }

  #within(value: object, path: Path, packed: Packed, seen: Map<object, object>): unknown {
    const plain = Array.isArray(value) || isPlain(value);
    if (!plain || path.length > CALLS_DEPTH_MAX) return value;
    const known = seen.get(value);
    if (known !== undefined) return known;
    const copy = (Array.isArray(value) ? value.slice() : { ...value }) as Record<string | number, unknown>;
    seen.set(value, copy);
    for (const key of Object.keys(copy)) {
      const part = copy[key];
      if (typeof part !== 'function' && (typeof part !== 'object' || part === null)) continue;
      const at = [...path, Array.isArray(value) ? Number(key) : key];
      copy[key] =
        typeof part === 'function' || isMore(part)
          ? this.#take(part, at, packed)
          : this.#within(part, at, packed, seen);
    }
    return copy;
  }

  #export(what: object, callable: unknown): number {
    let exported = this.#numbers.get(what);
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
      exported = { id: this.#last, what, callable, count: 0 };
      this.#exported.set(exported.id, exported);
      this.#numbers.set(what, exported);
      if (callable instanceof Answering) callable.held();
    }
    exported.count++;
    return exported.id;
  }

  /** What a number stands for. @throws UsageError ERR_NO_METHOD */
  exported(id: number): unknown {
    const exported = this.#exported.get(id);
    if (exported === undefined) {
      throw new UsageError(
        'ERR_NO_METHOD',
        'Cannot call this function: it was released, or its call was answered, and it could be called until then',
      );
    }
    return exported.callable;
  }
  /** @throws CodecError ERR_PROTOCOL */
  release(id: unknown, count: unknown): void {
    if (!isNumber(id) || !(typeof count === 'number' && count >= 1)) throw protocolError('a release');
    const exported = this.#exported.get(id);
    if (exported === undefined) return;
    exported.count -= count;
    if (exported.count > 0) return;
    this.#exported.delete(id);
    this.#numbers.delete(exported.what);
    if (exported.callable instanceof Answering) exported.callable.released();
  }
  cancel(stream: number): void {
    this.#connection.streams.cancel(stream);
  }
  /** Functions and references that the other side holds. */
  get held(): number {
    return this.#exported.size;
  }

  // ---- in -----------------------------------------------------------------------------------------------------

  /** Puts into `values` what the refs say. @throws CodecError ERR_PROTOCOL; what was put in by then stays */
  unpack(values: unknown[], refs: unknown): void {
    if (!Array.isArray(refs)) throw protocolError('a list of refs');
    for (const ref of refs as unknown[]) {
      if (!Array.isArray(ref)) throw protocolError('a ref');
      const [path, kind, what] = ref as unknown[];
      if (!Array.isArray(path) || path.length === 0 || path.length > CALLS_DEPTH_MAX + 2) throw protocolError('a ref');
      let at: unknown = values;
      for (let i = 0; i < path.length - 1; i++) at = partOf(at, path[i]);
      const last: unknown = path[path.length - 1];
      partOf(at, last);
      const parts = at as Record<string, unknown>;
      parts[last as string] = this.#put(kind, what, parts[last as string]);
    }
  }

  #put(kind: unknown, what: unknown, there: unknown): unknown {
    if (kind === kinds.REF_ERROR) return thrownBy(what);
    const { manners } = this.#connection;
    if (kind === kinds.REF_HANDLED && typeof what === 'string' && manners !== undefined)
      return manners.arrived(what, there);
    if (!isNumber(what)) throw protocolError('a ref');
    const connection = this.#connection;
    switch (kind) {
      case kinds.REF_FUNCTION:
      case kinds.REF_OBJECT:
        return this.remotes.of(what);
      case kinds.REF_OWN:
        return this.#exported.get(what)?.what;
      case kinds.REF_ITERABLE:
        return connection.streams.iterable(what);
      case kinds.REF_READABLE:
        return connection.streams.readable(what);
      default:
        throw protocolError('a ref');
    }
  }

  /** A value that came, or was to go, and that nobody wants any more. */
  letGo(value: unknown): void {
    if (isRemote(value)) {
      this.remotes.release(value);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    if (typeof ReadableStream === 'function' && value instanceof ReadableStream) {
      if (!value.locked) value.cancel().catch(() => {});
    } else if (isIterable(value)) {
      const returned = (value as { return?: () => unknown }).return?.();
      if (returned instanceof Promise) returned.catch(() => {});
    }
  }

  end(): void {
    const exported = [...this.#exported.values()];
    this.#exported.clear();
    this.#numbers.clear();
    for (const { callable } of exported) if (callable instanceof Answering) callable.released();
  }
}

function partOf(at: unknown, key: unknown): unknown {
  const fits =
    typeof at === 'object' &&
    at !== null &&
    (typeof key === 'string' || typeof key === 'number') &&
    Object.hasOwn(at, key);
  if (!fits) throw protocolError('a ref');
  return (at as Record<string, unknown>)[key];
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null;
}

/** Whether an object travels in another way than by its bytes. */
function isMore(value: object): boolean {
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
  return Symbol.asyncIterator in value || tagOf.call(value) === '[object Generator]';
}
