// What may be asked of an object that is exposed in Comlink's manner: to read, set, call and construct whatever a path reaches within it. Not
// what all objects of the thread have in common: no prototype and no constructor is reached, and of what the runtime's own classes have, methods can be
// called, and that is all.
import { platform } from '#platform';
import { UsageError } from '../../errors.ts';
import { isBuiltIn, noMethod, RESERVED } from '../../rpc/exposure.ts';
import { Answering, type Ask } from '../../rpc/manners.ts';
import { isRemote } from '../../rpc/proxy.ts';
import { finalizer } from './symbols.ts';

export const SET = 'set';
export const CONSTRUCT = 'construct';
export const ENDPOINT = 'endpoint';
/** Of what is exposed: nobody over there has it any more, though what was given by way of it may be held. */
export const LEAVE = 'leave';

type Path = readonly (string | number)[];
type Parts = Record<string | number, unknown>;

const REFUSED: ReadonlySet<string> = new Set([
  ...RESERVED,
  '__defineGetter__',
  '__defineSetter__',
  '__lookupGetter__',
  '__lookupSetter__',
]);

/** One more endpoint is wanted at which this is exposed. */
export class Another {
  readonly target: object;
  constructor(target: object) {
    this.target = target;
  }
}

const all: WeakMap<object, Open> = new WeakMap();

export class Open extends Answering {
  readonly target: object;
  #holders = 0;

  private constructor(target: object) {
    super();
    this.target = target;
  }
  static of(target: object): Open {
    let open = all.get(target);
    if (open === undefined) all.set(target, (open = new Open(target)));
    return open;
  }

  override held(): void {
    this.#holders++;
  }
  override released(): void {
    if (--this.#holders > 0) return;
    const finalize = (this.target as { [finalizer]?: unknown })[finalizer];
    if (typeof finalize !== 'function') return;
    try {
      Reflect.apply(finalize, this.target, []);
    } catch (error) {
      platform.reportError(error);
    }
  }

  answer(ask: Ask, path: Path, values: unknown[]): unknown {
    const { target } = this;
    switch (ask) {
      case 'get':
        return settled(within(target, path));
      case 'call': {
        const on = path.length === 0 ? target : within(target, path.slice(0, -1));
        const called = path.length === 0 ? target : member(on, path.at(-1) as string, true);
        if (typeof called !== 'function')
          throw new TypeError(`${path.join('.') || 'what is exposed'} is not a function`);
        return settled(Reflect.apply(called, on, values));
      }
      case SET: {
        const name = path.at(-1);
        const on = within(target, path.slice(0, -1));
        if (name === undefined || REFUSED.has(String(name))) throw refused(String(name));
        // A primitive has nothing that could be set, and says so.
        (on as Parts)[name] = values[0];
        return true;
      }
      case CONSTRUCT: {
        const made = within(target, path);
        if (typeof made !== 'function')
          throw new TypeError(`${path.join('.') || 'what is exposed'} is not a constructor`);
        const it = Reflect.construct(made, values) as object;
        // A third thread's answers by a promise of the proxy.
        return isRemote(made) ? it : Open.of(it);
      }
      case ENDPOINT:
        return new Another(target);
      default:
        throw noMethod(ask);
    }
  }
}

/** What is exposed at an endpoint, for one of those who have wrapped it. */
export class Root extends Answering {
  readonly #open: Open;
  readonly #unused: () => void;
  #left = false;

  /** @param unused nobody over there has it any more */
  constructor(open: Open, unused: () => void) {
    super();
    this.#open = open;
    this.#unused = unused;
    open.held();
  }
  get target(): object {
    return this.#open.target;
  }
  answer(ask: Ask, path: Path, values: unknown[]): unknown {
    if (ask !== LEAVE) return this.#open.answer(ask, path, values);
    this.leave();
    return undefined;
  }
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#open.released();
    this.#unused();
  }
}

/** A proxy of a third thread's answers by a promise, which is waited for. */
function settled(value: unknown): unknown {
  return isRemote(value) ? Promise.resolve(value) : value;
}

function within(target: unknown, path: Path): unknown {
  return path.reduce((at: unknown, name) => member(at, name, false), target);
}

/** @param called it is called at once, and nothing is reached through it */
function member(at: unknown, name: string | number, called: boolean): unknown {
  if (REFUSED.has(String(name))) throw refused(String(name));
  const value = (at as Parts)[name];
  if (called || typeof value !== 'function' || isRemote(at)) return value;
  for (
    let from: object | null = Object(at) as object;
    from !== null;
    from = Object.getPrototypeOf(from) as object | null
  ) {
    if (!Object.hasOwn(from, name)) continue;
    if (from !== at && isBuiltIn(from)) throw refused(String(name));
    break;
  }
  return value;
}

function refused(name: string): UsageError {
  return new UsageError(
    'ERR_NO_METHOD',
    `Cannot reach ${JSON.stringify(name)}: it leads to what all objects of the other thread have in common`,
    { method: name },
  );
}
