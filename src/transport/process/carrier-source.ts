// What runs in the carrier's thread: here where its module lies. A bundle, which has no place for one more file, has that module's text in this
// one's place (tools/bundle.mjs).
export const CARRIER: URL | string = new URL('./carrier-thread.js', import.meta.url);
