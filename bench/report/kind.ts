// Who is who among the contenders, told by the name of the subject alone.

/**
 * A `limit` is what the machine can do (a C++ ring, memcpy), or what is left of ours when all that makes it useful is taken away: drawn for scale,
 * neither beaten nor a winner.
 */
export type Kind = 'ours' | 'rival' | 'limit';

export function kindOf(subject: string): Kind {
  // Nobody can install it: it must not win a row for the port.
  if (/^millrace-process-ring\b/.test(subject)) return 'limit';
  if (/^(millrace|ours)\b/.test(subject)) return 'ours';
  if (/^(limit|cpp|rust|memcpy|futex)\b/.test(subject)) return 'limit';
  return 'rival';
}
