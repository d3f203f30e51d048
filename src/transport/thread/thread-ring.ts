// A region between two threads of one process: tied by two native ports, of which the tether tells of the other thread's end.
import { EndTeller } from '../../lane/end-teller.ts';
import { SideChannel } from '../../lane/side-channel.ts';
import type { NativePair } from '../../memory/handshake.ts';
import * as layout from '../../memory/layout.ts';
import type { Region } from '../../memory/region.ts';
import { type SharedRingOptions, SharedRingTransport } from '../ring/shared-ring.ts';
import type { TransportEvents } from '../transport.ts';
import { Remains } from './remains.ts';

export class ThreadTransport extends SharedRingTransport {
  readonly #channel: SideChannel;

  /** @param peerLife the page that speaks for the life of the other side's thread, if there is one */
  constructor(
    region: Region,
    side: 0 | 1,
    natives: NativePair,
    peerLife: SharedArrayBuffer | null,
    options: SharedRingOptions,
    events: TransportEvents,
  ) {
    let channel!: SideChannel;
    const [here, there] = side === 0 ? [layout.SIDE_0, layout.SIDE_1] : [layout.SIDE_1, layout.SIDE_0];
    super(
      region,
      side,
      (tieEvents) => {
        channel = new SideChannel(natives, tieEvents);
        if (peerLife !== null) channel.watchLife(peerLife);
        const teller = new EndTeller(region.views.words, here, there, channel.natives);
        return { tie: channel, teller, remains: new Remains(teller) };
      },
      options,
      events,
    );
    this.#channel = channel;
  }

  /** Tells the other side's event loop that this end has been opened. */
  hello(): void {
    this.#channel.doorbell();
  }
  /** Tells the other side which page speaks for this thread's life. */
  announceLife(life: SharedArrayBuffer): void {
    this.#channel.announceLife(life);
  }
}
