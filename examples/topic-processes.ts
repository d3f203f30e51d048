// A topic between processes: this program publishes prices, three children read them from memory that all have mapped, one of them is killed. The
// writer goes on, and the others miss nothing.
import process from 'node:process';
import type { Port } from '../src/index.ts';
import { fork, type PortLink, parentPort, processMemory } from '../src/process/index.ts';
import { createTopic, subscribe } from '../src/topic/index.ts';

const PRICES = 10_000;

async function read(port: Port): Promise<void> {
  const link = port.link as PortLink;
  const prices = subscribe<number>(await link.topic('prices'));
  port.postMessage('here');
  let last = 0;
  for await (const price of prices) last = price;
  port.postMessage(`${prices.reason} behind ${last}, missed ${prices.missed}`);
}

async function publish(): Promise<void> {
  const topic = createTopic<number>({ memory: processMemory() });
  topic.publish(1);
  const children = [1, 2, 3].map(() => fork(new URL(import.meta.url), { args: ['read'] }));
  for (const { port } of children) {
    await port.ready;
    await port.link?.shareTopic('prices', topic);
    await port.receiveAsync();
  }
  children[0]?.child.kill('SIGKILL');
  for (let price = 2; price <= PRICES; price++) topic.publish(price);
  topic.close();
  for (const [i, { port }] of children.entries()) {
    const said = await port.receiveAsync();
    console.log(`child ${i + 1}: ${typeof said === 'string' ? said : port.reason}`);
    port.close();
  }
}

if (process.argv[2] === 'read') await read(parentPort());
else {
  try {
    await publish();
  } catch (error) {
    // Without the addon Node has no such memory.
    if ((error as { code?: string }).code !== 'ERR_UNSUPPORTED') throw error;
    console.log((error as Error).message);
  }
}
