// What the channels of a connection to another machine go by: its bytes, and nothing beside them; over one line after the other where both sides resume.
import { UnsupportedError } from '../errors.ts';
import type { LinkMedium } from '../port/link-medium.ts';
import { POSITION, POSITION_BYTES, RESUMES } from '../transport/network/heard.ts';
import type { Greeting } from '../transport/stream/greeting.ts';
import { StreamTransport } from '../transport/stream/stream-transport.ts';

/** Positions are read below the frames; the connection has only to let them pass. */
const POSITION_FRAME = {
  type: POSITION,
  feature: RESUMES,
  bytesMin: POSITION_BYTES,
  bytesMax: POSITION_BYTES,
  came(): void {},
};

/**
 * @param met told what the other side has said first
 * @param resumes whether it is offered
 */
export function resumingMedium(met: (peer: Greeting) => void, resumes: boolean): LinkMedium {
  let decided: () => void;
  return {
    offer: (options) => (resumes ? { ...options, features: RESUMES, featureFrames: [POSITION_FRAME] } : options),
    channels(connection, then) {
      decided = then;
      return {
        way: undefined,
        flags: 0,
        transport: (channel, options, events) => new StreamTransport(connection, channel, options.stream, events),
        share: noMemory,
        askForTopic: noMemory,
      };
    },
    greeted(peer) {
      met(peer);
      decided();
    },
    over() {},
  };
}

function noMemory(): Promise<never> {
  const text =
    'Cannot share a topic over a network: its memory is of one machine; post to a port, or use an engine that has topics';
  return Promise.reject(new UnsupportedError(text));
}
