// `node:test` in a browser's worker: a list of tests, which a page runs one after the other (suites/offer.ts).
export interface Collected {
  readonly name: string;
  readonly body: () => unknown;
}
export const collected: Collected[] = [];

export function test(name: string, body: () => unknown): void {
  collected.push({ name, body });
}
/** What a suite tidies up ends with its worker. */
export function after(): void {}
