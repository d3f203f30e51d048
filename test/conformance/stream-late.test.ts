// The port suite over byte streams that deliver late: in turns of the event loop to come, a few chunks at a time. What passes here assumes
// nothing about when. Over real sockets: process-port.test.ts.
// watchdog: 300 s
import { type LatePairs, lateWires } from '../kit/late-pair.ts';
import { OVER_A_STREAM, portConformance } from './port.ts';

const WORLDS: Readonly<Record<string, LatePairs>> = {
  'late stream, chunks of 5 bytes': lateWires(5),
  'late stream, chunks of 3000, soon full': lateWires(3000, 4000),
};
for (const [name, pairs] of Object.entries(WORLDS)) {
  portConformance({
    name,
    ...OVER_A_STREAM,
    late: () => pairs.quiet(),
    pair: (options) => pairs.ports(options),
  });
}
