// What every way in has in common: who may come, how many, and the hall behind it.
import { UsageError } from '../errors.ts';
import * as limits from '../limits.ts';
import {
  LISTENER_COUNTS,
  LinkListener,
  type ListenerCounts,
  type Listening,
  resolveCounts,
} from '../port/link-listener.ts';
import { checked, type NumberRule } from '../port/options.ts';

import type { UpgradeRequest } from '../transport/network/upgrade-request.ts';
import { type Authorize, Hall, type HallOptions } from './hall.ts';
import { checkFunction, type NetChoice, resolveNetChoice } from './options.ts';
import { Sessions } from './sessions.ts';

export interface EntranceOptions extends NetChoice, ListenerCounts {
  /**
   * Who may connect; by default all who reach the address. It is asked before a port comes out of the iteration, for each line anew, also for those that go on
   * with a connection; what it throws, or rejects with, is reported, and lets nobody in. `port.link.identity` is what it has said.
   */
  readonly authorize?: Authorize | undefined;
  /**
   * Whose pages may connect by a WebSocket beside those of this address itself: `['https://app.example']`, or `'any'`. By default none: any page that a user opens may try. Who is no
   * browser says no origin, or one as it likes.
   */
  readonly origins?: readonly string[] | 'any' | undefined;
  /** Connections without a line that are kept; default 256. The one that has waited longest ends as `lost` for a further one. */
  readonly maxParkedSessions?: number | undefined;
  /** Bytes that those keep together, of what was said and is not known to have been heard; default 64 MiB. */
  readonly maxParkedBytes?: number | undefined;
}

const BOUNDS: Readonly<Record<'maxParkedSessions' | 'maxParkedBytes', NumberRule>> = {
  maxParkedSessions: { fallback: limits.SESSIONS_PARKED_DEFAULT, min: 0, max: 1_000_000 },
  maxParkedBytes: { fallback: limits.SESSIONS_PARKED_BYTES_DEFAULT, min: 0, max: Number.MAX_SAFE_INTEGER },
};

export class Entrance {
  readonly options: HallOptions;
  readonly #sessions: Sessions;
  readonly #origins: EntranceOptions['origins'];

  /**
   * @param more options that the caller looks at itself
   * @throws UsageError ERR_OPTION; UnsupportedError for overflow `latest`
   */
  constructor(options: EntranceOptions, more: readonly string[]) {
    const names = ['authorize', ...Object.keys(BOUNDS), ...LISTENER_COUNTS, ...more];
    const choice = resolveNetChoice(options, names);
    const authorize = checkFunction('authorize', options.authorize);
    this.options = { ...choice, ...resolveCounts(options), authorize };
    const of = (name: keyof typeof BOUNDS): number => checked(name, options[name], BOUNDS[name]) as number;
    this.#sessions = new Sessions({ maxParked: of('maxParkedSessions'), maxParkedBytes: of('maxParkedBytes') });
    this.#origins = checkOrigins(options.origins);
  }

  /** Whether pages of any origin may come, so that nobody needs to know which one's it is. */
  get open(): boolean {
    return this.#origins === 'any';
  }
  /** The status with which a request for a WebSocket is turned down: pages of another origin than the one that was asked come where the program has named them. */
  refuses({ origin, header }: UpgradeRequest): number | undefined {
    const origins = this.#origins;
    if (origin === undefined || origins === 'any' || origins?.includes(origin)) return undefined;
    return originOf(origin) !== undefined && new URL(origin).host === header('host') ? undefined : FORBIDDEN;
  }

  /** @param close lets nobody in any more */
  behind(listening: Omit<Listening, 'close'> & { close(): void }): { listener: LinkListener; hall: Hall } {
    const listener: LinkListener = new LinkListener(
      {
        address: listening.address,
        hold: (held) => listening.hold(held),
        // Who has lost its line is to find back as long as it may say what it has to say.
        close: (over) =>
          over.then(() => {
            listening.close();
            hall.close();
          }),
      },
      this.options,
    );
    const hall = new Hall(listener, this.#sessions, this.options);
    return { listener, hall };
  }
}

const FORBIDDEN = 403;

/** @throws UsageError ERR_OPTION */
function checkOrigins(origins: EntranceOptions['origins']): EntranceOptions['origins'] {
  if (origins === undefined || origins === 'any') return origins;
  const wrong = Array.isArray(origins) ? origins.find((each) => originOf(each) !== each) : origins;
  if (Array.isArray(origins) && wrong === undefined) return origins;
  const text = `Option origins cannot be ${String(wrong)}: it takes a list of origins, each like 'https://app.example' and no more, or 'any'`;
  throw new UsageError('ERR_OPTION', text, { option: 'origins', value: origins });
}
function originOf(text: unknown): string | undefined {
  try {
    return new URL(String(text)).origin;
  } catch {
    return undefined;
  }
}
