// A message that cannot be taken, of which nobody wants to hear.
import { platform } from '#platform';

/**
 * Between threads it is an error of the program, and uncaught; a peer in another process is not to end this one by what it says.
 * @param link of the port that it came to
 */
export function unread(link: unknown, error: unknown): void {
  if (link === undefined) platform.reportError(error);
  else console.warn('millrace: a message from another process cannot be taken, and is left out:', error);
}
