// Channels whose memory is on its way while they end: the connection and its other channels go on, and no descriptor stays.
// watchdog: 120 s
// asked for: node-22, node-26
// needs: native
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { connect, type Listener, listen, type Port, type PortLink } from '../../src/process/index.ts';
import { descriptors } from '../kit/native.ts';
import { within } from '../kit/watchdog.ts';

let names = 0;
async function met(): Promise<{ server: Listener; near: Port; far: Port }> {
  const server = await listen(join(tmpdir(), `millrace-memory-channels-${process.pid}-${++names}.sock`));
  const taken = server[Symbol.asyncIterator]().next();
  const near = await within('a connection', connect(server.address));
  const far = (await within('who has connected', taken)).value as Port;
  await within('both ends', Promise.all([near.ready, far.ready]));
  assert.equal(near.link?.way?.name, 'memory');
  return { server, near, far };
}
const linkOf = (port: Port): PortLink => port.link as PortLink;

for (const who of ['who has connected', 'who listens']) {
  test(`a channel that ${who} closes just when the other side has taken it: its memory is nobody's, and the connection goes on`, async () => {
    const { server, near, far } = await met();
    const [opener, taker] = who === 'who listens' ? [far, near] : [near, far];
    const offers = linkOf(taker).channels[Symbol.asyncIterator]();
    const before = descriptors().length;
    for (let i = 0; i < 20; i++) {
      const port = linkOf(opener).channel(`short ${i}`);
      const offer = (await within('an offer', offers.next())).value;
      const accepted = offer.accept() as Port;
      port.close();
      assert.equal(await within('the end over there', accepted.closed), 'closed');
    }
    const other = linkOf(opener).channel('another');
    other.postMessage('goes on');
    const offer = (await within('an offer', offers.next())).value;
    assert.equal(await within('a message', offer.accept().receiveAsync()), 'goes on');
    assert.equal(other.stats().way?.name, 'memory');
    assert.deepEqual([opener.reason, taker.reason], [undefined, undefined]);
    assert.equal(descriptors().length, before);
    await within('the end', server.close());
  });
}
