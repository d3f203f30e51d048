// A worker of hub.ts: a member of the page's hub, which answers, works, listens for ports and says what it hears.
import { open } from '../../../src/hub/index.ts';
import { attach } from '../../../src/index.ts';

addEventListener('message', async ({ data }: MessageEvent) => {
  const engine = await open(attach(data));
  await engine.serve('double', (value: number) => value * 2);
  const heard = await engine.subscribe<number>('numbers.*');
  const sums = engine.topic<number>('sums');
  const queue = await engine.queue<string>('jobs');
  const done = engine.topic<string>('done');
  queue.work((job) => done.publish(job));
  const listener = await engine.listen('echo');
  void (async () => {
    for await (const port of listener) port.onmessage = ({ data: value }) => port.postMessage(value);
  })();
  engine.topic('there').publish(true);
  let sum = 0;
  for await (const value of heard) {
    sum += value;
    sums.publish(sum);
  }
});
