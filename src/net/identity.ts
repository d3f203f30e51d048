// Who it is that has connected, as the program says; and what it is answered.
import { platform } from '#platform';
import type { StreamLink } from '../port/stream-link.ts';
import { RESUMES } from '../transport/network/heard.ts';
import type { UpgradeRequest } from '../transport/network/upgrade-request.ts';
import { CODE_IDENTITY } from '../transport/stream/frames.ts';
import type { Answer, Greeting } from '../transport/stream/greeting.ts';
import { TOKEN } from './options.ts';

/** Who wants to be let in, with each line anew: what its request has said, where it came by a WebSocket. */
export interface Visitor extends UpgradeRequest {
  /** What `connect` was given; anybody may say anything. */
  readonly token: string | undefined;
}

/** A text: who it is, and who alone goes on with this connection over another line. `true` is somebody. Else nobody. */
export type Identity = string | boolean | undefined;
export type Authorize = (visitor: Visitor) => Identity | PromiseLike<Identity>;

/** Who was not asked who it is, or is just let in. */
export const ANYBODY = '';

export function tokenOf({ fields }: Greeting): string | undefined {
  const bytes = fields.find(({ kind }) => kind === TOKEN)?.bytes;
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

/** Who decides who comes in. */
export interface Doorkeeper {
  readonly authorize: Authorize | undefined;
  /** Told what `authorize` throws. */
  readonly onError: ((error: unknown) => void) | undefined;
}

/** `undefined`: nobody who is let in. What a stranger makes `authorize` throw ends no server: it is told, and lets nobody in. */
export async function identify(
  { authorize, onError }: Doorkeeper,
  token: string | undefined,
  request: UpgradeRequest,
): Promise<string | undefined> {
  if (authorize === undefined) return ANYBODY;
  try {
    const said = await authorize({ ...request, token });
    return said === true ? ANYBODY : typeof said === 'string' ? said : undefined;
  } catch (error) {
    if (onError === undefined) console.warn('millrace: authorize has thrown, and whoever came is not let in:', error);
    else tell(onError, error);
    return undefined;
  }
}
function tell(onError: (error: unknown) => void, error: unknown): void {
  try {
    onError(error);
  } catch (thrown) {
    platform.reportError(thrown);
  }
}

/** What is about to be a connection. */
export interface Greeted {
  readonly request: UpgradeRequest;
  /** What is said of resuming to who does. */
  readonly resumes: Answer;
  link(): StreamLink | undefined;
  /** It has been asked, or needs not be. */
  identified(identity: string | undefined): void;
}

/** Answers a greeting: whoever is not let in is told so. */
export function answerTo(
  peer: Greeting,
  { request, resumes, link, identified }: Greeted,
  doorkeeper: Doorkeeper,
): Answer | Promise<Answer> {
  const answer = (peer.features & RESUMES) === 0 ? undefined : resumes;
  if (doorkeeper.authorize === undefined) return answer;
  return identify(doorkeeper, tokenOf(peer), request).then((identity) => {
    const to = link();
    if (identity === undefined) to?.connection.refuse(CODE_IDENTITY, 'it is not let in');
    else if (to !== undefined) to.identity = identity;
    identified(identity);
    return answer;
  });
}
