// Makes connections of what begins in a hall of this thread.
import type { LinkListener } from '../port/link-listener.ts';
import type { UpgradeRequest } from '../transport/network/upgrade-request.ts';
import type { Coming, HallHost } from './hall.ts';
import { answerTo, type Doorkeeper, identify } from './identity.ts';
import { resumingMedium } from './resuming-medium.ts';
import type { Session } from './sessions.ts';

export class Reception implements HallHost {
  readonly #listener: LinkListener;
  readonly #resume: boolean;
  readonly #doorkeeper: Doorkeeper;

  constructor(listener: LinkListener, resume: boolean, doorkeeper: Doorkeeper) {
    this.#listener = listener;
    this.#resume = resume;
    this.#doorkeeper = doorkeeper;
  }

  begins(session: Session, { kind, request, connect }: Coming): void {
    const { stream } = session;
    let link: Parameters<Parameters<LinkListener['take']>[0]['connect']>[0] | undefined;
    const greeted = {
      request,
      resumes: stream.greeting,
      link: () => link,
      identified: (identity: string | undefined) => void (session.identity = identity),
    };
    this.#listener.take({
      stream,
      medium: resumingMedium((peer) => stream.met(peer), this.#resume),
      options: { way: { name: kind }, answer: (peer) => answerTo(peer, greeted, this.#doorkeeper) },
      connect: (it) => {
        link = it;
        session.apart = (apart) => it.apart(apart);
        connect(it.connection);
      },
    });
  }
  whoIs(token: string | undefined, request: UpgradeRequest): Promise<string | undefined> {
    return identify(this.#doorkeeper, token, request);
  }
}
