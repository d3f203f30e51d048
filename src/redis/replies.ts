// What Redis says, as either client has it.

const DECODER = new TextDecoder();

/** A text of it: which of the two, the client decides. */
export type Text = string | Uint8Array;
export function textOf(text: Text): string {
  return typeof text === 'string' ? text : DECODER.decode(text);
}
export function bytesOf(text: Text): Uint8Array {
  return typeof text === 'string' ? new TextEncoder().encode(text) : text;
}

/** Its errors begin with a word in capitals, those of both clients with none. */
export function isSaid(error: unknown): boolean {
  return /^[A-Z]{3,}\b/.test(messageOf(error));
}
/** What it has not done because of how a cluster is at the moment: there, or in a while, it does. */
export function isNotNow(error: unknown): boolean {
  return /^(?:MOVED|ASK|TRYAGAIN|CLUSTERDOWN|LOADING|MASTERDOWN|UNBLOCKED)\b/.test(messageOf(error));
}
function messageOf(error: unknown): string {
  return String((error as Error | undefined)?.message);
}
