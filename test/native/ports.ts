// What the other process does with its ends of channels in memory that both have mapped.
import process from 'node:process';
import type { ChannelOptions, Port } from '../../src/index.ts';
import { FIRST_GIVEN } from '../kit/native.ts';
import { NativeLink } from '../kit/native-agents.ts';

export const OPTIONS: ChannelOptions = { capacityBytes: 16_384 };
/** Descriptors of a link; behind them those of regions. */
const LINK = [0, 1, 2, 3].map((i) => FIRST_GIVEN + i);
export const LAST = 'last';
export const FLOOD = 5000;
export const LEFT = 300;

function open(count: number): { link: NativeLink; ports: Port[] } {
  const link = new NativeLink(1, LINK);
  const ports = Array.from({ length: count }, (_, i) => link.port(FIRST_GIVEN + LINK.length + i, OPTIONS) as Port);
  return { link, ports };
}

export function portRoles(
  say: (message: unknown) => void,
  heard: () => Promise<unknown>,
): Record<string, () => unknown> {
  const one = (): { link: NativeLink; port: Port; leave(): void } => {
    const { link, ports } = open(1);
    const leave = (): void => {
      link.close();
      process.disconnect();
    };
    return { link, port: ports[0] as Port, leave };
  };
  return {
    /** Answers what comes with the same, until the last, from its event loop. */
    async 'port-echo'() {
      const { port, leave } = one();
      port.on('message', (value) => {
        if (value !== LAST) port.postMessage(value);
        else port.close();
      });
      say('ready');
      await port.closed;
      leave();
    },
    /** The same, blocked. */
    'port-echo-blocked'() {
      const { port, leave } = one();
      say('ready');
      for (let value = port.receive(); value !== LAST; value = port.receive()) port.send(value);
      port.close();
      leave();
    },
    /** One message over each of its ports in turn, as it is told. */
    async 'port-many'() {
      const { link, ports } = open(((await heard()) as { count: number }).count);
      say('ready');
      const { rounds } = (await heard()) as { rounds: number };
      for (let i = 0; i < rounds; i++) {
        (ports[i % ports.length] as Port).postMessage(i);
        if (i % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await ports[0]?.closed;
      link.close();
      process.disconnect();
    },
    /** As much as it can, until it is killed. */
    'port-flood'() {
      const { port } = one();
      for (let i = 0; ; i++) port.send([i, 'x'.repeat(i % 200)]);
    },
    /** Ends by itself with all of that on its way. */
    'port-exit'() {
      const { port } = one();
      for (let i = 0; i < FLOOD; i++) port.send(i);
      process.exit(7);
    },
    /** Closes with more than the ring takes. */
    async 'port-left'() {
      const { port, leave } = one();
      for (let i = 0; i < LEFT; i++) port.postMessage([i, 'x'.repeat(200)]);
      port.close();
      say('closed');
      await heard();
      leave();
    },
  };
}
