// Inside a frame of ends.ts, or a tab of faults.ts: attaches what it is posted, and answers. It has no checks.
import { attach } from '../../../src/index.ts';

addEventListener('message', ({ data }: MessageEvent<{ remote: unknown }>) => {
  const port = attach(data.remote);
  port.onmessage = ({ data }) => port.postMessage(data);
});
((opener as Window | null) ?? parent).postMessage('up', location.origin);
