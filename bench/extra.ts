// Further figures of a result: in the scenario's unit, but for those whose names say another.
const UNITS: readonly (readonly [end: string, unit: string])[] = [
  ['bytes a second', 'B/s'],
  ['a second', '/s'],
];

/** The unit of a further figure, by its name. */
export function unitOfExtra(name: string, unit: string): string {
  return UNITS.find(([end]) => name.endsWith(end))?.[1] ?? unit;
}
