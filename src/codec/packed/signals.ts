// How an encoding ends early. Thrown from any depth, caught by PackedEncoder alone; made once, so that they cost no stack
// trace. Free of class, so that no `instanceof` is needed.

/** More room is needed than was given. */
export const NO_ROOM_SIGNAL: { readonly signal: string } = { signal: 'no room' };
/** A text was met that the runtime's own clone carries faster, if it carries the rest as well. */
export const BESIDE_SIGNAL: { readonly signal: string } = { signal: 'beside' };
/** Another codec may carry this value. */
export const REFUSED_SIGNAL: { readonly signal: string } = { signal: 'refused' };
