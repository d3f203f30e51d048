// A process that nobody has forked, for topics between runtimes: reads, or writes, a topic over an address. Says on stdout when it listens.
import process from 'node:process';
import { connect, listen, type PortLink, processMemory } from '../../src/process/index.ts';
import { createTopic, subscribe } from '../../src/topic/index.ts';

const [what = '', address = '', way = ''] = process.argv.slice(2);

if (what === 'read') {
  const port = await connect(address);
  const reader = subscribe<number>(await (port.link as PortLink).topic('numbers'));
  const got: number[] = [];
  port.postMessage('here');
  if (way === 'blocked') for (const value of reader.blocking()) got.push(value);
  else for await (const value of reader) got.push(value);
  port.postMessage({ got, missed: reader.missed, reason: reader.reason });
  await port.flush();
  port.close();
} else {
  const server = await listen(address);
  console.log('listens');
  const topic = createTopic<number>({ memory: processMemory(), wakes: way as 'thread' });
  topic.publish(0);
  for await (const port of server) {
    void (port.link as PortLink).shareTopic('numbers', topic);
    // Publishes what it is sent, until it is sent nothing more.
    for await (const value of port) topic.publish(value as number);
    break;
  }
  topic.close();
  await server.close();
}
