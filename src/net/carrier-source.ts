// What runs in the thread of the carrier of networks: here where its module lies. A bundle, which has no place for one more file, has that module's text in this
// one's place (tools/bundle.mjs).
export const NET_CARRIER: URL | string = new URL('./carrier-thread.js', import.meta.url);
