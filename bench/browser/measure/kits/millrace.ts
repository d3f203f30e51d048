// Our port in default options.
import { attach, channel, EMPTY, type Port, type Remote } from '../../../../src/index.ts';
import { blocking, onLoop } from '../../../ends/millrace.ts';
import type { Load, Tally } from '../../../loads.ts';
import type { Kit, PageEnd } from '../subject.ts';

/** A stream that an event loop reads: what has come is taken without it, as the rival takes what has come in one go. */
async function receiveOnLoop(port: Port, load: Load, count: number): Promise<Tally> {
  let sum = 0;
  for (let seen = 0; seen < count; ) {
    let value: unknown = await port.receiveAsync();
    for (; typeof value !== 'symbol'; value = port.tryReceive(), seen++) sum = (sum + load.weigh(value)) | 0;
    if (value !== EMPTY) throw new Error('the other side has closed');
  }
  return { count, sum };
}

const endOf = (port: Port, blocks: boolean): PageEnd => ({
  ...(blocks
    ? blocking(port)
    : { ...onLoop(port), receive: (load: Load, count: number) => receiveOnLoop(port, load, count) }),
  ready: port.ready,
});

export const millrace: Kit = {
  connect: ({ blocks }) => {
    const { port, remote } = channel();
    return { end: endOf(port, blocks), far: { data: remote, transfer: remote.transfer } };
  },
  attach: (data, { blocks }) => endOf(attach(data as Remote), blocks),
};
