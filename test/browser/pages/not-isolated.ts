// A page without the headers that isolate has no SharedArrayBuffer. Each call says so, and what to do.

import { alloc, reader, type SharedBuffers, writer } from '../../../src/compat/nxtedition-shared.ts';
import { MWChannel, SABMessagePort, SABPipe } from '../../../src/compat/sab-message-port.ts';
import { attach, channel, features, pair, spawn } from '../../../src/index.ts';
import { allocate } from '../../../src/ring/index.ts';
import { check, equal, ok, thrownBy } from './checks.ts';
import { channelsOverNativePorts } from './native-ports.ts';

check('the page is not isolated, and the library loads', () => {
  equal([crossOriginIsolated, typeof SharedArrayBuffer], [false, 'undefined']);
  equal([features().runtime, features().blocking, features().memory], ['browser', false, false]);
  ok(features().memoryMissing?.includes('Cross-Origin-Opener-Policy: same-origin'), 'what is missing is not told');
});

function saysSo(body: () => unknown): void {
  const { name, code, message } = thrownBy(body);
  equal(code, 'ERR_UNSUPPORTED', `${name}: ${message}:`);
  ok(message.includes('Cross-Origin-Opener-Policy: same-origin'), message);
  ok(message.includes('Cross-Origin-Embedder-Policy: require-corp'), message);
}
const worker = (): Worker => new Worker(URL.createObjectURL(new Blob([''])));

for (const [name, call] of Object.entries({
  'channel({ memory: true })': () => channel({ memory: true }),
  'pair({ memory: true })': () => pair({ memory: true }),
  'attach() of a handle with memory': () => attach({ type: 'millrace' }),
  'spawn({ memory: true })': () => spawn(worker, { memory: true }),
  'the ring: allocate()': () => allocate(1024),
  'nxtedition-shared: alloc()': () => alloc(1024),
  'nxtedition-shared: reader()': () => reader({} as SharedBuffers),
  'nxtedition-shared: writer()': () => writer({} as SharedBuffers),
  'sab-message-port: new SABPipe': () => new SABPipe('w'),
  'sab-message-port: new SABMessagePort': () => new SABMessagePort(),
  'sab-message-port: SABMessagePort.from()': () => SABMessagePort.from({ type: 'SABMessagePort' } as never),
  'sab-message-port: new MWChannel': () => new MWChannel('m'),
})) {
  check(`${name} names the headers`, () => saysSo(call));
}

channelsOverNativePorts({});
