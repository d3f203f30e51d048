// The door `millrace/browser/service-worker`: what a service worker can do for pages whose server sends no headers. Loaded in the service worker's script,
// which calls `serve`, and in pages, which name that script. It has all it needs in one file.

export { enableBlocking } from './enable-blocking.ts';
export { isolate } from './isolate.ts';
export type { RegisterOptions } from './register.ts';
export { type ServeOptions, serve } from './serve.ts';
