// What is kept is not to hold more memory than it is counted for: a message may be a view of all that a client has read at once, or lie in memory that several share.

/** These bytes, for who keeps them. */
export function own(bytes: Uint8Array): Uint8Array {
  // Of a Buffer `slice` would be a view, too.
  return bytes.buffer.byteLength > 2 * bytes.length ? new Uint8Array(bytes) : bytes;
}
