// The path to a part of a value, as an error names it: `$.users[3]["first name"]`.

/** A step that is neither a key nor an index. */
export class Step {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const IDENTIFIER = /^[$_\p{ID_Start}][$\p{ID_Continue}]*$/u;

/** Of the first `depth` steps; step 0 is the value itself. */
export function pathOf(steps: readonly (string | number | Step)[], depth: number): string {
  let path = '$';
  for (let i = 1; i <= depth; i++) {
    const step = steps[i];
    if (typeof step === 'number') path += `[${step}]`;
    else if (typeof step === 'string') path += IDENTIFIER.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
    else if (step !== undefined) path += step.text;
  }
  return path;
}
