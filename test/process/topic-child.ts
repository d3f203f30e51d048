// A child of `fork` for topics.test.ts. Arguments: what to do with its connection, and how.
import process from 'node:process';
import { CLOSED, type Port } from '../../src/index.ts';
import { type PortLink, parentPort, processMemory } from '../../src/process/index.ts';
import { createTopic, subscribe, type TopicOptions } from '../../src/topic/index.ts';

const [what = '', way = '', more = '{}'] = process.argv.slice(2);
const port: Port = parentPort();
await port.ready;
const link = port.link as PortLink;

/** Answers what comes, and says how it ended. */
async function readAll(answers: boolean): Promise<void> {
  const reader = subscribe<number>(await link.topic('numbers'));
  const got: number[] = [];
  const take = (value: number): void => {
    got.push(value);
    if (answers) port.postMessage(value);
  };
  port.send('here');
  if (way === 'blocked') for (const value of reader.blocking()) take(value);
  else for await (const value of reader) take(value);
  port.send({ got, missed: reader.missed, reason: reader.reason, closed: await reader.closed });
}

/** Publishes without end, or so many, and then ends as it is told. */
async function publish({ count, end }: { readonly count?: number; readonly end: string }): Promise<void> {
  const options: TopicOptions = { memory: processMemory(), capacityBytes: 4096 };
  const topic = createTopic<number>(options);
  for (const name of ['one', 'two']) await link.shareTopic(name, topic);
  port.send('shared');
  // Both have subscribed.
  if ((await port.receiveAsync()) === CLOSED) return;
  for (let i = 0; i !== count; i++) topic.publish(i);
  if (end === 'kill') process.kill(process.pid, 'SIGKILL');
  if (end === 'exit') process.exit(7);
  if (end === 'throw') {
    setTimeout(() => {
      throw new RangeError('what it died of');
    });
    return;
  }
  topic.close();
}

if (what === 'read') await readAll(more === 'answers');
else if (what === 'publish') await publish(JSON.parse(more));
else if (what === 'hold') {
  // Asks, sits down, and reads nothing.
  const reader = subscribe(await link.topic('numbers'), { slow: 'reliable', start: 'next' });
  port.send('here');
  await port.receiveAsync();
  reader.close();
} else if (what === 'channel') {
  // Takes the name as a channel.
  link.channel('numbers');
}
