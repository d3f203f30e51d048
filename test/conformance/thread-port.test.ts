// The port suite over the shared ring between threads, in each way an event loop may sleep, and with a spawned peer.
import { attach, type ChannelOptions, channel, spawn } from '../../src/index.ts';
import { spawnThread, startThread } from '../kit/thread.ts';
import { type PortWorld, portConformance } from './port.ts';

function world(name: string, defaults: ChannelOptions): PortWorld {
  const forPeer = ({ capacityBytes: _, maxMessageBytes: __, ...rest }: ChannelOptions): ChannelOptions => rest;
  return {
    name,
    sharesMemory: true,
    blocks: true,
    moves: true,
    threads: true,
    latest: true,
    pair(options) {
      const all = { ...defaults, ...options };
      const { port, remote } = channel(all);
      return { a: port, b: attach(remote, forPeer(all)) };
    },
    far(role, options, data) {
      const all = { ...defaults, ...options };
      const { port, remote } = channel(all);
      return { port, thread: startThread(role, { data, remote, options: forPeer(all) }) };
    },
  };
}

portConformance(world('thread, doorbell', { eventLoopWait: 'doorbell' }));
portConformance(world('thread, wait-async', { eventLoopWait: 'wait-async' }));
portConformance({
  ...world('spawned thread', {}),
  far: (role, options, data) => spawnThread(spawn, role, options, data),
});
