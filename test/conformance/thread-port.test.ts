// The port suite over the shared ring between threads, in each way an event loop may sleep, and with a spawned peer.
import { spawn } from '../../src/index.ts';
import { sleeping } from '../kit/sleeping.ts';
import { spawnThread } from '../kit/thread.ts';
import { portConformance } from './port.ts';
import { threadWorld } from './thread-world.ts';

portConformance(threadWorld('thread, doorbell', sleeping('doorbell')));
portConformance(threadWorld('thread, wait-async', sleeping('wait-async')));
portConformance({
  ...threadWorld('spawned thread', {}),
  far: (role, options, data) => spawnThread(spawn, role, options, data),
});
