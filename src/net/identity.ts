// Who it is that has connected, as the program says; and what it is answered.
import { platform } from '#platform';
import { TimeoutError, UsageError } from '../errors.ts';
import type { StreamLink } from '../port/stream-link.ts';
import { kindOf } from '../transport/kind-of.ts';
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

/** A text that is not empty: who it is, and who alone goes on with this connection over another line. `true` is somebody. Else nobody. */
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
  /** Told what `authorize` throws, and what it does wrong. */
  readonly onError: ((error: unknown) => void) | undefined;
  /** Milliseconds for `authorize`. */
  readonly timeoutMs: number;
}

/** `undefined`: nobody who is let in. */
export async function identify(...asked: Parameters<typeof find>): Promise<string | undefined> {
  return (await find(...asked)).identity;
}

interface Found {
  readonly identity: string | undefined;
  /** What whoever is not let in is told. */
  readonly refusal: string;
}
const NOBODY: Found = { identity: undefined, refusal: 'it is not let in' };

/** What a stranger makes `authorize` throw ends no server: it is told, and lets nobody in; nor does anybody wait for what never settles. */
async function find(
  { authorize, onError, timeoutMs }: Doorkeeper,
  token: string | undefined,
  request: UpgradeRequest,
): Promise<Found> {
  if (authorize === undefined) return { ...NOBODY, identity: ANYBODY };
  const wrong = (error: unknown, what = ''): void => {
    if (onError === undefined) console.warn(`millrace: ${what}whoever came is not let in:`, error);
    else tell(onError, error);
  };
  try {
    const said: unknown = await inTime(authorize({ ...request, token }), timeoutMs);
    if (said === true) return { ...NOBODY, identity: ANYBODY };
    if (typeof said === 'string' && said !== '') return { ...NOBODY, identity: said };
    if (said === LATE) {
      wrong(new TimeoutError(`authorize has not answered in ${timeoutMs} ms (timeoutMs)`, { timeoutMs }));
      return { identity: undefined, refusal: `it was not known in ${timeoutMs} ms whether it is let in` };
    }
    if (said !== '' && said !== false && said !== undefined && said !== null) wrong(noIdentity(said));
  } catch (error) {
    wrong(error, 'authorize has thrown, and ');
  }
  return NOBODY;
}
const LATE = Symbol('late');
async function inTime(answer: ReturnType<Authorize>, timeoutMs: number): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(LATE), timeoutMs);
    // Whoever holds the process, a stranger who is asked about does not.
    (timer as { unref?(): void }).unref?.();
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
function noIdentity(said: unknown): UsageError {
  const shown = typeof said === 'object' || typeof said === 'function' ? kindOf(said) : String(said);
  const text = `authorize cannot return ${shown}: it takes a text, true, false or undefined, or a promise of one`;
  return new UsageError('ERR_OPTION', text, { option: 'authorize', value: said });
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
  return find(doorkeeper, tokenOf(peer), request).then(({ identity, refusal }) => {
    const to = link();
    if (identity === undefined) to?.connection.refuse(CODE_IDENTITY, refusal);
    else if (to !== undefined) to.identity = identity;
    identified(identity);
    return answer;
  });
}
