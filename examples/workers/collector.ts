// Blocks on its parent's port and on those of all sensors at once.
import { attach, CLOSED, type Port, parentPort, type Remote, select } from '../../src/index.ts';
import type { Reading } from './sensor.ts';

export type Ask = { readonly ask: 'listen'; readonly to: Remote } | { readonly ask: 'report' | 'finish' };
export interface Collected {
  /** How many each sensor was heard with. */
  readonly readings: readonly number[];
}

const parent = parentPort<Ask, Collected>();
// Only with its event loop can a thread of some runtimes hear that its channel is there.
await parent.ready;
const sensors: Port<Reading>[] = [];
const readings: number[] = [];
let finishing = false;

function answer(asked: Ask): void {
  if (asked.ask === 'listen') {
    sensors.push(attach<Reading>(asked.to));
    readings.push(0);
  } else if (asked.ask === 'finish') finishing = true;
  else parent.postMessage({ readings });
}

for (let over = false; !over; ) {
  const port = select([parent, ...sensors]);
  if (port === parent) {
    const asked = parent.receive();
    if (asked === CLOSED) break;
    answer(asked);
  } else {
    const reading = port.receive() as Reading | typeof CLOSED;
    // A port that has ended would be returned again and again.
    if (reading === CLOSED) sensors.splice(sensors.indexOf(port as Port<Reading>), 1);
    else readings[reading.sensor] = (readings[reading.sensor] as number) + 1;
  }
  over = finishing && sensors.length === 0;
}
parent.send({ readings });
