// What a thread or a process died of, as a text: JSON, { name, message, stack, code } of an Error, { value } of what else was thrown. The
// bootstrap of src/platform/bootstrap.ts writes it in the same way.
import { DEATH_TEXT_MAX } from '../limits.ts';

/**
 * @param fits whether a text is short enough; one of a hundred characters must be. Longer ones are shortened where people would
 * @param told what may be told: the stack says where files lie
 */
export function deathText(
  error: unknown,
  fits: (text: string) => boolean,
  told: 'stack' | 'message' = 'stack',
): string {
  const part = (key: string, max: number): string | undefined => {
    const value = (error as Record<string, unknown>)[key];
    return typeof value === 'string' ? value.slice(0, max) : undefined;
  };
  for (let max = DEATH_TEXT_MAX / 2; ; max >>= 1) {
    let fields: object;
    try {
      if (typeof error === 'object' && error !== null && 'message' in error) {
        fields = {
          name: part('name', Math.min(max, 64)),
          message: part('message', max),
          stack: told === 'stack' ? part('stack', max) : undefined,
          code: part('code', Math.min(max, 64)),
        };
      } else fields = { value: ['number', 'boolean'].includes(typeof error) ? error : String(error).slice(0, max) };
    } catch {
      fields = { value: 'an error that cannot be told' };
    }
    const text = JSON.stringify(fields);
    if (max === 0 || fits(text)) return text;
  }
}

/** What such a text tells of; `undefined` if it is none. It may hold anything: others write it. */
export function errorOf(text: string): unknown {
  try {
    const { value, name, message, stack, code } = JSON.parse(text) as Record<string, unknown>;
    if (value === undefined) return rebuilt({ name, message, stack, code });
    return typeof value === 'object' ? undefined : value;
  } catch {
    return undefined;
  }
}

function rebuilt(fields: Readonly<Record<string, unknown>>): Error {
  const error = new Error();
  for (const [key, value] of Object.entries(fields)) {
    if (typeof value === 'string')
      Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: key === 'code' });
  }
  return error;
}
