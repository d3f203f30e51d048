// Whether somebody may go on with a session is asked once at a time for each: a program that blocks answers late, and whoever comes over and over again meanwhile is
// not kept over and over again.
import type { Session } from './sessions.ts';

export interface Knock {
  /** Settles when it is answered. */
  ask(): Promise<void>;
  /** Another one has come since. */
  drop(): void;
}

export class Knocks {
  /** By sessions that are asked for: who came last since then. */
  readonly #waiting = new Map<Session, Knock | undefined>();

  come(session: Session, knock: Knock): void {
    if (this.#waiting.has(session)) {
      this.#waiting.get(session)?.drop();
      this.#waiting.set(session, knock);
      return;
    }
    this.#waiting.set(session, undefined);
    void knock.ask().finally(() => {
      const next = this.#waiting.get(session);
      this.#waiting.delete(session);
      if (next !== undefined) this.come(session, next);
    });
  }
}
