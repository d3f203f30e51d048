// From what is exposed to what a call asks of it: the way along its path, and the call or the look at its end.
import { UsageError } from '../errors.ts';
import { Exposure, exposureOf, memberOf, noMethod } from './exposure.ts';
import { Answering } from './manners.ts';
import type { Extra, Path } from './messages.ts';
import { Reference } from './reference.ts';

/** @throws UsageError ERR_NO_METHOD; what the function throws */
export function answerOf(asked: unknown, { ask, get }: Extra, path: Path, values: unknown[]): unknown {
  if (asked instanceof Answering) return asked.answer(ask ?? (get === true ? 'get' : 'call'), path, values);
  if (ask !== undefined) throw noMethod(path.length > 0 ? path.join('.') : 'a value that is called and read only');
  let at = asked;
  const last = get === true ? path.length : path.length - 1;
  for (let i = 0; i < last; i++) at = memberOf(at, path[i] as string);
  return get === true ? at : callMember(at, path.length === 0 ? undefined : path[last], values);
}

/** @throws UsageError ERR_NO_METHOD; what the function throws */
function callMember(at: unknown, name: string | number | undefined, values: unknown[]): unknown {
  if (name === undefined) {
    if (typeof at !== 'function') {
      throw new UsageError('ERR_NO_METHOD', 'Cannot call this: it is no function over there; call a method of it');
    }
    return Reflect.apply(at, undefined, values);
  }
  const exposure = at instanceof Reference ? exposureOf(at) : at;
  if (exposure instanceof Exposure) return Reflect.apply(exposure.method(String(name)), exposure.target, values);
  const method = memberOf(at, name);
  if (typeof method !== 'function') throw noMethod(String(name));
  return Reflect.apply(method, at, values);
}
