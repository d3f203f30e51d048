// Our port in default options.
import { attach, channel, type Port, type Remote } from '../../../../src/index.ts';
import { blocking, onLoop } from '../../../ends/millrace.ts';
import type { Kit, PageEnd } from '../subject.ts';

const endOf = (port: Port, blocks: boolean): PageEnd => ({
  ...(blocks ? blocking(port) : onLoop(port)),
  ready: port.ready,
});

export const millrace: Kit = {
  connect: ({ blocks }) => {
    const { port, remote } = channel();
    return { end: endOf(port, blocks), far: { data: remote, transfer: remote.transfer } };
  },
  attach: (data, { blocks }) => endOf(attach(data as Remote), blocks),
};
