// Other documents of this origin, a frame or a tab, that attach what they are posted and answer what comes (frame.ts).
import { type ChannelOptions, channel, type Port } from '../../../src/index.ts';
import { afterwards, equal, ok, rest, within } from './checks.ts';
import { next } from './thread.ts';

const ADDRESS = '/frame/frame';

/** What such a document posts: that it listens, or that it could not attach. */
export type DocumentSays = 'up' | { readonly failed: string };

const said = (target: () => Window | null): Promise<DocumentSays> =>
  new Promise((resolve) =>
    addEventListener('message', ({ source, data }) => source !== null && source === target() && resolve(data)),
  );

/** @param stays as long as the page, not as long as the check */
export async function openFrame({ stays = false }: { readonly stays?: boolean } = {}): Promise<HTMLIFrameElement> {
  const element = document.createElement('iframe');
  element.src = ADDRESS;
  const up = said(() => element.contentWindow);
  document.body.append(element);
  if (!stays) afterwards(() => element.remove());
  equal(await within('the frame', up), 'up');
  return element;
}

/** The lines that the page at this address writes down, once they are so many. */
export async function linesOf(address: string, count: number): Promise<string[]> {
  const frame = document.createElement('iframe');
  afterwards(() => frame.remove());
  frame.src = address;
  document.body.append(frame);
  const view = frame.contentWindow as Window;
  const said = (): string[] => view.document.querySelector('pre')?.textContent?.match(/.+/g) ?? [];
  const end = performance.now() + 15_000;
  while (said().length < count && performance.now() < end) await rest(20);
  return said();
}

export async function openTab(): Promise<Window> {
  const tab = open(ADDRESS, '_blank');
  ok(tab !== null, 'this browser opens no tab without a click');
  afterwards(() => tab.close());
  equal(
    await within(
      'the tab',
      said(() => tab),
    ),
    'up',
  );
  return tab;
}

/** A channel to it, over which it has answered. */
export async function talkToDocument(target: Window, options?: ChannelOptions): Promise<Port> {
  const { port, remote } = channel(options);
  afterwards(() => port.close());
  const refused = said(() => target).then((it) =>
    Promise.reject(new Error(`the document says: ${JSON.stringify(it)}`)),
  );
  refused.catch(() => {});
  target.postMessage({ remote }, location.origin, remote.transfer);
  port.postMessage('there?');
  equal(await Promise.race([next(port), refused]), 'there?');
  return port;
}
