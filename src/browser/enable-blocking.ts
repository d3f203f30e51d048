// Blocking calls of workers without shared memory: the service worker brings what they wait for.
import { UnsupportedError } from '../errors.ts';
import { READ_PATH } from '../limits.ts';
import { answer } from './answering.ts';
import { type RegisterOptions, register } from './register.ts';

/**
 * Lets workers of this page block without shared memory: registers the service worker `script`, which calls `serve({ blocking: true })`. Channels that this page
 * makes from then on (`channel`, `spawn`, `start`, `pool`) and that go over native ports can be read, and sent to, by a worker that stands still: `receive`, `send`,
 * `blocking()`, `wrapSync`. A read that has to wait takes a request to the service worker, of milliseconds. Copies of what was sent are kept until the
 * worker has it, which the credit of a channel bounds. Where there is shared memory nothing changes but for channels made with `memory: false`.
 * Workers have to be started afterwards, and their scripts to be in the service worker's scope (or `blob:`).
 *
 * @param script its address, relative to the document
 * @throws as `isolate`
 */
export async function enableBlocking(script: string | URL, options: RegisterOptions = {}): Promise<void> {
  const { scope, welcome } = await register(script, options, (it) => it.blocks);
  if (!welcome.blocks) {
    throw new UnsupportedError(
      `Cannot let workers block: the service worker of ${scope} does not call serve({ blocking: true })`,
      { feature: 'blocking' },
    );
  }
  answer(navigator.serviceWorker, `${scope}${READ_PATH}?client=${welcome.client}`);
}
