// The names of what Comlink hangs on values and proxies: the same for all copies of the library in a thread.

/** A value that has this does not travel: the other side gets a proxy of it. */
export const proxyMarker: unique symbol = Symbol.for('millrace.comlink.proxy');
/** Of a proxy: makes a new MessagePort that leads to the same object. */
export const createEndpoint: unique symbol = Symbol.for('millrace.comlink.endpoint');
/** Of a proxy: lets go of what it stands for. */
export const releaseProxy: unique symbol = Symbol.for('millrace.comlink.release');
/** Of what is exposed or given away: is called when the last proxy of it is gone. */
export const finalizer: unique symbol = Symbol.for('millrace.comlink.finalizer');
