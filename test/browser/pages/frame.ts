// Inside a frame of ends.ts: attaches what it is posted, and answers. It has no checks.
import { attach } from '../../../src/index.ts';

addEventListener('message', ({ data }: MessageEvent<{ remote: unknown }>) => {
  const port = attach(data.remote);
  port.onmessage = ({ data }) => port.postMessage(data);
});
parent.postMessage('up', location.origin);
