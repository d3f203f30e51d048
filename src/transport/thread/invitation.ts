// The native ports that go with a handle: made when somebody asks for the transfer list, because a channel whose other end is
// attached in the same thread needs none. What goes with it is the right to attach: who holds them holds the handle.
import { platform } from '#platform';
import { createNatives, type NativePair } from '../../memory/native-pair.ts';
import { HandleLines } from '../beside/unopened-end.ts';
import type { EndLines } from '../ring/end-teller.ts';
import type { AgentLinks } from './agent-links.ts';
import type { ChannelLines } from './channel-lines.ts';
import { ThreadLink } from './thread-link.ts';

/** A handle that this thread made, as far as it can be told of when it is garbage. */
export interface WatchedHandle {
  readonly words: Int32Array;
  readonly end: 0 | 1;
  /** Empty if it was handed on. */
  readonly pass: ArrayBuffer | undefined;
}

export class Invitation {
  /** What the channel's maker keeps. */
  near: ThreadLink | undefined;
  /** The handle, until it is attached here. */
  watched: WatchedHandle | undefined;
  readonly #agent: AgentLinks | undefined;
  /** What the copies of the handle share. Its end is watched, so nothing here keeps it alive. */
  readonly #shared: WeakRef<object>;
  #far: NativePair | undefined;
  #maker: ChannelLines | undefined;
  #spent = false;

  /** @param natives the far ends, if they are there already */
  constructor(shared: object, agent: AgentLinks | undefined, natives?: NativePair) {
    this.#shared = new WeakRef(shared);
    this.#agent = agent;
    this.#far = natives;
    this.near = new ThreadLink(() => this.#bear());
  }

  /** The maker's end is open. Until the native ports are made, the handle cannot have left this thread. */
  keep(maker: ChannelLines): void {
    this.#maker = maker;
    const shared = this.#shared.deref();
    if (shared !== undefined && this.#far === undefined) this.#agent?.unsent.set(shared, this);
  }
  /** The handle is attached in this thread: from here on there is nothing to hand out. Returns the maker's end. */
  spend(): ChannelLines | undefined {
    const maker = this.#maker;
    this.#spent = true;
    // This object is there as long as the handle is.
    this.#maker = undefined;
    this.near = undefined;
    this.watched = undefined;
    return maker;
  }
  get far(): NativePair {
    if (this.#far === undefined) {
      const near = this.#bear();
      this.near?.open(near);
      this.near = undefined;
    }
    return this.#far as NativePair;
  }
  #bear(): NativePair {
    const { near, far } = createNatives();
    this.#far = far;
    this.#maker = undefined;
    const shared = this.#shared.deref();
    if (shared !== undefined) this.#agent?.unsent.delete(shared);
    // As after a move: they are refused wherever somebody posts them.
    if (this.#spent) for (const port of platform.moveHere([far.tether, far.side]) ?? []) port.close();
    return near;
  }

  /** The handle is garbage: what tells of it, unless it was handed on. */
  takeBack(): EndLines | undefined {
    if (this.#far === undefined) {
      const look = (): void => this.#maker?.arrived();
      return { doorbell: look, above: look, tellEnd: look, close: () => {} };
    }
    if (this.watched?.pass?.byteLength === 0) return undefined;
    const [tether, side] = platform.moveHere([this.#far.tether, this.#far.side]) ?? [];
    return tether && side && new HandleLines({ tether, side });
  }
}
