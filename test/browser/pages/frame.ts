// Inside a frame or a tab that documents.ts opens: attaches what it is posted, and answers. It has no checks.
import { attach } from '../../../src/index.ts';
import type { DocumentSays } from './documents.ts';

const opened = (opener as Window | null) ?? parent;
const say = (what: DocumentSays): void => opened.postMessage(what, location.origin);

addEventListener('message', ({ data }: MessageEvent<{ remote: unknown }>) => {
  try {
    const port = attach(data.remote);
    port.onmessage = ({ data }) => {
      if (data === 'close') port.close();
      // What a message names as `moved` goes back as it came.
      else port.postMessage(data, (data as { moved?: never[] })?.moved ?? []);
    };
  } catch (error) {
    say({ failed: String(error) });
  }
});
say('up');
