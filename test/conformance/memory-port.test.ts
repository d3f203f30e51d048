// The port suite over connections of `millrace/process` whose values go through memory that both sides have mapped.
// watchdog: 300 s
// needs: native
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after } from 'node:test';
import { Connected, processPair } from '../kit/connected.ts';
import { OVER_A_STREAM, portConformance } from './port.ts';

const connected = new Connected(processPair(join(tmpdir(), `millrace-memory-${process.pid}.sock`), { memory: true }));
after(() => connected.close());
portConformance({
  ...OVER_A_STREAM,
  name: 'connected by memory',
  blocks: true,
  pair: (options) => connected.pair(options),
});
