// Whether somebody may go on with a session is asked a few times at once for each: a program that blocks answers late, and whoever comes over and over again meanwhile is
// not kept over and over again. More than once, for an answer that hangs is not to keep out who comes back over another line.
import { SESSION_QUESTIONS_MAX } from '../limits.ts';
import type { Session } from './sessions.ts';

export interface Knock {
  /** Settles when it is answered. */
  ask(): Promise<void>;
  /** Another one has come since, and there is no room to ask for both. */
  drop(): void;
}
interface Asked {
  questions: number;
  /** Who came last since there was no more room. */
  next: Knock | undefined;
}

export class Knocks {
  readonly #asked = new Map<Session, Asked>();

  come(session: Session, knock: Knock): void {
    const asked = this.#asked.get(session) ?? { questions: 0, next: undefined };
    this.#asked.set(session, asked);
    if (asked.questions >= SESSION_QUESTIONS_MAX) {
      asked.next?.drop();
      asked.next = knock;
      return;
    }
    asked.questions++;
    void knock.ask().finally(() => {
      const { next } = asked;
      asked.next = undefined;
      if (--asked.questions === 0) this.#asked.delete(session);
      if (next !== undefined) this.come(session, next);
    });
  }
}
