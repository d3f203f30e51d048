/** What a wrong value is, where a message does not show it: `an object`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}
