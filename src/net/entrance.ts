// What every way in has in common: who may come, how many, and the hall behind it.
import * as limits from '../limits.ts';
import {
  LISTENER_COUNTS,
  LinkListener,
  type ListenerBounds,
  type ListenerCounts,
  type Listening,
  resolveCounts,
} from '../port/link-listener.ts';
import { checked, type NumberRule } from '../port/options.ts';
import { Hall, type HallOptions } from './hall.ts';
import type { Authorize, Doorkeeper } from './identity.ts';
import { checkFunction, type NetChoice, type ResolvedNetChoice, resolveNetChoice } from './options.ts';
import { checkOrigins, type Origins } from './origins.ts';
import { Reception } from './reception.ts';

export interface EntranceOptions extends NetChoice, ListenerCounts {
  /**
   * Who may connect; by default all who reach the address. It is asked before a port comes out of the iteration, for each line anew, also for those that go on
   * with a connection; what it throws, or rejects with, or does not say in `timeoutMs`, lets nobody in, and is told (`onError`). `port.link.identity` is what it has said.
   */
  readonly authorize?: Authorize | undefined;
  /** Is told what `authorize` throws, or rejects with, and that it takes longer than `timeoutMs` or says what is no identity; by default it is written to the console as a warning. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /**
   * Whose pages may connect by a WebSocket beside those of this address itself: `['https://app.example']`, or `'any'`. By default none: any page that a user opens may try. Who is no
   * browser says no origin, or one as it likes.
   */
  readonly origins?: Origins;
  /** Connections without a line that are kept; default 256. The one that has waited longest ends as `lost` for a further one. */
  readonly maxParkedSessions?: number | undefined;
  /** Bytes that those keep together, of what was said and is not known to have been heard; default 64 MiB. */
  readonly maxParkedBytes?: number | undefined;
}

const BOUNDS: Readonly<Record<'maxParkedSessions' | 'maxParkedBytes', NumberRule>> = {
  maxParkedSessions: { fallback: limits.SESSIONS_PARKED_DEFAULT, min: 0, max: 1_000_000 },
  maxParkedBytes: { fallback: limits.SESSIONS_PARKED_BYTES_DEFAULT, min: 0, max: Number.MAX_SAFE_INTEGER },
};

export interface EntranceListening extends Omit<Listening, 'close'> {
  /** Nobody new is to find it. */
  leave?(): Promise<void>;
  /** Connections that there were are over: lets nobody in any more, also of those that come back. */
  close(): void | Promise<void>;
}

export class Entrance {
  readonly choice: ResolvedNetChoice;
  readonly listener: ListenerBounds;
  readonly hall: HallOptions;
  readonly doorkeeper: Doorkeeper;
  readonly origins: Origins;

  /**
   * @param more options that the caller looks at itself
   * @throws UsageError ERR_OPTION; UnsupportedError for overflow `latest`
   */
  constructor(options: EntranceOptions, more: readonly string[]) {
    const names = ['authorize', 'onError', ...Object.keys(BOUNDS), ...LISTENER_COUNTS, ...more];
    this.choice = resolveNetChoice(options, names);
    this.listener = { ...this.choice, ...resolveCounts(options) };
    const authorize = checkFunction('authorize', options.authorize);
    const onError = checkFunction('onError', options.onError);
    this.doorkeeper = { authorize, onError, timeoutMs: this.choice.timeoutMs };
    const of = (name: keyof typeof BOUNDS): number => checked(name, options[name], BOUNDS[name]) as number;
    const { resume, resumeMs, pingMs, timeoutMs } = this.choice;
    const { maxConnections } = this.listener;
    const sessions = { maxParked: of('maxParkedSessions'), maxParkedBytes: of('maxParkedBytes') };
    this.hall = { resume, resumeMs, pingMs, timeoutMs, maxConnections, ...sessions };
    this.origins = checkOrigins(options.origins);
  }

  /** Who listens, and the hall that lines come to. */
  behind(listening: EntranceListening): { listener: LinkListener; hall: Hall } {
    const listener: LinkListener = new LinkListener(
      {
        address: listening.address,
        hold: (held) => listening.hold(held),
        // Who has lost its line is to find back as long as it may say what it has to say.
        close: async (over) => {
          const left = listening.leave?.();
          await over;
          await left;
          await hall.lastSaid();
          const closed = listening.close();
          hall.close();
          await closed;
        },
      },
      this.listener,
    );
    const hall = new Hall(new Reception(listener, this.choice.resume, this.doorkeeper), this.hall);
    return { listener, hall };
  }
}
