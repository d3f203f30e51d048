// A thread that has a hub: whoever is handed to it takes part, and whoever connects to its address.
import { Hub } from '../../src/hub/index.ts';
import { attach, parentPort } from '../../src/index.ts';
import { listen } from '../../src/process/index.ts';
import type { HubOrder } from '../kit/engine-servers.ts';

const hub = new Hub();
const port = parentPort<HubOrder, 'ready' | 'frozen'>();
for await (const order of port) {
  if ('frozen' in order) {
    port.postMessage('frozen');
    Atomics.wait(order.frozen, 0, 1);
  } else if ('remote' in order) hub.join(attach(order.remote));
  else {
    const listener = await listen(order.address);
    port.postMessage('ready');
    void (async () => {
      for await (const come of listener) hub.join(come);
    })();
  }
}
