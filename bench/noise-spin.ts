// The arithmetic of the noise probe, for both of its threads.

/** Value of the shared word while the helper has to work. */
export const GO = 1;

const STEPS = 2_000_000;

/** A chain of dependent multiplications: no memory, no allocation, nothing for the compiler to drop. */
export function spin(): void {
  let x = 1;
  for (let i = 0; i < STEPS; i++) x = (Math.imul(x, 1664525) + 1013904223) | 0;
  sink = x;
}

export let sink = 0;
