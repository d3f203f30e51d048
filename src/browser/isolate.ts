// Isolation on hosts that send no headers: the service worker adds them, from the next load of the page on.
import { UnsupportedError } from '../errors.ts';
import { type RegisterOptions, register } from './register.ts';

/** Of this tab: the page was loaded again for the headers. */
const RELOADED = 'millrace.reloaded-to-isolate';

/** To ask for it throws where the origin is the document's own, and where whoever sits there lets no page keep anything. */
function storage(): Storage | undefined {
  try {
    return globalThis.sessionStorage;
  } catch {
    return undefined;
  }
}

/**
 * Makes this page cross-origin isolated, so that it has SharedArrayBuffer: registers the service worker `script`, which calls `serve({ isolate: true })`, and loads the page again, once.
 * Resolves at once where it is isolated, by the server's headers or by the service worker; never where it is about to be loaded again.
 * `await` it before anything else: what the page has done until then is done twice.
 *
 * @param script its address, relative to the document
 * @throws UnsupportedError where there are no service workers (an insecure context, a worker), or the page is not isolated after it was loaded again, and why that may be
 * @throws UsageError ERR_OPTION where the script is not there, is no script, or its scope does not cover the page
 * @throws TimeoutError where it does not answer
 */
export async function isolate(script: string | URL, options: RegisterOptions = {}): Promise<void> {
  if (globalThis.crossOriginIsolated) {
    storage()?.removeItem(RELOADED);
    return;
  }
  const { scope, welcome } = await register(script, options, (it) => it.isolates);
  if (!welcome.isolates) throw stillNot(`the service worker of ${scope} does not call serve({ isolate: true })`);
  const kept = storage();
  if (kept === undefined) throw stillNot('sessionStorage cannot be had, by which it is known that it was loaded again');
  if (kept.getItem(RELOADED) !== null) {
    kept.removeItem(RELOADED);
    throw stillNot(
      (globalThis.top as unknown) === globalThis
        ? 'this browser does not take the two headers from a service worker'
        : 'a frame is isolated only if the page around it is; call isolate() there',
    );
  }
  kept.setItem(RELOADED, '1');
  location.reload();
  return new Promise(() => {});
}

function stillNot(why: string): UnsupportedError {
  return new UnsupportedError(`Cannot isolate this page: ${why}`, { feature: 'crossOriginIsolated' });
}
