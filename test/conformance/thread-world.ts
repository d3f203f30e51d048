// The port suite's world over the shared ring between threads.
import { attach, type ChannelOptions, channel } from '../../src/index.ts';
import { startThread } from '../kit/thread.ts';
import type { PortWorld } from './port.ts';

export function threadWorld(name: string, defaults: ChannelOptions): PortWorld {
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
