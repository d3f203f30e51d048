// What calls are started with, by `start` and by a pool: a port, and the thread or process behind it, whoever has made them.
import { platform } from '#platform';
import { POOL_KILL_MS } from '../limits.ts';
import type { Href } from '../platform/host-types.ts';
import { checkNames } from '../port/options.ts';
import type { Port } from '../port/port.ts';
import { type SpawnOptions, spawn } from '../port/spawn.ts';

// biome-ignore lint/suspicious/noExplicitAny: whatever the port is said to carry
type AnyPort = Port<any, any>;

interface ChildLike {
  kill(signal?: 'SIGKILL'): unknown;
  readonly exitCode?: number | null | undefined;
  readonly signalCode?: string | null | undefined;
}

/** A port that somebody else has opened, and what ends who is behind it: a Worker, or a child process, as `fork` of millrace/process gives it. */
export interface MadeMember {
  readonly port: AnyPort;
  readonly worker?: { terminate(): unknown } | undefined;
  readonly child?: ChildLike | undefined;
}

/** The URL of a worker's module, absolute; or what makes a Worker in the form that bundlers recognise, or a port. */
export type MemberStart = Href | string | (() => { terminate(): unknown } | MadeMember);

interface Emitter {
  on?(event: string, heard: (value: unknown) => void): unknown;
  once?(event: string, heard: (value: unknown) => void): unknown;
  addEventListener?(event: string, heard: (event: { preventDefault?(): void }) => void): unknown;
  ref?(): unknown;
  unref?(): unknown;
}

/** What `start` and a pool need of it. */
export interface Made {
  /** What the function has returned, or `spawn` for it. */
  readonly given: MadeMember;
  readonly port: Port;
  /** What is behind it does not keep this process alive. */
  unref(): void;
  /** Whether anybody knows what is behind it. */
  readonly hasEnd: boolean;
  /** Ends who is behind the port, whatever it does. Resolves when it has ended, as far as that is told. */
  end(at: 'once' | 'leisure'): Promise<unknown>;
}

/**
 * @param options of `spawn`; of a port that is there already only `startTimeoutMs`, which is its caller's to keep
 * @throws UsageError ERR_OPTION; what the function, or the runtime's Worker, throws
 */
export function makeMember(start: MemberStart, options: SpawnOptions = {}): Made {
  const made = typeof start === 'function' ? start() : undefined;
  const given: MadeMember = isMade(made)
    ? made
    : made === undefined
      ? spawn(start as Href | string, options)
      : spawn(() => made, options);
  const { port, worker, child } = given;
  const behind = [worker, child] as (Emitter | undefined)[];
  for (const thread of behind) {
    // What it dies of is told to whoever called it; a Worker of Node's whose error nobody hears takes this process along.
    if (typeof thread?.on === 'function') thread.on('error', () => {});
    else thread?.addEventListener?.('error', (event) => event.preventDefault?.());
  }
  const it: Made = {
    given,
    port: port as Port,
    unref() {
      for (const thread of behind) thread?.unref?.();
    },
    hasEnd: worker !== undefined || child !== undefined,
    async end(at): Promise<unknown> {
      if (worker !== undefined) return await worker.terminate();
      if (child === undefined || hasExited(child)) return undefined;
      // Whoever waits for its end is to be told.
      (child as Emitter).ref?.();
      const exit = new Promise<void>((resolve) => {
        (child as Emitter).once?.('exit', () => resolve());
        if ((at === 'once' ? child.kill('SIGKILL') : child.kill()) === false) resolve();
        // It may have a handler of its own for that signal. Deno sends no second one: there it is not waited for any longer.
        else if (at === 'leisure') {
          platform.later(() => {
            if (hasExited(child) || child.kill('SIGKILL') === false) resolve();
          }, POOL_KILL_MS);
        }
      });
      await exit;
      return (child as Emitter).unref?.();
    },
  };
  try {
    if (given === made) checkNames(options, ['startTimeoutMs']);
  } catch (error) {
    port.close();
    it.end('once').catch(() => {});
    throw error;
  }
  return it;
}

function hasExited({ exitCode, signalCode }: ChildLike): boolean {
  return typeof exitCode === 'number' || typeof signalCode === 'string';
}

function isMade(made: unknown): made is MadeMember {
  const { port } = (made ?? {}) as { port?: { postMessage?: unknown; on?: unknown } };
  return typeof port?.postMessage === 'function' && typeof port.on === 'function';
}
