// A peer of calls that says what it is told to, word by word: for what no honest side would say.
import type { Port } from '../../src/index.ts';
import { following } from '../../src/rpc/messages.ts';
import { until } from './watchdog.ts';

export type Raw = readonly unknown[];

export class RawPeer {
  readonly port: Port;
  /** All that the other side has said, oldest first. */
  readonly heard: Raw[] = [];
  #number: number;

  constructor(port: Port, last = 0) {
    this.port = port;
    this.#number = last;
    port.on('message', (envelope) => {
      for (const message of (envelope as unknown[]).slice(1)) this.heard.push(message as Raw);
    });
  }

  /** One envelope. */
  say(...messages: unknown[]): void {
    this.#number = following(this.#number);
    this.port.postMessage([this.#number, ...messages]);
  }
  of(...kinds: number[]): Raw[] {
    return this.heard.filter(([kind]) => kinds.includes(kind as number));
  }
  /** The first message of one of these kinds, and of this id if one is named, once it is there. */
  async hears(kinds: number | readonly number[], id?: number): Promise<Raw> {
    const list = [kinds].flat();
    const look = (): Raw | undefined =>
      this.heard.find(([kind, about]) => list.includes(kind as number) && (id === undefined || about === id));
    await until(`a message of kind ${list.join(' or ')} comes`, () => look() !== undefined);
    return look() as Raw;
  }
}
